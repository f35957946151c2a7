import type { Clock } from '../clock.ts';
import type { Logger } from '../logger.ts';
import type { Signals } from '../signals/signals.ts';
import type { Storage } from '../storage/storage.ts';
import type { Discards } from './discards.ts';
import type { JobBook } from './job-book.ts';
import type { EndedJob } from './job-ending.ts';
import type { JobEvents } from './job-events.ts';
import { persistently } from './persistently.ts';
import { withSpareRoom } from './with-spare-room.ts';

export interface CancellationsOptions {
  book: JobBook;
  storage: Storage;
  signals: Signals;
  logger: Logger;
  discards: Discards;
  events: JobEvents;
  clock: Clock;
}

/** Cancels jobs, and sees to it that those whose end was begun come to it. */
export class Cancellations {
  readonly #options: CancellationsOptions;
  #stopped = new AbortController();

  constructor(options: CancellationsOptions) {
    this.#options = options;
  }

  /** Ends a job that waits, or runs: what renders it is told, and not waited for. */
  async cancel(jobId: string): Promise<void> {
    const { book, storage, signals } = this.#options;
    try {
      const ended = await withSpareRoom(() => book.cancel(jobId));
      if (ended) this.#tell(ended);
    } catch (error) {
      // Once it is written down that it ends, it does, however long the ledger takes to answer.
      if ((await storage.getJob(jobId))?.phase !== 'settling') throw error;
      void this.resume(jobId);
    }
    signals.tell({ kind: 'worthless', jobId });
  }

  /** Takes a job that stands between two steps further, until that succeeds or it is stopped. */
  async resume(jobId: string): Promise<void> {
    const { book, clock, logger } = this.#options;
    const ended = await persistently(() => book.resume(jobId), {
      clock,
      signal: this.#stopped.signal,
      logger,
    });
    if (ended) this.#tell(ended);
  }

  /** Tries nothing again; the next start does. */
  stop(): void {
    this.#stopped.abort();
    this.#stopped = new AbortController();
  }

  #tell({ job, orphans }: EndedJob): void {
    this.#options.discards.add(orphans);
    this.#options.events.emit('change', job);
  }
}
