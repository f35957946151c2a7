import { type Clock, ScenepressError, systemClock } from '../../../lib/index.ts';

const PERIOD_MS = 15 * 60_000;
/**
 * Failures within the period. A client may be a whole office. For an account more are allowed in all than for one client,
 * so that other people cannot keep a person from signing in.
 */
const LIMITS = { pair: 10, client: 30, account: 100 };
const KINDS = ['pair', 'client', 'account'] as const;
/** Beyond it the oldest are forgotten, so that names made up by an attacker don't fill the memory. */
const MOST_NAMES = 10_000;

/** Most password checks that wait: in all, and for one client or account, so that others can still sign in. */
const MOST_WAITING = 20;
const MOST_WAITING_EACH = 10;
const BUSY_MS = 10_000;

interface Who {
  account: string;
  client: string;
}

interface Counted {
  atMs: number;
  /** Of the attempt. */
  number: number;
}

/** The names under which failures are counted. */
function namesOf({ account, client }: Who): Record<keyof typeof LIMITS, string> {
  return {
    pair: `pair ${client} ${account}`,
    client: `client ${client}`,
    account: `account ${account}`,
  };
}

/** Limits failed sign-ins by account and by client address. */
export class Attempts {
  readonly #clock: Clock;
  readonly #waiting: Who[] = [];
  #lastNumber = 0;
  #last: Promise<unknown> = Promise.resolve();
  readonly #failures = new Map<string, Counted[]>();

  constructor({ clock = systemClock }: { clock?: Clock } = {}) {
    this.#clock = clock;
  }

  /**
   * Runs a check of a password unless there were too many failures; `check` resolves with undefined when it is wrong.
   * Error: `too_many_failures`, with the time until the next attempt is allowed.
   */
  async attempt<T>(who: Who, check: () => Promise<T | undefined>): Promise<T | undefined> {
    const retryAfterMs = this.#isBusy(who) ? BUSY_MS : this.#waitMs(who);
    if (retryAfterMs > 0) {
      const minutes = Math.ceil(retryAfterMs / 60_000);
      throw new ScenepressError('too_many_failures', `Too many attempts. Try again in ${minutes} min.`, {
        retryAfterMs,
      });
    }
    const number = this.#begin(who);
    const result = await this.#alone(who, check);
    if (result !== undefined) this.#succeeded(who, number);
    return result;
  }

  /** Milliseconds until the next attempt is allowed; 0: now. */
  #waitMs(who: Who): number {
    const names = namesOf(who);
    const waits = KINDS.map((kind) => {
      const recent = this.#recent(names[kind]);
      const oldest = recent.at(-LIMITS[kind]);
      return oldest === undefined ? 0 : oldest.atMs + PERIOD_MS - this.#clock.now();
    });
    return Math.max(...waits);
  }

  /** Counts an attempt before its password is checked, so that concurrent ones count too. Returns its number. */
  #begin(who: Who): number {
    const names = namesOf(who);
    const counted = { atMs: this.#clock.now(), number: ++this.#lastNumber };
    for (const kind of KINDS) {
      const name = names[kind];
      const recent = this.#recent(name);
      this.#failures.delete(name);
      this.#failures.set(name, [...recent, counted].slice(-LIMITS[kind]));
    }
    while (this.#failures.size > MOST_NAMES) {
      this.#failures.delete(this.#failures.keys().next().value as string);
    }
    return counted.number;
  }

  /** Takes back what {@link #begin} counted, and forgets earlier failures of this client with the account. */
  #succeeded(who: Who, number: number): void {
    const { pair, client, account } = namesOf(who);
    this.#keep(pair, (failure) => failure.number > number);
    for (const name of [client, account]) this.#keep(name, (failure) => failure.number !== number);
  }

  #keep(name: string, isKept: (failure: Counted) => boolean): void {
    const failures = this.#failures.get(name);
    if (failures) this.#failures.set(name, failures.filter(isKept));
  }

  /** Whether so many passwords wait to be checked that a further attempt should be refused. */
  #isBusy({ account, client }: Who): boolean {
    const ofAccount = this.#waiting.filter((waiting) => waiting.account === account);
    const ofClient = this.#waiting.filter((waiting) => waiting.client === client);
    return (
      this.#waiting.length >= MOST_WAITING || Math.max(ofAccount.length, ofClient.length) >= MOST_WAITING_EACH
    );
  }

  /** Runs one check of a password at a time: each takes 32 MiB and a core. */
  #alone<T>(who: Who, work: () => Promise<T>): Promise<T> {
    this.#waiting.push(who);
    const done = this.#last.then(work).finally(() => {
      this.#waiting.splice(this.#waiting.indexOf(who), 1);
    });
    this.#last = done.catch(() => {});
    return done;
  }

  #recent(name: string): Counted[] {
    const after = this.#clock.now() - PERIOD_MS;
    return (this.#failures.get(name) ?? []).filter(({ atMs }) => atMs > after);
  }
}
