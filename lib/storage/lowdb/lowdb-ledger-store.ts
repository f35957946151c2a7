import type {
  LedgerAccount,
  LedgerEntry,
  LedgerStore,
  OwnerBooks,
  Reserve,
} from '../../ledger/ledger-store.ts';
import type { Storage, Transaction } from '../storage.ts';
import type { LowdbDatabase } from './database.ts';

const ACCOUNTS = 'ledgerAccounts';
const RESERVES = 'reserves';
const ENTRIES = 'ledgerEntries';

/** The books of the stored ledger in the embedded database. */
export class LowdbLedgerStore implements LedgerStore {
  readonly storage: Storage;
  readonly #database: LowdbDatabase;
  readonly #entriesByOwner = new Map<string, LedgerEntry[]>();
  readonly #reservesByOwner = new Map<string, Set<string>>();

  constructor(database: LowdbDatabase, storage: Storage) {
    this.storage = storage;
    this.#database = database;
    database.listen(RESERVES, (jobId, before, after) => {
      const { owner } = (after ?? before) as Reserve;
      const jobIds = this.#reservesByOwner.get(owner) ?? new Set();
      this.#reservesByOwner.set(owner, jobIds);
      if (after) jobIds.add(jobId);
      else jobIds.delete(jobId);
    });
    database.listen(ENTRIES, (_id, _before, after) => {
      if (after) this.#indexEntry(after as LedgerEntry);
      else this.#entriesByOwner.clear(); // Entries are append-only: only closing the database removes them.
    });
  }

  async getAccount(owner: string, tx?: Transaction): Promise<LedgerAccount | undefined> {
    return this.#get(ACCOUNTS, owner, tx);
  }

  async putAccount(tx: Transaction, account: LedgerAccount): Promise<void> {
    this.#database.inside(tx).put(ACCOUNTS, account.owner, account);
  }

  async getReserve(jobId: string, tx?: Transaction): Promise<Reserve | undefined> {
    return this.#get(RESERVES, jobId, tx);
  }

  async putReserve(tx: Transaction, reserve: Reserve): Promise<void> {
    this.#database.inside(tx).put(RESERVES, reserve.jobId, reserve);
  }

  async appendEntry(tx: Transaction, entry: LedgerEntry): Promise<void> {
    this.#database.inside(tx).put(ENTRIES, entry.entryId, entry);
  }

  async listEntries(owner: string, limit: number): Promise<LedgerEntry[]> {
    return (this.#entriesByOwner.get(owner) ?? []).slice(-limit).reverse();
  }

  async listOwners(): Promise<string[]> {
    return [...this.#database.all<LedgerAccount>(ACCOUNTS)].map((account) => account.owner);
  }

  async readBooks(owner: string, tx?: Transaction): Promise<OwnerBooks | undefined> {
    if (tx) await this.#database.inside(tx).store.flushed();
    const account = this.#database.get<LedgerAccount>(ACCOUNTS, owner);
    if (!account) return undefined;
    const jobIds = [...(this.#reservesByOwner.get(owner) ?? [])];
    return {
      account,
      entries: [...(this.#entriesByOwner.get(owner) ?? [])],
      reserves: jobIds.map((jobId) => this.#database.get<Reserve>(RESERVES, jobId) as Reserve),
    };
  }

  #get<Row>(table: string, id: string, tx: Transaction | undefined): Row | undefined {
    return tx ? this.#database.inside(tx).get<Row>(table, id) : this.#database.get<Row>(table, id);
  }

  #indexEntry(entry: LedgerEntry): void {
    const entries = this.#entriesByOwner.get(entry.owner);
    if (entries) entries.push(entry);
    else this.#entriesByOwner.set(entry.owner, [entry]);
  }
}
