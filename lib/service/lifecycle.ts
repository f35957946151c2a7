import { abortable } from '../async/abortable.ts';
import { InProgress } from '../async/in-progress.ts';
import { SingleFlight } from '../async/single-flight.ts';
import { ScenepressError } from '../base/errors.ts';
import { ClaimedAssets } from '../cluster/claimed-assets.ts';
import { explained } from '../files/folder-faults.ts';
import { spareBytesFor } from '../files/spare-space.ts';
import { isoTime } from '../time/clock.ts';
import type { ServiceParts } from './service-parts.ts';
import type { ServiceState } from './service-status.ts';
import { closeStores, openStores } from './service-stores.ts';

/** A start in progress. */
interface Start {
  withWorkers: boolean;
  /** Callers that wait for it and have not been aborted. */
  callers: number;
  cancel: AbortController;
  ended: Promise<void>;
}

/** Starts and stops the components of a service. Calls may overlap. */
export class Lifecycle {
  readonly #parts: ServiceParts;
  #state: ServiceState = 'stopped';
  #start: Start | undefined;
  /** Drains and stops. */
  readonly #endings = new InProgress();
  /** The number of drains and stops so far. */
  #endingCount = 0;
  readonly #closing = new SingleFlight();

  constructor(parts: ServiceParts) {
    this.#parts = parts;
  }

  get state(): ServiceState {
    return this.#state;
  }

  /** Whether jobs are accepted. */
  get isAccepting(): boolean {
    return this.#state === 'running' || this.#state === 'without workers';
  }

