import type { EventEmitter } from 'node:events';
import type { Random } from '../../base/random.ts';
import { randomId } from '../../model/ids.ts';
import type { Quality } from '../../model/qualities.ts';
import type { RenderProgress } from '../../model/render-task.ts';
import type { Claim, Precedence, Wanted } from '../../storage/queue/queue.ts';
import type { QueueOptions } from '../../storage/queue/queue-options.ts';
import type { Signal, Signals } from '../../storage/signals.ts';
import type { Timer } from '../../time/clock.ts';
import { within } from '../../time/within.ts';
import { Precedences } from '../fairness/changed-precedences.ts';
import type { Fairness } from '../fairness/fairness.ts';
import { Attempt, type AttemptOptions, type Renders } from './attempt.ts';
import type { Gate } from './gate.ts';
import type { ClaimedJob } from './job-claims.ts';
import { LastQueueState } from './last-queue-state.ts';
import { Leases } from './leases.ts';
import type { ShortRuns } from './short-runs.ts';
import { StartHold } from './start-hold.ts';

/** How long a stop waits for pending removals of artifacts. */
const DISCARD_GRACE_MS = 5_000;
/** Polls, because signals may get lost, and suspects and precedences depend on time. */
const POLL_MS = 2_000;

/** Attempts beyond these count as if they needed a worker while they wait without one. */
const MOST_IDLE = 32;

type Given = 'inGoodStanding' | 'hold' | 'stopping' | 'stopped' | 'onIdle';

export interface DispatcherOptions extends Omit<AttemptOptions, Given> {
  signals: Signals;
  queue: QueueOptions;
  /** The qualities that are rendered; default: all. */
  qualities?: readonly Quality[] | undefined;
  /** A {@link Gate}. */
  gate: EventEmitter<{ open: [] }> & { readonly isOpen: boolean };
  fairness: Pick<Fairness, 'precedenceOf'>;
  /** Runs of scene code that take turns with jobs. */
  shortRuns: ShortRuns;
  /** The source of worker ids. */
  random: Random;
}

/** Claims queued jobs for idle workers and runs their attempts. */
export class Dispatcher {
  readonly #options: DispatcherOptions;
  readonly #queueState: LastQueueState;
  readonly #leases: Leases;
  readonly #hold: StartHold;
  /** The worker id, new after each start, so claims of an earlier run are recognized as orphaned. */
  #worker = '';
  #renderer: Renders | undefined;
  /** By job. */
  readonly #running = new Map<string, Attempt>();
  readonly #precedences: Precedences;
  /** A short run began while jobs waited, which go first next time. */
  #areJobsNext = false;
  #maxRunningPerOwner = Number.POSITIVE_INFINITY;
  #isWoken = false;
  #dispatching: Promise<void> | undefined;
  /** While a claim is in progress: the jobs that are canceled meanwhile. */
  #canceled: Set<string> | undefined;
  #poll: Timer | undefined;
  #stopListening = () => {};
  /** Aborted when a stop begins. */
  #stopping = new AbortController();
  /** Aborted when a stop ends the running attempts. */
  #stopped = new AbortController();

