import type { Accounts, Clock, Logger } from '../../lib/index.ts';
import {
  type Act,
  type ActStore,
  Rates,
  ScenepressError,
  SortableIds,
  systemClock,
  systemRandom,
} from '../../lib/internal.ts';

/** The actor of an operation, and the address of the request. */
export interface Actor {
  /** Null for the command line. */
  accountId: string | null;
  isAdmin: boolean;
  /** The client's address; null for the command line. */
  address: string | null;
}

/** The user who runs commands owns the data folder, so it may do everything. */
export const COMMAND_LINE: Actor = { accountId: null, isAdmin: true, address: null };

/** Entries of one account: some megabytes a day at most. */
const RATE = { perSecond: 0.5, burst: 500 };
/** Equal acts within this time become one entry. */
const FOLD_MS = 10 * 60_000;

/** Acts equal to one that was recorded. */
interface Fold {
  act: Omit<Act, 'actId' | 'atMs'>;
  /** Not recorded yet. */
  repeats: number;
  lastAtMs: number;
  timer: NodeJS.Timeout;
}

/**
 * Records acts. The first of several equal ones (same actor, operation, object and address) is recorded at once, the
 * others together: ten minutes later, before the record is read, or at the end of the process. Repeated acts therefore
 * neither fill the disk nor hide the entries of other accounts.
 */
export class Acts {
  readonly #store: ActStore;
  readonly #accounts: Pick<Accounts, 'find'>;
  readonly #logger: Logger;
  readonly #clock: Clock;
  readonly #foldMs: number;
  readonly #rates: Rates;
  readonly #ids: SortableIds;
  readonly #folds = new Map<string, Fold>();

  constructor(options: {
    store: ActStore;
    accounts: Pick<Accounts, 'find'>;
    logger: Logger;
    clock?: Clock;
    foldMs?: number;
  }) {
    this.#store = options.store;
    this.#accounts = options.accounts;
    this.#logger = options.logger;
    this.#clock = options.clock ?? systemClock;
    this.#foldMs = options.foldMs ?? FOLD_MS;
    this.#rates = new Rates({ ...RATE, clock: this.#clock });
    this.#ids = new SortableIds(this.#clock, systemRandom);
  }

  /** Before an operation. Error: `too_many_requests` while an account has used up its entries. */
  assertWithinRate({ accountId }: Pick<Actor, 'accountId'>): void {
    const retryAfterMs = accountId === null ? 0 : this.#rates.waitMs(accountId);
    if (retryAfterMs === 0) return;
    const seconds = Math.ceil(retryAfterMs / 1000);
    throw new ScenepressError(
      'too_many_requests',
      `This account has made too many changes within a short time: each is recorded. Nothing was changed. Try again in ${seconds} s.`,
      { retryAfterMs },
    );
  }

  /** Never rejects: a completed operation can't be undone when recording it fails. */
  async record(
    { accountId, address }: Omit<Actor, 'isAdmin'>,
    action: string,
    subject: string | null,
  ): Promise<void> {
    const exact = { actor: accountId, action, subject, address };
    if (this.#fold(exact)) return;
    // Signing in is not refused, not even from ever new addresses.
    const isWithinRate = accountId === null || this.#rates.waitMs(accountId) === 0;
    const act = isWithinRate ? exact : { ...exact, subject: null, address: null };
    if (!isWithinRate && this.#fold(act)) return;
    if (accountId !== null) this.#rates.add(accountId);
    const key = keyOf(act);
    const timer = setTimeout(() => void this.#end(key), this.#foldMs).unref();
    this.#folds.set(key, { act, repeats: 0, lastAtMs: 0, timer });
    await this.#append(act, this.#clock.now());
  }

  /** Records the acts that were held back. */
  async flush(): Promise<void> {
    await Promise.all(Array.from(this.#folds.values(), (fold) => this.#recordRepeats(fold)));
  }

  /** Ends the folding, too. */
  async close(): Promise<void> {
    await Promise.all(Array.from(this.#folds.keys(), (key) => this.#end(key)));
  }

  /** Whether it repeats an act that was recorded, and so is counted with it. */
  #fold(act: Fold['act']): boolean {
    const fold = this.#folds.get(keyOf(act));
    if (!fold) return false;
    fold.repeats += 1;
    fold.lastAtMs = this.#clock.now();
    return true;
  }

  async #end(key: string): Promise<void> {
    const fold = this.#folds.get(key);
    if (!fold) return;
    clearTimeout(fold.timer);
    this.#folds.delete(key);
    await this.#recordRepeats(fold);
  }

  async #recordRepeats(fold: Fold): Promise<void> {
    const { act, repeats, lastAtMs } = fold;
    if (repeats === 0) return;
    fold.repeats = 0;
    const { actor } = act;
    // The addresses of a deleted account were erased meanwhile.
    const isKept = actor === null || (await this.#accounts.find(actor).catch(() => undefined)) !== undefined;
    const address = isKept ? act.address : null;
    await this.#append({ ...act, address, action: severalOf(act.action, repeats) }, lastAtMs);
  }

  async #append(act: Fold['act'], atMs: number): Promise<void> {
    try {
      await this.#store.appendAct({ actId: this.#ids.next(), atMs, ...act });
    } catch (err) {
      const { action, subject } = act;
      this.#logger.error({ err, action, subject }, 'an act could not be recorded');
    }
  }
}

function keyOf({ actor, action, subject, address }: Fold['act']): string {
  return JSON.stringify([actor, action, subject, address]);
}

/** The stored text for several acts, such as `keys.setWebhook ×12`; one alone is its operation. */
function severalOf(action: string, count: number): string {
  return count === 1 ? action : `${action} ×${count}`;
}

/** The stored text of an act that changes credits, such as `credits.grant 500`. */
export function actOf(operation: string, amountCredits: unknown): string {
  return typeof amountCredits === 'number' ? `${operation} ${amountCredits}` : operation;
}

/** The operation, the credits that it is about, and how many acts, of a stored text. */
export function countedAct(text: string): { action: string; amountCredits: number | null; count: number } {
  const [, action = text, amount, count = '1'] = /^(.+?)(?: (\d+))?(?: ×(\d+))?$/.exec(text) ?? [];
  return { action, amountCredits: amount === undefined ? null : Number(amount), count: Number(count) };
}
