import type { JobRecord } from '../../jobs/job.ts';
import type { Books, LedgerAccount, LedgerEntry, LedgerStore, Reserve } from '../../ledger/ledger-store.ts';
import type { Storage, Transaction } from '../storage.ts';
import type { LowdbDatabase } from './database.ts';
import { ENTRIES, rowIdOf } from './ledger-rows.ts';
import { JOBS } from './lowdb-storage.ts';

const ACCOUNTS = 'ledgerAccounts';
const RESERVES = 'reserves';

/** The books of the stored ledger in the embedded database. */
export class LowdbLedgerStore implements LedgerStore {
  readonly storage: Storage;
  readonly #database: LowdbDatabase;

  constructor(database: LowdbDatabase, storage: Storage) {
    this.storage = storage;
    this.#database = database;
    database.archive<Reserve>(RESERVES, { finished: ({ state }) => state !== 'open', keepsRecent: true });
    database.archive<LedgerEntry>(ENTRIES, {
      finished: () => true,
      keepsRecent: true,
      indexes: { byOwner: ({ owner, entryId }) => ({ bucket: [owner], order: entryId }) },
    });
  }

  async getAccount(owner: string, tx?: Transaction): Promise<LedgerAccount | undefined> {
    return tx ? this.#database.inside(tx).get(ACCOUNTS, owner) : this.#database.get(ACCOUNTS, owner);
  }

  async putAccount(tx: Transaction, account: LedgerAccount): Promise<void> {
    this.#database.inside(tx).put(ACCOUNTS, account.owner, account);
  }

  async getReserve(jobId: string, tx?: Transaction): Promise<Reserve | undefined> {
    return await (tx ? this.#database.inside(tx) : this.#database).find(RESERVES, jobId);
  }

  async putReserve(tx: Transaction, reserve: Reserve): Promise<void> {
    this.#database.inside(tx).put(RESERVES, reserve.jobId, reserve);
  }

  async appendEntry(tx: Transaction, entry: LedgerEntry): Promise<void> {
    this.#database.inside(tx).put(ENTRIES, rowIdOf(entry), entry);
  }

  async findGrant(tx: Transaction, owner: string, grantId: string): Promise<LedgerEntry | undefined> {
    this.#database.inside(tx);
    await this.#database.flushed(); // And nothing else is committed before this transaction ends.
    const listing = { index: 'byOwner', buckets: [[owner]] };
    for await (const entry of this.#database.newestFirst<LedgerEntry>(ENTRIES, listing)) {
      if (entry.kind === 'grant' && entry.parts[0]?.grantId === grantId) return entry;
    }
    return undefined;
  }

  async listEntries(owner: string, limit: number): Promise<LedgerEntry[]> {
    const entries: LedgerEntry[] = [];
    const listing = { index: 'byOwner', buckets: [[owner]] };
    for await (const entry of this.#database.newestFirst<LedgerEntry>(ENTRIES, listing)) {
      if (entries.push(entry) >= limit) break;
    }
    return entries;
  }

  async listOwners(): Promise<string[]> {
    return [...this.#database.all<LedgerAccount>(ACCOUNTS)].map((account) => account.owner);
  }

  async *readBooks(): AsyncGenerator<Books> {
    const accounts = [...this.#database.all<LedgerAccount>(ACCOUNTS)];
    await using view = this.#database.view(JOBS, RESERVES, ENTRIES);
    for (const account of accounts) yield { account };
    const jobs = inStep(view.rows<JobRecord>(JOBS), ({ jobId }) => jobId);
    const reserves = inStep(view.rows<Reserve>(RESERVES), ({ jobId }) => jobId);
    const entries = inStep(view.rows<LedgerEntry>(ENTRIES), ({ jobId }) => jobId ?? '');
    for (;;) {
      const keys = [await jobs.key(), await reserves.key(), await entries.key()];
      const first = keys.filter((key) => key !== undefined).sort()[0];
      if (first === undefined) return;
      if (first === '') {
        for (const entry of await entries.take(first, 1))
          yield { jobId: null, job: undefined, reserve: undefined, entries: [entry] };
        continue;
      }
      yield {
        jobId: first,
        job: (await jobs.take(first))[0],
        reserve: (await reserves.take(first))[0],
        entries: await entries.take(first),
      };
    }
  }
}

/** Rows that come in the order of a key, taken key by key. */
function inStep<Row>(rows: AsyncGenerator<Row>, keyOf: (row: Row) => string) {
  let next: Row | undefined;
  let begun = false;
  const peek = async () => {
    if (!begun) next = (await rows.next()).value as Row | undefined;
    begun = true;
    return next;
  };
  return {
    async key(): Promise<string | undefined> {
      const row = await peek();
      return row && keyOf(row);
    },
    /** The next rows of that key. */
    async take(key: string, most = Number.POSITIVE_INFINITY): Promise<Row[]> {
      const taken: Row[] = [];
      for (let row = await peek(); row && keyOf(row) === key && taken.length < most; row = await peek()) {
        taken.push(row);
        begun = false;
      }
      return taken;
    },
  };
}
