import { ScenepressError } from '../errors.ts';
import type { Gate } from '../gate.ts';
import { InProgress } from '../in-progress.ts';
import type { RenderServiceOptions } from '../render-service-options.ts';
import type { Transaction } from '../storage/storage.ts';
import type { Cancellations } from './cancellations.ts';
import type { JobRecord } from './job.ts';
import type { NewJob } from './job-admission.ts';
import type { JobBook } from './job-book.ts';
import type { JobEvents } from './job-events.ts';
import type { Owners } from './owners.ts';
import type { StoredBytes } from './stored-bytes.ts';
import { StuckError } from './stuck-error.ts';

export interface IntakeOptions {
  book: JobBook;
  /** Whether jobs of an owner are accepted; undefined: those of all owners. */
  admitsOwner: RenderServiceOptions['admitsOwner'];
  owners: Owners;
  storedBytes: StoredBytes;
  gate: Gate;
  cancellations: Cancellations;
  events: JobEvents;
}

/** Accepts jobs and tracks the requests in progress. */
export class Intake {
  readonly #options: IntakeOptions;
  readonly #inProgress = new InProgress();

  constructor(options: IntakeOptions) {
    this.#options = options;
  }

  /**
   * Returns the new job, or that of an earlier equal request. Errors: those of {@link JobBook.add}; `owner_refused`.
   */
  take(newJob: NewJob): Promise<JobRecord> {
    return this.#inProgress.add(this.#take(newJob));
  }

  /** Resolves when all requests in progress have been accepted or rejected. */
  settled(): Promise<void> {
    return this.#inProgress.settled();
  }

  async #take(newJob: NewJob): Promise<JobRecord> {
    const { admitsOwner, book, owners, storedBytes, gate, events } = this.#options;
    const { owner } = newJob;
    const assertAdmitted = async (tx: Transaction) => {
      if (await admitsOwner?.(owner, tx)) return;
      throw new ScenepressError('owner_refused', 'Jobs of this owner are not accepted.');
    };
    let isCounted = false;
    const overLimit = await storedBytes.problemOf(owner);
    try {
      const { job, repeated } = await book.add(newJob, {
        ...(admitsOwner && { owner: assertAdmitted }),
        capacity: () => {
          gate.assertDiskNotFull();
          owners.assertWithinBudget(owner);
          if (overLimit) throw overLimit;
          // Once, though the transaction may be repeated.
          if (!isCounted) owners.assertWithinRate(owner);
          isCounted = true;
        },
      });
      if (!repeated) {
        storedBytes.added(job, newJob.request.code);
        events.emit('change', job);
      }
      return job;
    } catch (error) {
      if (!(error instanceof StuckError)) throw error;
      void this.#options.cancellations.complete(error.jobId);
      throw error.cause;
    }
  }
}
