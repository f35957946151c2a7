import { FairQueue } from './fair-queue.ts';
import type { WaitingJob } from './job.ts';

/** From this many interruptions on a job may be what brings the service down. One can happen to any job. */
const SUSPECT_FROM = 2;
const HOLD_FIRST_MS = 2_000;
const HOLD_LONGEST_MS = 300_000;

/** A job whose turn it is. */
export interface NextJob {
  owner: string;
  jobId: string;
  isSuspect: boolean;
}

interface Suspect {
  owner: string;
  interruptions: number;
  /** Of `performance.now()`. */
  mayBeginAtMs: number;
}

export interface Turns {
  /** False for owners of whom no more jobs may run. */
  mayHaveTurn: (owner: string) => boolean;
  /** True for owners whose jobs wait while others' do. */
  yields: (owner: string) => boolean;
  /** False while a suspect runs. */
  mayTakeSuspect: boolean;
}

/**
 * Jobs that wait for a worker: fair between owners ({@link FairQueue}), except for suspects.
 *
 * A job that was being rendered two or more times when the service, or its thread, died may be the cause of that. No
 * such job is failed: the cause may as well be a SIGKILL, a power cut, or the job beside it. But suspects run one at a
 * time, so that they can't interrupt each other for ever, and each waits before it begins, twice as long after each
 * interruption (2 s to 5 min): until then the service renders all others' jobs.
 */
export class WaitingJobs {
  readonly #queue = new FairQueue();
  readonly #suspects = new Map<string, Suspect>();
  readonly #onDue: () => void;
  #timer: NodeJS.Timeout | undefined;

  /** `onDue` is called when a suspect has waited long enough. */
  constructor(onDue: () => void) {
    this.#onDue = onDue;
  }

  /** No more calls of `onDue`. */
  stop(): void {
    clearTimeout(this.#timer);
  }

  get size(): number {
    return this.#queue.size + this.#suspects.size;
  }

  /** How many owners have jobs that wait, apart from suspects. */
  get owners(): number {
    return this.#queue.owners;
  }

  /** The id of the job that was enqueued first; ids sort by time. */
  get oldest(): string | undefined {
    return [this.#queue.oldest, ...this.#suspects.keys()]
      .filter((jobId) => jobId !== undefined)
      .toSorted()[0];
  }

  /** How many jobs of an owner wait. */
  sizeOf(owner: string): number {
    let size = this.#queue.sizeOf(owner);
    for (const suspect of this.#suspects.values()) if (suspect.owner === owner) size += 1;
    return size;
  }

  add(job: WaitingJob): void {
    if (!this.#hold(job)) this.#queue.add(job.owner, job.jobId);
  }

  /** Puts a job that had its turn already before the others; suspects wait again. */
  putBack(job: WaitingJob): void {
    if (!this.#hold(job)) this.#queue.addFirst(job.owner, job.jobId);
  }

  /** The next job to render; undefined when none may begin now. */
  take({ mayHaveTurn, yields, mayTakeSuspect }: Turns): NextJob | undefined {
    const suspect = mayTakeSuspect ? this.#dueSuspect(mayHaveTurn) : undefined;
    if (suspect) return suspect;
    const next =
      this.#queue.take((owner) => !yields(owner) && mayHaveTurn(owner)) ?? this.#queue.take(mayHaveTurn);
    return next && { ...next, isSuspect: false };
  }

  /** Takes a job out; false when it isn't waiting. */
  remove(owner: string, jobId: string): boolean {
    return this.#suspects.delete(jobId) || this.#queue.remove(owner, jobId);
  }

  #hold({ owner, jobId, interruptions = 0 }: WaitingJob): boolean {
    if (interruptions < SUSPECT_FROM) return false;
    const holdMs = Math.min(HOLD_FIRST_MS * 2 ** (interruptions - SUSPECT_FROM), HOLD_LONGEST_MS);
    this.#suspects.set(jobId, { owner, interruptions, mayBeginAtMs: performance.now() + holdMs });
    this.#wakeForSuspects();
    return true;
  }

  /** The one with the fewest interruptions: it is the least likely cause. */
  #dueSuspect(mayHaveTurn: (owner: string) => boolean): NextJob | undefined {
    const nowMs = performance.now();
    const [first] = [...this.#suspects]
      .filter(([, { owner, mayBeginAtMs }]) => mayBeginAtMs <= nowMs && mayHaveTurn(owner))
      .toSorted(([, a], [, b]) => a.interruptions - b.interruptions);
    if (!first) return undefined;
    const [jobId, { owner }] = first;
    this.#suspects.delete(jobId);
    return { owner, jobId, isSuspect: true };
  }

  #wakeForSuspects(): void {
    clearTimeout(this.#timer);
    const nowMs = performance.now();
    const waits = [...this.#suspects.values()].map(({ mayBeginAtMs }) => mayBeginAtMs - nowMs);
    const coming = waits.filter((waitMs) => waitMs > 0);
    if (coming.length === 0) return;
    this.#timer = setTimeout(
      () => {
        this.#onDue();
        this.#wakeForSuspects();
      },
      Math.min(...coming),
    );
  }
}
