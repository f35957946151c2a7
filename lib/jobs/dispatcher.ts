import type { EventEmitter } from 'node:events';
import type { Timer } from '../clock.ts';
import type { Gate } from '../gate.ts';
import { randomId } from '../ids.ts';
import type { Claim } from '../queue/queue.ts';
import type { QueueOptions } from '../queue/queue-options.ts';
import type { RenderProgress } from '../render/run/render-task.ts';
import type { Signal, Signals } from '../signals/signals.ts';
import { within } from '../within.ts';
import { Attempt, type AttemptOptions, type Renders } from './attempt.ts';
import { Backlog } from './backlog.ts';
import { BeginHold } from './begin-hold.ts';
import { Leases } from './leases.ts';
import type { Owners } from './owners.ts';
import { Precedences } from './precedences.ts';

/** A stop waits so long for what is still to be removed. */
const DISCARD_GRACE_MS = 5_000;
/** Signals may get lost, suspects wait for their time, and precedences change as hours pass. */
const POLL_MS = 2_000;

type Given = 'inGoodStanding' | 'hold' | 'stopping' | 'stopped';

export interface DispatcherOptions extends Omit<AttemptOptions, Given> {
  signals: Signals;
  queue: QueueOptions;
  /** A {@link Gate}. */
  gate: EventEmitter<{ open: [] }> & { readonly isOpen: boolean };
  owners: Pick<Owners, 'precedenceOf'>;
}

/** Claims jobs that wait for workers that are free, and sees each attempt to its end. */
export class Dispatcher {
  readonly #options: DispatcherOptions;
  readonly #backlog: Backlog;
  readonly #leases: Leases;
  readonly #hold: BeginHold;
  /** Another one in each life: what an earlier one left belongs to no one. */
  #worker = randomId('worker');
  #renderer: Renders | undefined;
  /** By job. */
  readonly #running = new Map<string, Attempt>();
  readonly #precedences: Precedences;
  #isWoken = false;
  #dispatching: Promise<void> | undefined;
  /** Jobs that were canceled while claims were being made. */
  readonly #worthless = new Set<string>();
  #poll: Timer | undefined;
  #stopListening = () => {};
  /** Aborted when a stop begins. */
  #stopping = new AbortController();
  /** Aborted when a stop ends what still runs. */
  #stopped = new AbortController();

