import type { Account, Accounts } from '../../lib/index.ts';
import { isScenepressError, ScenepressError } from '../../lib/internal.ts';
import type { Installation } from '../app/installation.ts';

/** Reserved: only the first start creates an account with this address, which marks it as unclaimed. */
export const FIRST_ACCOUNT = 'owner@localhost';

/** Error: `invalid_request` for the reserved address. */
export function requireFreeAddress(email: string): void {
  if (email.trim().toLowerCase() !== FIRST_ACCOUNT) return;
  const message = `${FIRST_ACCOUNT} is reserved for the account that a first start creates. Use another address.`;
  throw new ScenepressError('invalid_request', message);
}

/** The key of the first start, and the secret that signs its webhooks. */
export interface FirstKey {
  key: string;
  webhookSecret: string;
}

/** On the first start, creates an account and resolves with its new key; undefined on later starts. */
export async function createFirstAccount({
  accounts,
  keys,
  administration,
}: Pick<Installation, 'accounts' | 'keys' | 'administration'>): Promise<FirstKey | undefined> {
  const existing = await accounts.list({ limit: 2 });
  if (existing.some(({ email }) => email !== FIRST_ACCOUNT)) return undefined;
  // An account without a key is left by an interrupted first start. Keys of deleted accounts count.
  if ((await keys.list({ limit: 1 })).length > 0) return undefined;
  if (existing.length === 0) await accounts.create(FIRST_ACCOUNT);
  return administration.keys.create({ account: FIRST_ACCOUNT, name: 'First start' });
}

/** The account that the user may want another key for: the only one. Undefined if there are several or none. */
export async function onlyAccount({ accounts }: Installation): Promise<string | undefined> {
  const existing = await accounts.list({ limit: 2 });
  return existing.length === 1 ? existing[0]?.email : undefined;
}

/** An account by address or user id; undefined if there is none. */
export function findAccount(accounts: Accounts, reference: string): Promise<Account | undefined> {
  return accounts.find(reference).catch((error: unknown) => {
    if (!isScenepressError(error, 'not_found')) throw error;
    return undefined;
  });
}