  constructor(options: DispatcherOptions) {
    this.#options = options;
    const { storage, claims, shortRuns, clock, logger } = options;
    this.#hold = new StartHold(clock).on('end', () => this.wake());
    this.#queueState = new LastQueueState(storage.queue);
    this.#precedences = new Precedences(storage.queue, {
      precedenceOf: (owner) => this.#precedenceOf(owner),
    });
    shortRuns.onChange = () => this.wake();
    this.#leases = new Leases({
      renew: (held) => claims.renew(held),
      isShared: storage.isShared,
      onLost: (claim) => this.#attemptOf(claim)?.stop('claim_lost'),
      onExpired: (claim) => this.#attemptOf(claim)?.stop('claim_expired'),
      clock,
      logger,
    });
  }

  /**
   * Ids of the jobs that it runs, whose claims it manages itself. Not all claims of its worker: that of a claim whose
   * commit was not confirmed is not known here.
   */
  get runningIds(): string[] {
    return [...this.#running.keys()];
  }

  get queued(): number {
    return this.#queueState.waiting;
  }

  /** Creation time of the oldest queued job, in epoch milliseconds; null when no job is queued. */
  get oldestQueuedMs(): number | null {
    return this.#queueState.oldestMs;
  }

  /** Running jobs of all processes, as of the last look. */
  get runningEverywhere(): number {
    return Math.max(this.#queueState.running, this.#running.size);
  }

  get running(): number {
    return this.#running.size;
  }

  /** Jobs wait because a system resource is exhausted. */
  get isShortage(): boolean {
    return this.#hold.isShortage;
  }

  /** Starts to dispatch queued jobs to a warm renderer. Without a renderer, jobs are only counted. */
  async start(renderer: Renders | undefined): Promise<void> {
    this.#stopping = new AbortController();
    this.#worker = randomId('worker', this.#options.random);
    await this.#queueState.refresh();
    this.#renderer = renderer;
    this.#leases.start();
    const { clock, gate, signals } = this.#options;
    // An earlier start without a renderer may have set them.
    this.#poll?.cancel();
    this.#stopListening();
    this.#poll = clock.every(POLL_MS, () => void this.#look());
    const stopListening = signals.subscribe((signal) => this.#hear(signal));
    gate.on('open', this.#beginAgain);
    this.#stopListening = () => {
      stopListening();
      gate.off('open', this.#beginAgain);
    };
    this.wake();
  }

  /**
   * Starts no more attempts. Running ones may continue for `graceMs`, then they are stopped and their jobs requeued.
   */
  async stop(graceMs: number): Promise<void> {
    this.#renderer = undefined;
    this.#stopListening();
    this.#poll?.cancel();
    this.#stopping.abort();
    this.#options.shortRuns.stop();
    // Without a claim in progress it only reads, and no claim begins without a renderer.
    if (this.#canceled) await this.#dispatching;
    const ended = () => Promise.all([...this.#running.values()].map((attempt) => attempt.ended));
    if (graceMs > 0) await within(this.#options.clock, graceMs, ended());
    this.#stopped.abort();
    for (const attempt of this.#running.values()) attempt.stop('shutdown');
    await ended();
    this.#leases.stop();
    // Only now, because attempts that ended meanwhile may have started a hold, whose timer keeps the process alive.
    this.#hold.end();
    this.#hold.reset();
    await within(this.#options.clock, DISCARD_GRACE_MS, this.#options.discards.settled());
    this.#stopped = new AbortController();
  }

  /** Call it when a job was added. */
  added(): void {
    this.wake();
    this.#options.signals.publish({ kind: 'waiting' });
  }

  /** Call it when a job of the owner became terminal. */
  ended(owner: string): void {
    if (this.#renderer) this.#precedences.note(owner);
    this.wake();
  }

  /** Call it when another process ended a job of the owner. */
  endedElsewhere(owner: string): void {
    if (this.#renderer) this.#precedences.note(owner);
  }

  /** The progress of a running job that is rendered here. */
  progress(jobId: string): RenderProgress | undefined {
    return this.#running.get(jobId)?.progress;
  }

  /** Updates the number of queued jobs, and claims some for idle workers. */
  wake(): void {
    this.#isWoken = true;
    this.#dispatching ??= this.#dispatch();
  }

  readonly #beginAgain = (): void => {
    this.#hold.end();
    this.wake();
  };

  async #dispatch(): Promise<void> {
    while (this.#isWoken) {
      this.#isWoken = false;
      await this.#beginOnce().catch((error: Error) => {
        if (!this.#renderer) return; // The store may be closed by now.
        const againInMs = this.#hold.begin();
        this.#options.logger.error({ err: error, againInMs }, 'Claiming jobs failed; retrying.');
      });
    }
    this.#dispatching = undefined;
  }

  async #beginOnce(): Promise<void> {
    await this.#queueState.refresh();
    const areJobsWaiting = this.#queueState.waiting > 0;
    // With no attempt running, nothing else would end a shortage.
    if (!areJobsWaiting && !this.#hold.active && this.#running.size === 0) this.#hold.reset();
    const renderer = this.#renderer;
    if (!renderer) return;
    const mayClaim = areJobsWaiting && !this.#hold.active && this.#options.gate.isOpen;
    if (mayClaim || this.#options.shortRuns.waiting > 0) await this.#updateLimit();
    if (!this.#areJobsNext) this.#beginShortRun(renderer);
    if (mayClaim && this.#freeOf(renderer).most > 0) await this.#claimFor(renderer);
    // A worker that became free meanwhile is for the job whose turn it is.
    while (this.#renderer === renderer && !this.#isWoken && this.#beginShortRun(renderer));
  }

  async #updateLimit(): Promise<void> {
    const { maxRunningPerOwner: limit } = this.#options.queue;
    this.#maxRunningPerOwner = typeof limit === 'number' ? limit : await limit();
  }

  /** False if none waits, or there is no worker for it. */
  #beginShortRun(renderer: Renders): boolean {
    const { most, mostOfOthers } = this.#freeOf(renderer);
    if (most < 1 || mostOfOthers < 1) return false;
    if (!this.#options.shortRuns.begin(this.#mayBeginShortRun)) return false;
    this.#areJobsNext = this.#queueState.waiting > 0;
    return true;
  }

  readonly #mayBeginShortRun = (owner: string): boolean => {
    const { shortRuns } = this.#options;
    const jobs = [...this.#running.values()].filter(({ claim }) => claim.owner === owner);
    return jobs.length + shortRuns.runningOf(owner) < this.#maxRunningPerOwner;
  };

  /** What runs here counts, too: an owner may run for long before anything ends. */
  #precedenceOf(owner: string): Precedence {
    const ofOwner = [...this.#running.values()].filter(({ claim }) => claim.owner === owner);
    return this.#options.fairness.precedenceOf(
      owner,
      ofOwner.reduce((sumMs, { runningMs }) => sumMs + runningMs, 0),
    );
  }

  async #claimFor(renderer: Renders): Promise<void> {
    const { claims, clock } = this.#options;
    const sinceMs = clock.uptimeMs();
    const canceled = new Set<string>();
    this.#canceled = canceled;
    let claimed: ClaimedJob[];
    try {
      claimed = await claims.claim(this.#worker, {
        wanted: () => this.#wantedFor(renderer),
        maxRunningPerOwner: this.#maxRunningPerOwner,
        qualities: this.#options.qualities,
        maySuspect: ![...this.#running.values()].some(({ isSuspect }) => isSuspect),
        precedenceOf: (owner) => this.#precedenceOf(owner),
        changed: this.#precedences.takeChanged(),
      });
    } finally {
      this.#canceled = undefined;
    }
    for (const { job, claim } of claimed) {
      const { inGoodStanding } = this.#precedenceOf(claim.owner);
      const attempt = new Attempt({ job, claim }, this.#optionsOf(inGoodStanding));
      this.#running.set(claim.jobId, attempt);
      this.#leases.add(claim, sinceMs);
      if (canceled.has(claim.jobId)) attempt.stop('canceled');
      if (this.#stopping.signal.aborted) attempt.stop('shutdown');
      void attempt.begin(renderer).then(() => this.#forget(attempt));
    }
    if (claimed.length === 0) return;
    this.#areJobsNext = false;
    await this.#queueState.refresh();
  }

  /** One worker less when it is the turn of a short run, and one that may run it is free. */
  #wantedFor(renderer: Renders): Wanted {
    const { most, mostOfOthers } = this.#freeOf(renderer);
    const { shortRuns } = this.#options;
    const isKept = mostOfOthers > 0 && !this.#areJobsNext && shortRuns.mayBegin(this.#mayBeginShortRun);
    const kept = isKept ? 1 : 0;
    return { most: most - kept, mostOfOthers: mostOfOthers - kept };
  }

  /**
   * Short runs count as those of others, so that they leave the reserved workers to jobs; so does a job whose owner was
   * in good standing when it began, and has lost that by how long it runs.
   */
  #freeOf({ size }: Renders): Wanted {
    let idle = 0;
    const running = [...this.#running.values()].filter(({ isIdle }) => !isIdle || ++idle > MOST_IDLE);
    const { shortRuns, queue } = this.#options;
    const forAll = Math.max(1, size - queue.reservedWorkers);
    const others = running.filter(({ claim }) => !this.#precedenceOf(claim.owner).inGoodStanding);
    return {
      most: size - running.length - shortRuns.running,
      mostOfOthers: forAll - others.length - shortRuns.running,
    };
  }

  #optionsOf(inGoodStanding: boolean): AttemptOptions {
    const [stopping, stopped] = [this.#stopping.signal, this.#stopped.signal];
    const onIdle = () => this.wake();
    return { ...this.#options, inGoodStanding, hold: this.#hold, stopping, stopped, onIdle };
  }

  #forget(attempt: Attempt): void {
    const { claim } = attempt;
    this.#leases.delete(claim);
    // The job may already have been requeued and claimed by the next worker.
    if (this.#attemptOf(claim) === attempt) this.#running.delete(claim.jobId);
    this.wake();
  }

  #attemptOf({ jobId, token }: Claim): Attempt | undefined {
    const attempt = this.#running.get(jobId);
    return attempt?.claim.token === token ? attempt : undefined;
  }

  #hear(signal: Signal): void {
    if (signal.kind === 'canceled') {
      this.#canceled?.add(signal.jobId);
      this.#running.get(signal.jobId)?.stop('canceled');
    } else if (signal.kind === 'waiting') this.wake();
  }

  /** Checks for changes that no signal reports. */
  async #look(): Promise<void> {
    try {
      if (this.#renderer && this.#queueState.waiting > 0) await this.#precedences.look();
    } catch (error) {
      const message = 'Updating the precedence of owners failed.';
      if (this.#renderer) this.#options.logger.warn({ err: error }, message);
    }
    this.wake();
  }
}