  /**
   * Starts, or waits for the start in progress. Waits for a drain or stop in progress first; a later one rejects it. A
   * start is aborted when the signals of all its callers are.
   */
  async start({
    withWorkers,
    signal,
  }: {
    withWorkers: boolean;
    signal?: AbortSignal | undefined;
  }): Promise<void> {
    const endingCount = this.#endingCount;
    for (;;) {
      if (this.#endingCount !== endingCount) throw stopped();
      if (this.#state === 'running' || (this.#state === 'without workers' && !withWorkers)) return;
      const current = this.#start;
      if (current?.cancel.signal.aborted) await abortable(settled(current.ended), signal);
      else if (this.#endings.size > 0) await abortable(this.#endings.settled(), signal);
      else {
        const start = current ?? this.#begin(withWorkers);
        await join(start, signal);
        if (start.withWorkers || !withWorkers) return;
      }
    }
  }

  /** Stops what accepts, renders and sends. A start in progress rejects with `not_running`. */
  drain(graceMs: number): Promise<void> {
    return this.#ending(this.#drain(graceMs));
  }

  /** Drains, then closes everything. */
  stop(graceMs: number): Promise<void> {
    return this.#ending(this.#drain(graceMs).then(() => this.#close()));
  }

  #ending(ending: Promise<void>): Promise<void> {
    this.#endingCount += 1;
    return this.#endings.add(ending);
  }

  #begin(withWorkers: boolean): Start {
    const cancel = new AbortController();
    const ended = this.#run(withWorkers, cancel.signal);
    this.#start = { withWorkers, callers: 0, cancel, ended };
    return this.#start;
  }

  async #run(withWorkers: boolean, signal: AbortSignal): Promise<void> {
    const steps = new InProgress();
    const step = async <T>(work: () => T | Promise<T>): Promise<T> => {
      signal.throwIfAborted();
      return abortable(steps.add(Promise.resolve(work())), signal);
    };
    const { dataFolder, storeWatch, upkeep } = this.#parts;
    try {
      // After a drain without a stop, something is still open.
      if (this.#state === 'stopping') await this.#close();
      this.#state = 'starting';
      await this.#open({ withWorkers, step, signal });
      signal.throwIfAborted();
      this.#state = withWorkers ? 'running' : 'without workers';
      if (withWorkers) storeWatch.start();
      if (withWorkers && this.#parts.roles.includes('upkeep')) upkeep.start();
    } catch (error) {
      await this.#undo(steps);
      if (signal.aborted) throw signal.reason;
      throw dataFolder ? explained(error, dataFolder.path) : error;
    } finally {
      this.#start = undefined;
    }
  }

  async #open({
    withWorkers,
    step,
    signal,
  }: {
    withWorkers: boolean;
    step: <T>(work: () => T | Promise<T>) => Promise<T>;
    signal: AbortSignal;
  }): Promise<void> {
    const { assets, cancellations, dataFolder, dispatcher, gate, logger } = this.#parts;
    const { fairness, renderer, roles, snapshots, webhooks, workers } = this.#parts;
    await openStores(this.#parts, step);
    await step(() => this.#parts.uploadFolder.start());
    if (!withWorkers) return step(() => dispatcher.start(undefined));
    // Before anything is rendered, recovered or removed.
    if (assets instanceof ClaimedAssets) await step(() => assets.claim());
    await dataFolder?.spareSpace.start({ sizeBytes: spareBytesFor(workers), logger });
    // Before the workers, because it rejects invalid options.
    webhooks.assertOptions();
    const isWorker = roles.includes('worker');
    if (isWorker) await renderer.start({ allowTraversal: async () => dataFolder?.allowTraversal(), signal });
    if (gate.pausedAtMs !== null)
      logger.warn(
        { queuePausedAt: isoTime(gate.pausedAtMs) },
        'The queue is paused: no render starts until it is resumed.',
      );
    await step(() => cancellations.recover());
    await step(() =>
      // Repeated every few minutes: the ledger or the store may be away.
      snapshots.recover({ isStart: true }).catch((err: unknown) => {
        logger.warn({ err }, 'Snapshots of an earlier process could not be completed; trying again later.');
      }),
    );
    await step(() => fairness.restore());
    await step(() => dispatcher.start(isWorker ? renderer : undefined));
    if (roles.includes('sender')) webhooks.start();
  }

  /** Closes what a start that failed or was aborted has opened. */
  async #undo(steps: InProgress): Promise<void> {
    await this.#endParts(0);
    await this.#close();
    if (steps.size === 0) return;
    // A step that was not awaited may have opened something since.
    await steps.settled();
    await this.#endParts(0);
    await this.#close();
  }

  async #drain(graceMs: number): Promise<void> {
    if (this.#state !== 'stopped') this.#state = 'stopping';
    const start = this.#start;
    start?.cancel.abort(stopped());
    if (start) await settled(start.ended);
    await this.#endParts(graceMs);
  }

  async #endParts(graceMs: number): Promise<void> {
    const { cancellations, clock, dispatcher, renderer, upkeep, webhooks } = this.#parts;
    await upkeep.stop();
    const watchStopped = renderer.stopWatch();
    const until = clock.uptimeMs() + graceMs;
    await dispatcher.stop(graceMs);
    cancellations.stop();
    await webhooks.stop({ graceMs: Math.max(0, until - clock.uptimeMs()) });
    await watchStopped;
  }

  #close(): Promise<void> {
    return this.#closing.run(() => this.#closeParts());
  }

  async #closeParts(): Promise<void> {
    const { ends, files, followers, renderer, sentFiles, shares, snapshots, uploadFolder } = this.#parts;
    await renderer.stop();
    await snapshots.settled();
    await files.settled();
    await sentFiles.settled();
    await shares.settled();
    await uploadFolder.stop().catch(() => {});
    await closeStores(this.#parts);
    ends.stop();
    followers.stop();
    this.#parts.searches.stop();
    this.#parts.sceneSearches.stop();
    this.#state = 'stopped';
  }
}

/** Waits for a start. Rejects when `signal` is aborted; with the last caller, when the start has been undone. */
async function join(start: Start, signal: AbortSignal | undefined): Promise<void> {
  const left = Promise.withResolvers<never>();
  const leave = () => {
    start.callers -= 1;
    if (start.callers === 0) start.cancel.abort(signal?.reason);
    else left.reject(signal?.reason);
  };
  start.callers += 1;
  if (signal?.aborted) leave();
  signal?.addEventListener('abort', leave, { once: true });
  try {
    await Promise.race([start.ended, left.promise]);
  } finally {
    signal?.removeEventListener('abort', leave);
  }
}

function settled(promise: Promise<void>): Promise<void> {
  return promise.catch(() => {});
}

function stopped(): ScenepressError {
  return new ScenepressError('not_running', 'The service was stopped before it had started.');
}