  constructor(options: DispatcherOptions) {
    this.#options = options;
    const { storage, book, owners, clock, logger } = options;
    this.#hold = new BeginHold(clock, () => this.wake());
    this.#backlog = new Backlog(storage.queue);
    this.#precedences = new Precedences(storage.queue, owners);
    this.#leases = new Leases({
      renew: (claims) => book.claims.renew(claims),
      isShared: storage.isShared,
      onWorthless: (claim) => this.#attemptOf(claim)?.stop('worthless'),
      onCutOff: (claim) => this.#attemptOf(claim)?.stop('cut off'),
      clock,
      logger,
    });
  }

  /** What it claims as: it sees to these claims itself. */
  get worker(): string {
    return this.#worker;
  }

  get queued(): number {
    return this.#backlog.waiting;
  }

  /** When the job that has waited longest was made, in epoch milliseconds; null when none waits. */
  get oldestQueuedMs(): number | null {
    return this.#backlog.oldestMs;
  }

  get running(): number {
    return this.#running.size;
  }

  /** Jobs wait because the machine, or the service's share of it, is short of something. */
  get isShortage(): boolean {
    return this.#hold.isShortage;
  }

  /** Gives the jobs that wait to a renderer that is warm. Without one they are only counted. */
  async start(renderer: Renders | undefined): Promise<void> {
    this.#stopping = new AbortController();
    this.#worker = randomId('worker');
    await this.#backlog.refresh();
    this.#renderer = renderer;
    this.#leases.start();
    const { clock, gate, signals } = this.#options;
    this.#poll = clock.every(POLL_MS, () => void this.#look());
    const stopListening = signals.listen((signal) => this.#hear(signal));
    gate.on('open', this.#beginAgain);
    this.#stopListening = () => {
      stopListening();
      gate.off('open', this.#beginAgain);
    };
    this.wake();
  }

  /** Begins no more attempts; running ones may go on for `graceMs`, then they are ended and their jobs wait again. */
  async stop(graceMs: number): Promise<void> {
    this.#renderer = undefined;
    this.#stopListening();
    this.#poll?.cancel();
    this.#stopping.abort();
    this.#endHold();
    await this.#dispatching;
    const ended = () => Promise.all([...this.#running.values()].map((attempt) => attempt.ended));
    if (graceMs > 0) await within(this.#options.clock, graceMs, ended());
    this.#stopped.abort();
    for (const attempt of this.#running.values()) attempt.stop('shutdown');
    await ended();
    this.#leases.stop();
    // Attempts that ended meanwhile may have begun it again; it would keep the process running.
    this.#endHold();
    await within(this.#options.clock, DISCARD_GRACE_MS, this.#options.discards.settled());
    this.#stopped = new AbortController();
  }

  /** A job was made. */
  added(): void {
    this.#refresh();
    this.#options.signals.tell({ kind: 'waiting' });
  }

  /** A job of an owner is over, however it ended. */
  ended(owner: string): void {
    if (this.#renderer) this.#precedences.note(owner);
    this.#refresh();
  }

  /** How far a running job is. */
  progress(jobId: string): RenderProgress | undefined {
    return this.#running.get(jobId)?.progress;
  }

  /** Looks for jobs that wait, for the workers that are free. */
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
      await this.#claimOnce().catch((error: Error) => {
        if (!this.#renderer) return; // The store may be closed by now.
        const againInMs = this.#hold.begin();
        this.#options.logger.error({ err: error, againInMs }, 'No jobs could be claimed; trying again.');
      });
    }
    this.#dispatching = undefined;
  }

  async #claimOnce(): Promise<void> {
    await this.#backlog.refresh();
    if (this.#backlog.waiting === 0) {
      // No attempt would show that a shortage is over.
      if (!this.#hold.active && this.#running.size === 0) this.#hold.reset();
      return;
    }
    const renderer = this.#renderer;
    if (!renderer || this.#running.size >= renderer.size) return;
    if (!this.#hold.active && this.#options.gate.isOpen) await this.#claimFor(renderer);
  }

  async #claimFor(renderer: Renders): Promise<void> {
    const { book, clock, queue, owners } = this.#options;
    const running = [...this.#running.values()];
    const forAll = Math.max(1, renderer.size - queue.reservedWorkers);
    const sinceMs = clock.uptimeMs();
    this.#worthless.clear();
    const claimed = await book.claims.claim(this.#worker, {
      most: renderer.size - running.length,
      mostOfOthers: forAll - running.filter(({ inGoodStanding }) => !inGoodStanding).length,
      maxRunningPerOwner: queue.maxRunningPerOwner,
      maySuspect: !running.some(({ isSuspect }) => isSuspect),
      precedenceOf: (owner) => owners.precedenceOf(owner),
      changed: this.#precedences.takeChanged(),
    });
    for (const { job, claim } of claimed) {
      const { inGoodStanding } = owners.precedenceOf(claim.owner);
      const attempt = new Attempt({ job, claim }, this.#optionsOf(inGoodStanding));
      this.#running.set(claim.jobId, attempt);
      this.#leases.add(claim, sinceMs);
      if (this.#worthless.has(claim.jobId)) attempt.stop('worthless');
      attempt.begin(renderer, () => this.#forget(attempt));
    }
    if (claimed.length > 0) await this.#backlog.refresh();
  }

  #optionsOf(inGoodStanding: boolean): AttemptOptions {
    const [stopping, stopped] = [this.#stopping.signal, this.#stopped.signal];
    return { ...this.#options, inGoodStanding, hold: this.#hold, stopping, stopped };
  }

  #forget(attempt: Attempt): void {
    const { claim } = attempt;
    this.#leases.delete(claim);
    // Waiting again, the job may have been given to the next worker already.
    if (this.#attemptOf(claim) === attempt) this.#running.delete(claim.jobId);
    this.wake();
  }

  #attemptOf({ jobId, token }: Claim): Attempt | undefined {
    const attempt = this.#running.get(jobId);
    return attempt?.claim.token === token ? attempt : undefined;
  }

  #hear(signal: Signal): void {
    if (signal.kind === 'worthless') {
      this.#worthless.add(signal.jobId);
      this.#running.get(signal.jobId)?.stop('worthless');
    } else this.wake();
  }

  /** What no signal tells of. */
  async #look(): Promise<void> {
    try {
      if (this.#renderer && this.#backlog.waiting > 0) await this.#precedences.look();
    } catch (error) {
      const message = 'The owners of jobs that wait could not be looked at.';
      if (this.#renderer) this.#options.logger.warn({ err: error }, message);
    }
    this.wake();
  }

  #refresh(): void {
    this.#backlog.refresh().catch((error: unknown) => {
      if (this.#renderer)
        this.#options.logger.warn({ err: error }, 'The queue could not be asked what waits.');
    });
  }

  #endHold(): void {
    this.#hold.end();
    this.#hold.reset();
  }
}
