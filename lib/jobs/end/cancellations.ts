import { isScenepressError } from '../../base/errors.ts';
import type { Logger } from '../../base/logger.ts';
import { RECORDING_FAILED } from '../../model/failures.ts';
import type { JobRecord } from '../../model/job.ts';
import type { JobEvents } from '../../model/job-events.ts';
import type { Signals } from '../../storage/signals.ts';
import type { Storage } from '../../storage/storage.ts';
import { retry } from '../../time/backoff.ts';
import type { Clock } from '../../time/clock.ts';
import type { Discards } from './discards.ts';
import type { EndedJob, JobEnding } from './job-ending.ts';

export interface CancellationsOptions {
  ending: Pick<JobEnding, 'cancel' | 'complete' | 'recover'>;
  storage: Storage;
  signals: Signals;
  logger: Logger;
  discards: Discards;
  events: JobEvents;
  clock: Clock;
}

/** Cancels jobs and completes interrupted transitions. */
export class Cancellations {
  readonly #options: CancellationsOptions;
  #stopped = new AbortController();

  constructor(options: CancellationsOptions) {
    this.#options = options;
  }

  /** Cancels a queued or running job. The worker is notified, but not awaited. */
  async cancel(jobId: string): Promise<void> {
    const { ending, storage, signals } = this.#options;
    try {
      const ended = await withSpareSpace(() => ending.cancel(jobId));
      if (ended) this.#tell(ended);
    } catch (error) {
      // The outcome is committed: the cancellation completes when the ledger answers.
      if ((await storage.getJob(jobId))?.phase !== 'settling') throw error;
      void this.complete(jobId);
    }
    signals.publish({ kind: 'canceled', jobId });
  }

  /**
   * Completes an interrupted transition; retries until it succeeds or is stopped. The job, if this made it terminal.
   */
  async complete(jobId: string): Promise<JobRecord | undefined> {
    const { ending, clock, logger } = this.#options;
    const ended = await retry(() => ending.complete(jobId), {
      failed: RECORDING_FAILED,
      clock,
      signal: this.#stopped.signal,
      logger,
    });
    if (ended) this.#tell(ended);
    return ended?.job;
  }

  /** Completes the transitions that an earlier process left unfinished. */
  async recover(): Promise<void> {
    const { ending, discards } = this.#options;
    const { orphans, stuck } = await withSpareSpace(() => ending.recover());
    discards.add(orphans);
    for (const jobId of stuck) void this.complete(jobId);
  }

  /** Stops all retries; the next start resumes them. */
  stop(): void {
    this.#stopped.abort();
    this.#stopped = new AbortController();
  }

  #tell({ job, orphans }: EndedJob): void {
    this.#options.discards.add(orphans);
    this.#options.events.emit('change', job);
  }
}

/**
 * Runs a step that finishes work, and retries it once when the disk is full: by then the reserved space has been
 * released.
 */
async function withSpareSpace<T>(step: () => Promise<T>): Promise<T> {
  try {
    return await step();
  } catch (error) {
    if (!isScenepressError(error, 'storage_full')) throw error;
    return step();
  }
}
