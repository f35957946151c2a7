import assert from 'node:assert/strict';
import { isScenepressError, ScenepressError } from '../base/errors.ts';
import { known, type Names, SIGNAL } from '../base/known-options.ts';
import { type Random, systemRandom } from '../base/random.ts';
import { SortableIds } from '../model/ids.ts';
import type { Storage } from '../storage/storage.ts';
import type { Transaction } from '../storage/transaction.ts';
import { type Clock, monthOf, systemClock, type Timer } from '../time/clock.ts';
import { schedule } from '../time/schedule.ts';
import { assertCredits, assertGrant, grantIdOf } from './credits.ts';
import { balanceOf, partOf, partsFrom, sumOf, tail } from './grant-parts.ts';
import type { Balance, Ledger } from './ledger.ts';
import type {
  AuditReport,
  Charges,
  EntryQuery,
  GrantPart,
  LedgerAccount,
  LedgerEntry,
  LedgerStore,
} from './ledger-store.ts';

/** The monthly grant of an account, in credits. */
export const DEFAULT_FREE_CREDITS_PER_MONTH = 1000;
/** UTC. */
const MONTHLY = '0 0 1 * *';
/** Accounts per query when making the monthly grants. */
const OWNERS_AT_ONCE = 200;

/** Options of {@link StoredLedger}. */
export interface StoredLedgerOptions {
  /** Where the books are kept. */
  store: LedgerStore;
  /** Granted to every account each month (UTC); expires at the end of the month. Default 1,000. */
  freeCreditsPerMonth?: number;
  /** Default: the system's. */
  clock?: Clock;
  /** The source of ids. */
  random?: Random;
}

const GRANT: Names<GrantOptions> = { note: true, idempotencyKey: true };
const ENTRY_QUERY: Names<EntryQuery> = { limit: true, before: true, foldsJobs: true };

/** What was read ahead in a transaction. */
interface Prepared {
  owner: string;
  account: LedgerAccount | undefined;
  jobId: string | undefined;
  entries: LedgerEntry[] | undefined;
}

interface EntriesOfJob {
  reserve: LedgerEntry | undefined;
  end: LedgerEntry | undefined;
}

/** Options of a grant. */
export interface GrantOptions {
  /** A note for the account's history. */
  note?: string | null;
  /** An idempotency key: repetitions, even years later, make no second grant. */
  idempotencyKey?: string;
}

/**
 * The built-in ledger, stored with the jobs and in the same transactions.
 *
 * Balance = grants − expiries − charges − open reserves, per account, never negative. Free credits are spent first.
 * The monthly free grant is made once: by a schedule at the start of the month, or on the account's first use in it.
 *
 * ```ts
 * const ledger = new StoredLedger({ store: dataFolder.ledgerStore, freeCreditsPerMonth: 0 });
 * await ledger.grantPaid('ada', 500, { note: 'order 7', idempotencyKey: 'order-7' });
 * ```
 */
export class StoredLedger implements Ledger {
  /** Mentions the monthly grant, unless it is 0. */
  readonly topUpHint: string | undefined;
  readonly #store: LedgerStore;
  readonly #freeCredits: number;
  readonly #clock: Clock;
  readonly #ids: SortableIds;
  readonly #prepared = new WeakMap<Transaction, Prepared>();
  #monthly: Timer | undefined;

  constructor(options: StoredLedgerOptions) {
    const names = { store: true, freeCreditsPerMonth: true, clock: true, random: true };
    const {
      store,
      freeCreditsPerMonth = DEFAULT_FREE_CREDITS_PER_MONTH,
      clock = systemClock,
      random = systemRandom,
    } = known('StoredLedger', options, names);
    assertCredits(freeCreditsPerMonth);
    if (freeCreditsPerMonth > 0) this.topUpHint = "Top up credits, or wait for next month's free credits.";
    this.#store = store;
    this.#freeCredits = freeCreditsPerMonth;
    this.#clock = clock;
    this.#ids = new SortableIds(clock, random);
  }

  /** Starts the grants at the start of each month. */
  async start(): Promise<void> {
    const grant = () => this.#store.storage.alone('monthly grants', () => this.grantMonth());
    // A grant that fails here is made on the account's first use.
    this.#monthly ??= schedule(this.#clock, MONTHLY, () => void grant().catch(() => {}));
  }

