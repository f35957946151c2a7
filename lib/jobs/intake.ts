import { ScenepressError } from '../errors.ts';
import type { JobRecord } from './job.ts';
import type { JobBook, NewJob } from './job-book.ts';

export interface IntakeOptions {
  book: JobBook;
  /** Whether jobs of an owner are taken on. */
  admitsOwner: (owner: string) => Promise<boolean> | boolean;
  /** Throws when another job of an owner is not to be taken on. */
  assertMayAdd: (owner: string) => void;
  /** A job was taken on. */
  onNew: (job: JobRecord) => void;
}

/** Takes jobs on, and knows which ones it is about to. */
export class Intake {
  readonly #options: IntakeOptions;
  readonly #underWay = new Set<Promise<JobRecord>>();

  constructor(options: IntakeOptions) {
    this.#options = options;
  }

  /** The new job, or the one that the same request made before. Errors: as of {@link JobBook.open}; `owner_refused`. */
  async take(newJob: NewJob): Promise<JobRecord> {
    const taking = this.#take(newJob);
    this.#underWay.add(taking);
    try {
      return await taking;
    } finally {
      this.#underWay.delete(taking);
    }
  }

  /** Resolves when each job that it is about to take on is there, or refused. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#underWay);
  }

  async #take(newJob: NewJob): Promise<JobRecord> {
    const { book, assertMayAdd, onNew } = this.#options;
    const { owner } = newJob;
    const { job, repeated } = await book.open(newJob, {
      owner: () => this.#assertAdmitted(owner),
      room: () => assertMayAdd(owner),
    });
    if (!repeated) onNew(job);
    return job;
  }

  async #assertAdmitted(owner: string): Promise<void> {
    if (await this.#options.admitsOwner(owner)) return;
    throw new ScenepressError('owner_refused', 'No jobs of this owner are taken on.');
  }
}
