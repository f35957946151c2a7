import assert from 'node:assert/strict';
import type {
  AuditReport,
  Charges,
  EntryQuery,
  Grant,
  GrantPart,
  LedgerAccount,
  LedgerEntry,
  LedgerStore,
} from '../ledger/ledger-store.ts';
import type { SqlDatabase, SqlTransaction } from '../storage/sql.ts';
import type { Storage } from '../storage/storage.ts';
import type { Transaction } from '../storage/transaction.ts';
import { auditBooks } from './audit.ts';
import { inOrder } from './page-order.ts';
import { ACCOUNTS, ENTRIES, GRANTS } from './row-formats.ts';

// Not concatenated for each call: SQLite's prepared statements are looked up by their text.
const GRANTS_WITH_CREDITS = `SELECT ${GRANTS.names} FROM grants WHERE owner = ? AND is_spent = 0 ORDER BY source, grant_id`;
const ENTRIES_OF_JOB = `SELECT ${ENTRIES.names} FROM ledger_entries WHERE job_id = ?`;
const WITHOUT_ENDED_RESERVES = `AND (kind <> 'reserve' OR NOT EXISTS (SELECT 1 FROM ledger_entries AS e
  WHERE e.job_id = ledger_entries.job_id AND (e.kind = 'reserve') = false)) `;
const CHARGES = `SELECT sum(charged_credits) AS charged, count(*) AS renders FROM ledger_entries
  WHERE owner = ? AND kind = 'settle' AND at_ms >= ? AND at_ms < ?`;
const NEW_ACCOUNT = `${ACCOUNTS.insert} ON CONFLICT (owner) DO NOTHING`;
const SET_PERIOD = `${ACCOUNTS.insert} ON CONFLICT (owner) DO UPDATE
  SET period = excluded.period, checksum = excluded.checksum`;
/** Updates a grant that has credits before and after the change. */
const REMAINDER = GRANTS.updateOf('remainingCredits');

/** The store of the built-in ledger in an SQL database. */
export class SqlLedgerStore implements LedgerStore {
  readonly storage: Storage;
  readonly #database: SqlDatabase;

  /** `storage` must use the same database. */
  constructor(database: SqlDatabase, storage: Storage) {
    this.#database = database;
    this.storage = storage;
  }

  async getAccount(owner: string, tx?: Transaction): Promise<LedgerAccount | undefined> {
    const inside = tx && this.#database.inside(tx);
    // The lock is that of all the account's grants and entries.
    const [account, rows] = inside
      ? await Promise.all([
          inside.getForUpdate(ACCOUNTS.byKey, owner),
          inside.all(GRANTS_WITH_CREDITS, owner),
        ])
      : [
          await this.#database.get(ACCOUNTS.byKey, owner),
          await this.#database.all(GRANTS_WITH_CREDITS, owner),
        ];
    return account && { ...ACCOUNTS.record(account), grants: rows.map(grantOf) };
  }

  async insertAccount(tx: Transaction, owner: string): Promise<void> {
    this.#database.inside(tx).write(NEW_ACCOUNT, ...ACCOUNTS.row({ owner, period: '' }));
  }

  async setPeriod(tx: Transaction, owner: string, period: string): Promise<void> {
    const inside = this.#database.inside(tx);
    inside.write(SET_PERIOD, ...ACCOUNTS.row({ owner, period }));
  }

  async lastFreePeriod(tx: Transaction, owner: string, period: string): Promise<string | undefined> {
    const row = await this.#database
      .inside(tx)
      .get(
        `SELECT ${GRANTS.names} FROM grants WHERE owner = ? AND source = 'free' AND period <= ? ` +
          'ORDER BY period DESC LIMIT 1',
        owner,
        period,
      );
    return row ? (GRANTS.record(row).period ?? undefined) : undefined;
  }

  async findGrant(tx: Transaction, owner: string, grantId: string): Promise<LedgerEntry | undefined> {
    const row = await this.#database
      .inside(tx)
      .get(`SELECT ${ENTRIES.names} FROM ledger_entries WHERE owner = ? AND grant_id = ?`, owner, grantId);
    return row && ENTRIES.record(row);
  }