  /** Ends them. */
  async stop(): Promise<void> {
    this.#monthly?.cancel();
    this.#monthly = undefined;
  }

  joins(storage: Storage): boolean {
    return storage === this.#store.storage;
  }

  /** Makes the current month's free grant for every known account that lacks it. `signal` ends it between some. */
  async grantMonth(options: { signal?: AbortSignal } = {}): Promise<void> {
    const { signal } = known('grantMonth', options, SIGNAL);
    for (;;) {
      signal?.throwIfAborted();
      const period = monthOf(this.#clock.now());
      const owners = await this.#store.ownersNotIn(period, OWNERS_AT_ONCE);
      if (owners.length === 0) return;
      await Promise.all(
        owners.map((owner) => this.#store.storage.transaction((tx) => this.#openBooks(owner, tx))),
      );
    }
  }

  /**
   * Adds purchased credits; they don't expire. With an `idempotencyKey`, a repetition adds nothing. Errors:
   * `conflict` when it has another amount, `invalid_request` for an amount that is not a whole number of credits.
   */
  async grantPaid(owner: string, amountCredits: number, options: GrantOptions = {}): Promise<Balance> {
    const grant = known('grantPaid', options, GRANT);
    assertGrant(owner, amountCredits);
    return this.#once(owner, amountCredits, grant, () => []);
  }

  /**
   * Takes back purchased credits, such as those of a grant by mistake, as far as they are neither spent nor reserved. With
   * an `idempotencyKey`, a repetition takes nothing; its keys are also those of grants. Errors: `conflict` when fewer
   * credits are left, or the key has another amount, `invalid_request` for an amount that is not a whole number of
   * credits.
   */
  async takeBack(owner: string, amountCredits: number, options: GrantOptions = {}): Promise<Balance> {
    const grant = known('takeBack', options, GRANT);
    assertGrant(owner, amountCredits);
    return this.#once(owner, -amountCredits, grant, (account) => {
      const grants = account.grants.filter(({ source }) => source === 'paid');
      const { paid } = balanceOf(account);
      if (paid >= amountCredits) return partsFrom(grants, amountCredits);
      const left = paid === 1 ? '1 paid credit' : `${paid} paid credits`;
      const message = `Only ${left} can be taken back: the others are spent or reserved.`;
      throw new ScenepressError('conflict', message);
    });
  }

