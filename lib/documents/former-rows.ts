import type { Account } from '../accounts/account-store.ts';
import type { KeyRecord } from '../keys/key-store.ts';
import type { Settings } from '../settings/settings-store.ts';
import type { LowdbDatabase } from '../storage/lowdb/database.ts';
import type { FirstContents } from './documents.ts';

/** Tables of the database whose rows are documents now, and the ids of those. */
const FORMER_TABLES: Record<string, (row: Record<string, unknown>) => string> = {
  accounts: ({ accountId }) => String(accountId),
  keys: ({ keyId }) => String(keyId),
  queue: () => 'queue',
};

/** Accounts, keys and settings as earlier versions kept them: in the database. */
export function formerRows(database: LowdbDatabase): FirstContents {
  const queue = database.get<{ pausedAtMs: number | null }>('queue', 'queue');
  const settings: Settings = { queuePausedAtMs: queue?.pausedAtMs ?? null };
  return {
    accounts: [...database.all<Account>('accounts')],
    keys: [...database.all<KeyRecord>('keys')],
    settings,
  };
}

/** Removes them, once they are in the documents. */
export async function removeFormerRows(database: LowdbDatabase): Promise<void> {
  const rows = Object.entries(FORMER_TABLES).flatMap(([table, idOf]) =>
    [...database.all<Record<string, unknown>>(table)].map((row) => ({ table, id: idOf(row) })),
  );
  if (rows.length === 0) return;
  const emails = [...database.all<Account>('accounts')].map(({ email }) => email.toLowerCase());
  await database.transaction(async (tx) => {
    for (const { table, id } of rows) tx.remove(table, id);
    for (const email of emails) tx.remove('accountEmails', email);
  });
}