  async append(tx: Transaction, account: LedgerAccount, entry: LedgerEntry): Promise<void> {
    const inside = this.#database.inside(tx);
    inside.write(ENTRIES.insert, ...ENTRIES.row(entry));
    for (const part of entry.parts)
      await this.#change(inside, account, part, entry.amountCredits < 0 ? -1 : 1);
  }

  /** Changes the remaining credits of a grant. */
  async #change(
    inside: SqlTransaction,
    { owner, grants }: LedgerAccount,
    { amountCredits, ...made }: GrantPart,
    sign: 1 | -1,
  ): Promise<void> {
    const withCredits = grants.find(({ grantId }) => grantId === made.grantId);
    const known = withCredits ?? (await this.#spentGrant(inside, owner, made.grantId));
    const grant = known ?? { ...made, remainingCredits: 0 };
    assert(known || sign > 0 || amountCredits === 0, 'the grant of a negative change exists');
    const wasSpent = grant.remainingCredits === 0;
    grant.remainingCredits += sign * amountCredits;
    assert(Number.isSafeInteger(grant.remainingCredits));
    if (!withCredits) grants.push(grant);
    const row = { owner, ...grant };
    if (known && !wasSpent && grant.remainingCredits > 0) {
      inside.write(REMAINDER.text, ...REMAINDER.values(row));
      return;
    }
    if (known) inside.write(GRANTS.update, ...GRANTS.changes(row));
    else inside.write(GRANTS.insert, ...GRANTS.row(row));
  }

  async #spentGrant(inside: SqlTransaction, owner: string, grantId: string): Promise<Grant | undefined> {
    const row = await inside.get(GRANTS.byKey, owner, grantId);
    return row && grantOf(row);
  }

  async entriesOfJob(jobId: string, tx?: Transaction): Promise<LedgerEntry[]> {
    const reader = tx ? this.#database.inside(tx) : this.#database;
    const rows = await reader.all(ENTRIES_OF_JOB, jobId);
    return rows.map((row) => ENTRIES.record(row));
  }

  async listEntries(owner: string, { limit, before, foldsJobs }: EntryQuery): Promise<LedgerEntry[]> {
    const older = before === undefined ? [] : [before];
    const rows = await this.#database.all(
      `SELECT ${ENTRIES.names} FROM ledger_entries WHERE owner = ? ${older.length > 0 ? 'AND entry_id < ?' : ''} ` +
        (foldsJobs ? WITHOUT_ENDED_RESERVES : '') +
        'ORDER BY entry_id DESC LIMIT ?',
      owner,
      ...older,
      limit,
    );
    const entries = rows.map((row) => ENTRIES.record(row));
    return inOrder(ENTRIES, ({ entryId }) => entryId, entries, { up: false, from: before });
  }

  async sumCharges(
    owner: string,
    { fromMs, untilMs }: { fromMs: number; untilMs: number },
  ): Promise<Charges> {
    const sums = await this.#database.get<{ charged: number | null; renders: number }>(
      CHARGES,
      owner,
      fromMs,
      untilMs,
    );
    return { chargedCredits: sums?.charged ?? 0, renders: sums?.renders ?? 0 };
  }

  async ownersNotIn(period: string, limit: number): Promise<string[]> {
    const each = `SELECT ${ACCOUNTS.names} FROM ledger_accounts WHERE period`;
    const rows = await this.#database.all(
      `SELECT * FROM (${each} < ? UNION ALL ${each} > ?) AS others LIMIT ?`,
      period,
      period,
      limit,
    );
    return rows.map((row) => ACCOUNTS.record(row).owner);
  }

  audit(options?: { signal?: AbortSignal | undefined }): Promise<AuditReport> {
    return auditBooks(this.#database, options);
  }
}

function grantOf(row: object): Grant {
  const { owner: _, ...grant } = GRANTS.record(row);
  return grant;
}