  /** Changes the purchased credits of an account, once for a key. The first part is a grant of its own, maybe of nothing. */
  async #once(
    owner: string,
    changeCredits: number,
    { note = null, idempotencyKey }: GrantOptions,
    takenFrom: (account: LedgerAccount) => GrantPart[],
  ): Promise<Balance> {
    return this.#store.storage.transaction(async (tx) => {
      const account = await this.#openBooks(owner, tx);
      const grantId = idempotencyKey === undefined ? this.#ids.next() : grantIdOf(owner, idempotencyKey);
      const made = await this.#store.findGrant(tx, owner, grantId);
      if (made && made.amountCredits !== changeCredits) {
        const message = `This idempotency key was used for another grant, of ${made.amountCredits === 1 ? '1 credit' : `${made.amountCredits} credits`}. Use a new key.`;
        throw new ScenepressError('conflict', message);
      }
      if (made) return balanceOf(account);
      const amountCredits = Math.max(0, changeCredits);
      const own: GrantPart = { grantId, source: 'paid', period: null, amountCredits };
      const parts = [own, ...takenFrom(account)];
      await this.#append(tx, account, { kind: 'grant', amountCredits: changeCredits, parts, note });
      return balanceOf(account);
    });
  }

  /** Paid and free credits, in credits. */
  async balance(owner: string): Promise<Balance> {
    const account = await this.#store.getAccount(owner);
    if (account?.period === monthOf(this.#clock.now())) return balanceOf(account);
    const opened = this.#store.storage.transaction((tx) => this.#openBooks(owner, tx));
    try {
      return balanceOf(await opened);
    } catch (error) {
      if (!isScenepressError(error, 'storage_full')) throw error;
      // The balance after the month's grant, which cannot be committed now.
      const paid = account ? balanceOf(account).paid : 0;
      return { paid, free: this.#freeCredits, total: paid + this.#freeCredits };
    }
  }

  async available(owner: string): Promise<number> {
    return (await this.balance(owner)).total;
  }

  /** The account's history, newest first. */
  async statement(owner: string, query: Partial<EntryQuery> = {}): Promise<LedgerEntry[]> {
    const { limit = 100, ...page } = known('statement', query, ENTRY_QUERY);
    return this.#store.listEntries(owner, { limit, ...page });
  }

  /** The charges of an account from `fromMs` until before `untilMs` (epoch milliseconds). */
  async charges(owner: string, period: { fromMs: number; untilMs: number }): Promise<Charges> {
    known('charges', period, { fromMs: true, untilMs: true });
    return this.#store.sumCharges(owner, period);
  }

  async prepare({ owner, jobId }: { owner: string; jobId?: string }, tx: Transaction): Promise<void> {
    const [account, entries] = await Promise.all([
      this.#store.getAccount(owner, tx),
      jobId === undefined ? undefined : this.#store.entriesOfJob(jobId, tx),
    ]);
    this.#prepared.set(tx, { owner, account, jobId, entries });
  }

  /** Checks that grants, entries and reserves agree; the report names what does not. `signal` aborts it. */
  async audit(options: { signal?: AbortSignal } = {}): Promise<AuditReport> {
    return this.#store.audit(known('audit', options, SIGNAL));
  }

  async reserve(
    request: { jobId: string; owner: string; amountCredits: number },
    tx?: Transaction,
  ): Promise<'reserved' | 'insufficient'> {
    assertCredits(request.amountCredits);
    const { owner } = request;
    // A joined job is new: it has no entries.
    if (tx) return this.#reserve(request, await this.#openBooks(owner, tx), tx);
    return this.#store.storage.transaction(async (tx) => {
      const [account, { reserve, end }] = await this.#booksOf(request.jobId, owner, tx);
      if (end?.kind === 'void') return 'insufficient';
      return reserve ? 'reserved' : this.#reserve(request, account, tx);
    });
  }

  /** Reserves for a job without entries; the store rejects a second reserve. */
  async #reserve(
    { jobId, amountCredits }: { jobId: string; amountCredits: number },
    account: LedgerAccount,
    tx: Transaction,
  ): Promise<'reserved' | 'insufficient'> {
    if (balanceOf(account).total < amountCredits) return 'insufficient';
    const parts = partsFrom(account.grants, amountCredits);
    await this.#append(tx, account, { kind: 'reserve', amountCredits: -amountCredits, jobId, parts });
    return 'reserved';
  }

  /** Whether credits were ever reserved for the job. */
  async hasReserve(jobId: string, tx?: Transaction): Promise<boolean> {
    return (await this.#store.entriesOfJob(jobId, tx)).length > 0;
  }

  async settle(
    { jobId, owner, amountCredits }: { jobId: string; owner: string; amountCredits: number },
    tx?: Transaction,
  ): Promise<{ kind: 'settled'; chargedCredits: number } | { kind: 'insufficient' }> {
    assertCredits(amountCredits);
    return this.#in(tx, async (tx) => {
      const [account, { reserve, end }] = await this.#booksOf(jobId, owner, tx);
      if (end?.kind === 'void') return { kind: 'insufficient' };
      // Enqueued while renders were free.
      if (!reserve) return { kind: 'settled', chargedCredits: 0 };
      assert.equal(reserve.owner, owner);
      if (end) return { kind: 'settled', chargedCredits: end.chargedCredits };

      const change = sumOf(reserve.parts) - amountCredits;
      if (balanceOf(account).total < -change) return { kind: 'insufficient' };

      // Parts are ordered free before paid: the front is charged, the tail is returned.
      const parts =
        change < 0
          ? partsFrom(account.grants, -change)
          : this.#partsBackTo(account, tail(reserve.parts, change));
      await this.#append(tx, account, {
        kind: 'settle',
        amountCredits: change,
        chargedCredits: amountCredits,
        jobId,
        parts,
      });
      return { kind: 'settled', chargedCredits: amountCredits };
    });
  }

  async void({ jobId, owner }: { jobId: string; owner: string }, tx?: Transaction): Promise<void> {
    await this.#in(tx, async (tx) => {
      const [account, { reserve, end }] = await this.#booksOf(jobId, owner, tx);
      assert.equal((reserve ?? end)?.owner ?? owner, owner);
      assert(end?.kind !== 'settle', 'a settled job is not voided');
      if (end) return;
      // Also recorded without a reserve, so a late one is refused.
      const parts = this.#partsBackTo(account, reserve?.parts ?? []);
      await this.#append(tx, account, { kind: 'void', amountCredits: sumOf(parts), jobId, parts });
    });
  }

  /**
   * Brings the account to the current month: creates it on first use, expires the free grants of other months and
   * makes this month's. Robust against a wrong clock: each month is granted at most once, months before the first
   * granted one are never granted, and skipped months still can be. Locks the account: entries read before may be
   * outdated.
   */
  async #openBooks(owner: string, tx: Transaction): Promise<LedgerAccount> {
    const prepared = this.#prepared.get(tx);
    const known = prepared?.owner === owner ? prepared.account : await this.#store.getAccount(owner, tx);
    // What follows changes it.
    this.#prepared.delete(tx);
    const account = known ?? (await this.#newAccount(owner, tx));
    const period = monthOf(this.#clock.now());
    if (account.period === period) return account;
    const isKnown = account.period !== '';
    await this.#store.setPeriod(tx, owner, period);
    account.period = period;
    const last = await this.#store.lastFreePeriod(tx, owner, period);
    if (isKnown && (last === undefined || last === period)) return account;
    for (const grant of account.grants.filter((grant) => grant.source === 'free')) {
      const part = partOf(grant, grant.remainingCredits);
      await this.#append(tx, account, { kind: 'expiry', amountCredits: -part.amountCredits, parts: [part] });
    }
    const part = this.#freePart(period, this.#freeCredits);
    await this.#append(tx, account, { kind: 'grant', amountCredits: this.#freeCredits, parts: [part] });
    return account;
  }

  /** A missing account cannot be locked: another process may create it meanwhile. */
  async #newAccount(owner: string, tx: Transaction): Promise<LedgerAccount> {
    await this.#store.insertAccount(tx, owner);
    const account = await this.#store.getAccount(owner, tx);
    assert(account, 'the account that was inserted exists');
    return account;
  }

  /** Returns credits to their grants, free ones to the current month's: those of other months have expired. */
  #partsBackTo(account: LedgerAccount, parts: GrantPart[]): GrantPart[] {
    return parts.map((part) =>
      part.source === 'free' ? this.#freePart(account.period, part.amountCredits) : part,
    );
  }

  #freePart(period: string, amountCredits: number): GrantPart {
    return { grantId: `free-${period}`, source: 'free', period, amountCredits };
  }

  /** Entries that were read before the account was locked may be outdated. */
  async #booksOf(jobId: string, owner: string, tx: Transaction): Promise<[LedgerAccount, EntriesOfJob]> {
    if (this.#prepared.get(tx)?.owner === owner) {
      const entries = await this.#entriesOf(jobId, tx);
      return [await this.#openBooks(owner, tx), entries];
    }
    return [await this.#openBooks(owner, tx), await this.#entriesOf(jobId, tx)];
  }

  async #entriesOf(jobId: string, tx: Transaction): Promise<EntriesOfJob> {
    const prepared = this.#prepared.get(tx);
    const known = prepared?.jobId === jobId ? prepared.entries : undefined;
    const entries = known ?? (await this.#store.entriesOfJob(jobId, tx));
    return {
      reserve: entries.find(({ kind }) => kind === 'reserve'),
      end: entries.find(({ kind }) => kind !== 'reserve'),
    };
  }

  async #append(
    tx: Transaction,
    account: LedgerAccount,
    entry: Pick<LedgerEntry, 'kind' | 'amountCredits' | 'parts'> & Partial<LedgerEntry>,
  ): Promise<void> {
    await this.#store.append(tx, account, {
      entryId: this.#ids.next(),
      owner: account.owner,
      jobId: null,
      chargedCredits: 0,
      note: null,
      atMs: this.#clock.now(),
      ...entry,
    });
  }

  #in<T>(tx: Transaction | undefined, work: (tx: Transaction) => Promise<T>): Promise<T> {
    return tx ? work(tx) : this.#store.storage.transaction(work);
  }
}
