import { ScenepressError } from '../errors.ts';
import type { Gate } from '../gate.ts';
import type { Cancellations } from './cancellations.ts';
import type { JobRecord } from './job.ts';
import { type JobBook, type NewJob, StuckError } from './job-book.ts';
import type { JobEvents } from './job-events.ts';
import type { Owners } from './owners.ts';

export interface IntakeOptions {
  book: JobBook;
  /** Whether jobs of an owner are accepted. */
  admitsOwner: (owner: string) => Promise<boolean> | boolean;
  owners: Owners;
  gate: Gate;
  cancellations: Cancellations;
  events: JobEvents;
}

/** Accepts jobs and tracks the requests in progress. */
export class Intake {
  readonly #options: IntakeOptions;
  readonly #underWay = new Set<Promise<JobRecord>>();

  constructor(options: IntakeOptions) {
    this.#options = options;
  }

  /**
   * Returns the new job, or that of an earlier equal request. Errors: those of {@link JobBook.open}; `owner_refused`.
   */
  async take(newJob: NewJob): Promise<JobRecord> {
    const taking = this.#take(newJob);
    this.#underWay.add(taking);
    try {
      return await taking;
    } finally {
      this.#underWay.delete(taking);
    }
  }

  /** Resolves when all requests in progress have been accepted or rejected. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#underWay);
  }

  async #take(newJob: NewJob): Promise<JobRecord> {
    const { book, owners, gate, events } = this.#options;
    const { owner } = newJob;
    try {
      const { job, repeated } = await book.open(newJob, {
        owner: () => this.#assertAdmitted(owner),
        capacity: () => {
          gate.assertDiskNotFull();
          owners.assertWithinBudget(owner);
        },
      });
      if (!repeated) events.emit('change', job);
      return job;
    } catch (error) {
      if (!(error instanceof StuckError)) throw error;
      void this.#options.cancellations.resume(error.jobId);
      throw error.cause;
    }
  }

  async #assertAdmitted(owner: string): Promise<void> {
    if (await this.#options.admitsOwner(owner)) return;
    throw new ScenepressError('owner_refused', 'Jobs of this owner are not accepted.');
  }
}
