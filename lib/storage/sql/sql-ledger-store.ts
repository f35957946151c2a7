import assert from 'node:assert/strict';
import type {
  AuditReport,
  EntryQuery,
  Grant,
  LedgerAccount,
  LedgerEntry,
  LedgerStore,
  Reserve,
} from '../../ledger/ledger-store.ts';
import type { Storage, Transaction } from '../storage.ts';
import { auditBooks } from './audit.ts';
import type { SqlDatabase } from './sql.ts';
import { ENTRIES, RESERVES } from './tables.ts';

interface GrantRow {
  grant_id: string;
  source: Grant['source'];
  period: string | null;
  remaining_credits: number;
}

/** The books of the stored ledger in a database that speaks SQL. */
export class SqlLedgerStore implements LedgerStore {
  readonly storage: Storage;
  readonly #database: SqlDatabase;

  /** `storage`: of the same database. */
  constructor(database: SqlDatabase, storage: Storage) {
    this.#database = database;
    this.storage = storage;
  }

  async getAccount(owner: string, tx?: Transaction): Promise<LedgerAccount | undefined> {
    const reader = tx ? this.#database.inside(tx) : this.#database;
    const account = await reader.get<{ period: string }>(
      'SELECT period FROM ledger_accounts WHERE owner = ?',
      owner,
    );
    if (!account) return undefined;
    const rows = await reader.all<GrantRow>(
      'SELECT grant_id, source, period, remaining_credits FROM grants ' +
        'WHERE owner = ? AND remaining_credits > 0 ORDER BY source, grant_id',
      owner,
    );
    const grants = rows.map(({ grant_id, source, period, remaining_credits }) => ({
      grantId: grant_id,
      source,
      period,
      remainingCredits: remaining_credits,
    }));
    return { owner, period: account.period, grants };
  }

  async setPeriod(tx: Transaction, owner: string, period: string): Promise<void> {
    await this.#database
      .inside(tx)
      .run(
        'INSERT INTO ledger_accounts (owner, period) VALUES (?, ?) ' +
          'ON CONFLICT (owner) DO UPDATE SET period = excluded.period',
        owner,
        period,
      );
  }

  async lastFreePeriod(tx: Transaction, owner: string, period: string): Promise<string | undefined> {
    const row = await this.#database
      .inside(tx)
      .get<{ last: string | null }>(
        "SELECT max(period) AS last FROM grants WHERE owner = ? AND source = 'free' AND period <= ?",
        owner,
        period,
      );
    return row?.last ?? undefined;
  }

  async findGrant(tx: Transaction, owner: string, grantId: string): Promise<LedgerEntry | undefined> {
    const row = await this.#database
      .inside(tx)
      .get(`SELECT ${ENTRIES.names} FROM ledger_entries WHERE owner = ? AND grant_id = ?`, owner, grantId);
    return row && ENTRIES.record(row);
  }

  async append(tx: Transaction, entry: LedgerEntry): Promise<void> {
    const inside = this.#database.inside(tx);
    const { owner, amountCredits, parts } = entry;
    await inside.run(ENTRIES.insert, ...ENTRIES.row(entry));
    for (const { grantId, source, period, amountCredits: partCredits } of parts) {
      if (amountCredits < 0) {
        const taken = await inside.run(
          'UPDATE grants SET remaining_credits = remaining_credits - ? WHERE owner = ? AND grant_id = ?',
          partCredits,
          owner,
          grantId,
        );
        assert.equal(taken, 1, 'what is taken comes from a grant');
      } else {
        await inside.run(
          'INSERT INTO grants (owner, grant_id, source, period, remaining_credits) VALUES (?, ?, ?, ?, ?) ' +
            'ON CONFLICT (owner, grant_id) DO UPDATE ' +
            'SET remaining_credits = grants.remaining_credits + excluded.remaining_credits',
          owner,
          grantId,
          source,
          period,
          partCredits,
        );
      }
    }
  }

  async getReserve(jobId: string, tx?: Transaction): Promise<Reserve | undefined> {
    const reader = tx ? this.#database.inside(tx) : this.#database;
    const row = await reader.get(`SELECT ${RESERVES.names} FROM reserves WHERE job_id = ?`, jobId);
    return row && RESERVES.record(row);
  }

  async putReserve(tx: Transaction, reserve: Reserve): Promise<void> {
    const inside = this.#database.inside(tx);
    const row = RESERVES.row(reserve);
    if ((await inside.run(RESERVES.update, ...row, reserve.jobId)) === 0) {
      await inside.run(RESERVES.insert, ...row);
    }
  }

  async listEntries(owner: string, { limit, before }: EntryQuery): Promise<LedgerEntry[]> {
    const older = before === undefined ? [] : [before];
    const rows = await this.#database.all(
      `SELECT ${ENTRIES.names} FROM ledger_entries WHERE owner = ? ${older.length > 0 ? 'AND entry_id < ?' : ''} ` +
        'ORDER BY entry_id DESC LIMIT ?',
      owner,
      ...older,
      limit,
    );
    return rows.map((row) => ENTRIES.record(row));
  }

  async ownersNotIn(period: string, limit: number): Promise<string[]> {
    const rows = await this.#database.all<{ owner: string }>(
      'SELECT owner FROM (SELECT owner FROM ledger_accounts WHERE period < ? ' +
        'UNION ALL SELECT owner FROM ledger_accounts WHERE period > ?) AS others LIMIT ?',
      period,
      period,
      limit,
    );
    return rows.map(({ owner }) => owner);
  }

  audit(): Promise<AuditReport> {
    return auditBooks(this.#database);
  }
}
