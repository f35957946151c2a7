import { abortable } from '../../async/abortable.ts';
import { ScenepressError } from '../../base/errors.ts';
import type { Fairness } from '../fairness/fairness.ts';

/** What a run returns; without a duration, nothing is charged to the budget. */
export interface ShortResult {
  kind: string;
  durationMs?: number;
}

/** What a run is charged when it begins; corrected when it has ended. */
const CHARGED_MS = 5_000;

/** Of an owner that wait; more would only fill the memory. */
const MOST_WAITING = 1_000;

/** The part of {@link Fairness} that short runs use. */
export type ChargedOwners = Pick<Fairness, 'assertMayCheck' | 'noteCheck' | 'precedenceOf'>;

/** For whom a short run is. */
export interface ShortRunOptions {
  /** Undefined: the operator, who has no budget and no limit of concurrent runs. */
  owner: string | undefined;
  /** Aborts the wait. */
  signal?: AbortSignal | undefined;
}

/** A run that waits for a worker. */
interface Waiting {
  owner: string | undefined;
  begin: () => Promise<void>;
  reject: (reason: unknown) => void;
}

/**
 * Runs of scene code that are not jobs: checks, and listings of scenes. They take turns with jobs for the same workers,
 * except for the reserved ones; they count towards the limit of concurrent renders of their owners, get less CPU for
 * owners that are not in good standing, and are charged to a budget of their own.
 */
export class ShortRuns {
  readonly #fairness: ChargedOwners;
  #waiting: Waiting[] = [];
  /** The owners of those that run. */
  readonly #running: (string | undefined)[] = [];
  /** Called when a run waits, or has ended. */
  onChange: () => void = () => {};

  constructor(fairness: ChargedOwners) {
    this.#fairness = fairness;
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  get running(): number {
    return this.#running.length;
  }

  /** How many of an owner run. */
  runningOf(owner: string): number {
    return this.#running.filter((other) => other === owner).length;
  }

  /**
   * Runs a task as soon as a worker is free for it. Errors: `too_many_requests` when the owner has used up its budget;
   * `queue_full` when too many of its runs wait; `not_running` when the service stops first.
   */
  run<Result extends ShortResult>(
    task: (how: { background: boolean }) => Promise<Result>,
    { owner, signal }: ShortRunOptions,
  ): Promise<Result> {
    if (owner !== undefined) {
      this.#fairness.assertMayCheck(owner);
      if (this.#waiting.filter((other) => other.owner === owner).length >= MOST_WAITING)
        throw new ScenepressError(
          'queue_full',
          `${MOST_WAITING} checks of this account wait. Try again later.`,
        );
    }
    signal?.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<Result>();
    const begin = async () => {
      const background = owner !== undefined && !this.#fairness.precedenceOf(owner).inGoodStanding;
      let durationMs = 0;
      let isCharged = false;
      try {
        // Others of the owner have run meanwhile.
        if (owner !== undefined) this.#fairness.assertMayCheck(owner);
        this.#charge(owner, CHARGED_MS);
        isCharged = true;
        const result = await task({ background });
        // The renderer's own failures are not charged.
        durationMs = result.durationMs ?? 0;
        resolve(result);
      } catch (error) {
        reject(error);
      } finally {
        if (isCharged) this.#charge(owner, durationMs - CHARGED_MS);
      }
    };
    const waiting = { owner, begin, reject };
    this.#waiting.push(waiting);
    this.onChange();
    return abortable(promise, signal).finally(() => this.#leave(waiting));
  }

  /** Whether one waits whose owner may begin one. */
  mayBegin(mayBegin: (owner: string) => boolean): boolean {
    return this.#next(mayBegin) !== undefined;
  }

  /** Begins one of the owner that has the fewest running, if it may begin one. False if there is none. */
  begin(mayBegin: (owner: string) => boolean): boolean {
    const next = this.#next(mayBegin);
    if (!next) return false;
    this.#leave(next);
    this.#running.push(next.owner);
    void next.begin().finally(() => {
      this.#running.splice(this.#running.indexOf(next.owner), 1);
      this.onChange();
    });
    return true;
  }

  /** Rejects those that wait. */
  stop(): void {
    const stopped = new ScenepressError('not_running', 'The service is stopping.');
    for (const { reject } of this.#waiting) reject(stopped);
    this.#waiting = [];
  }

  #next(mayBegin: (owner: string) => boolean): Waiting | undefined {
    const ready = this.#waiting.filter(({ owner }) => owner === undefined || mayBegin(owner));
    // The owner with the fewest running ones; of several, the one that came first.
    return ready.toSorted((a, b) => this.#load(a) - this.#load(b))[0];
  }

  #load({ owner }: Waiting): number {
    return owner === undefined ? 0 : this.runningOf(owner);
  }

  #leave(waiting: Waiting): void {
    this.#waiting = this.#waiting.filter((other) => other !== waiting);
  }

  #charge(owner: string | undefined, durationMs: number): void {
    if (owner !== undefined) this.#fairness.noteCheck(owner, durationMs);
  }
}
