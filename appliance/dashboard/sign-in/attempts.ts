import type { Clock } from '../../../lib/index.ts';
import { ScenepressError, systemClock } from '../../../lib/internal.ts';
import { clientNetworksOf } from '../../edge/client-group.ts';
import { texts } from '../language/texts.ts';

const PERIOD_MS = 15 * 60_000;
/**
 * Failures within the period. A client may be a whole office. For an account more are allowed in all than for one client,
 * so that other people cannot keep a person from signing in.
 */
const LIMITS = { pair: 10, client: 30, account: 100, device: 10 };
/** The limits of a client's larger networks, in those of its smallest: many clients may share one. */
const LARGER = 2;
/** Beyond it the oldest are forgotten, so that names made up by an attacker don't fill the memory. */
const MOST_NAMES = 50_000;

/** Most password checks that wait: in all, and for one client or account, so that others can still sign in. */
const MOST_WAITING = 20;
const MOST_WAITING_EACH = 10;
/** Of an account, from devices that have signed in to it before. They wait for each other only. */
const MOST_WAITING_DEVICES = 4;
const BUSY_MS = 10_000;

/** Who gives a password. */
export interface Who {
  account: string;
  /** The client's address. */
  client: string;
  /**
   * Identifies a client that has proved to have signed in to this account before. It has waiting places and attempts of
   * its own, which other clients cannot use up.
   */
  device?: string | undefined;
}

interface Counted {
  atMs: number;
  /** Of the attempt. */
  number: number;
}

interface Counter {
  /** The name under which failures are counted. */
  name: string;
  limit: number;
}

/** The first one is of this client with this account alone. */
function countersOf({ account, client, device }: Who, mostOfAccount: number): [Counter, ...Counter[]] {
  if (device !== undefined) return [{ name: `device ${device}`, limit: LIMITS.device }];
  const counters = clientNetworksOf(client).flatMap((network, index): Counter[] => [
    { name: `pair ${network} ${account}`, limit: LIMITS.pair * LARGER ** index },
    { name: `client ${network}`, limit: LIMITS.client * LARGER ** index },
  ]);
  return [...(counters as [Counter, ...Counter[]]), { name: `account ${account}`, limit: mostOfAccount }];
}

/** Limits failed sign-ins by account, by client address and by device. */
export class Attempts {
  readonly #clock: Clock;
  readonly #mostOfAccount: number;
  readonly #strangers = new Checks();
  readonly #devices = new Checks();
  #lastNumber = 0;
  readonly #failures = new Map<string, Counted[]>();

  /** `mostOfAccount`: failures of all strange clients together with one account. */
  constructor({
    clock = systemClock,
    mostOfAccount = LIMITS.account,
  }: { clock?: Clock; mostOfAccount?: number } = {}) {
    this.#clock = clock;
    this.#mostOfAccount = mostOfAccount;
  }

  /**
   * Runs a check of a password unless there were too many failures; `check` resolves with undefined when it is wrong.
   * Error: `too_many_failures`, with the time until the next attempt is allowed.
   */
  async attempt<T>(who: Who, check: () => Promise<T | undefined>): Promise<T | undefined> {
    const counters = countersOf(who, this.#mostOfAccount);
    const retryAfterMs = this.#isBusy(who) ? BUSY_MS : this.#waitMs(counters);
    if (retryAfterMs > 0) {
      const minutes = Math.ceil(retryAfterMs / 60_000);
      throw new ScenepressError('too_many_failures', texts().errors.tooManyAttempts(minutes), {
        retryAfterMs,
      });
    }
    const number = this.#begin(counters);
    const checks = who.device === undefined ? this.#strangers : this.#devices;
    const result = await checks.run([who.account, networkOf(who)], check);
    if (result !== undefined) this.#succeeded(counters, number);
    return result;
  }

  /** Milliseconds until the next attempt is allowed; 0: now. */
  #waitMs(counters: Counter[]): number {
    const waits = counters.map(({ name, limit }) => {
      const oldest = this.#recent(name).at(-limit);
      return oldest === undefined ? 0 : oldest.atMs + PERIOD_MS - this.#clock.now();
    });
    return Math.max(...waits);
  }

  /** Counts an attempt before its password is checked, so that concurrent ones count too. Returns its number. */
  #begin(counters: Counter[]): number {
    const counted = { atMs: this.#clock.now(), number: ++this.#lastNumber };
    for (const { name, limit } of counters) {
      const recent = this.#recent(name);
      this.#failures.delete(name);
      this.#failures.set(name, [...recent, counted].slice(-limit));
    }
    while (this.#failures.size > MOST_NAMES) {
      this.#failures.delete(this.#failures.keys().next().value as string);
    }
    return counted.number;
  }

  /** Takes back what {@link #begin} counted, and forgets earlier failures of this client with the account. */
  #succeeded([own, ...others]: [Counter, ...Counter[]], number: number): void {
    this.#keep(own.name, (failure) => failure.number > number);
    for (const { name } of others) this.#keep(name, (failure) => failure.number !== number);
  }

  #keep(name: string, isKept: (failure: Counted) => boolean): void {
    const failures = this.#failures.get(name);
    if (failures) this.#failures.set(name, failures.filter(isKept));
  }

  /** Whether so many passwords wait to be checked that a further attempt should be refused. */
  #isBusy(who: Who): boolean {
    if (who.device !== undefined) return this.#devices.waitingOf(who.account) >= MOST_WAITING_DEVICES;
    const ofOne = [who.account, networkOf(who)].map((name) => this.#strangers.waitingOf(name));
    return this.#strangers.waiting >= MOST_WAITING || Math.max(...ofOne) >= MOST_WAITING_EACH;
  }

  #recent(name: string): Counted[] {
    const after = this.#clock.now() - PERIOD_MS;
    return (this.#failures.get(name) ?? []).filter(({ atMs }) => atMs > after);
  }
}

/** The largest network of a client: places are few, so that not each of its smaller ones has some. */
function networkOf({ client }: Who): string {
  return `client ${clientNetworksOf(client).at(-1)}`;
}

/** Runs one check of a password at a time: each takes 32 MiB and a core. */
class Checks {
  readonly #waiting: string[][] = [];
  #last: Promise<unknown> = Promise.resolve();

  /** The number that run or wait. */
  get waiting(): number {
    return this.#waiting.length;
  }

  waitingOf(name: string): number {
    return this.#waiting.filter((names) => names.includes(name)).length;
  }

  run<T>(names: string[], work: () => Promise<T>): Promise<T> {
    this.#waiting.push(names);
    const done = this.#last.then(work).finally(() => {
      this.#waiting.splice(this.#waiting.indexOf(names), 1);
    });
    this.#last = done.catch(() => {});
    return done;
  }
}
