import { isScenepressError } from '../base/errors.ts';
import type { JobRecord } from '../model/job.ts';
import type { SqlTransaction } from '../storage/sql.ts';
import { textKeyOf } from './row-format.ts';
import { JOBS } from './row-formats.ts';
import type { TextKey } from './text-keys.ts';

export interface StoredJob {
  job: JobRecord;
  textKey: TextKey;
}

/** The jobs that transactions have locked, and not changed since. */
export class LockedJobs {
  readonly #jobs = new WeakMap<SqlTransaction, Map<string, StoredJob>>();

  /** Locks a job. Reads it again only after a change. */
  async lock(tx: SqlTransaction, jobId: string): Promise<StoredJob | undefined> {
    const known = this.#in(tx).get(jobId);
    if (known) return known;
    const row = await tx.getForUpdate(JOBS.byKey, jobId);
    return row && this.#keep(tx, row);
  }

  /** Keeps a row that is locked. If it is damaged, {@link lock} reports it. */
  keep(tx: SqlTransaction, row: object): void {
    try {
      this.#keep(tx, row);
    } catch (error) {
      if (!isScenepressError(error, 'storage_damaged')) throw error;
    }
  }

  /** Called when the job is changed. */
  drop(tx: SqlTransaction, jobId: string): void {
    this.#in(tx).delete(jobId);
  }

  #keep(tx: SqlTransaction, row: object): StoredJob {
    const stored = { job: JOBS.record(row), textKey: textKeyOf(row) };
    this.#in(tx).set(stored.job.jobId, stored);
    return stored;
  }

  #in(tx: SqlTransaction): Map<string, StoredJob> {
    const known = this.#jobs.get(tx) ?? new Map<string, StoredJob>();
    this.#jobs.set(tx, known);
    return known;
  }
}
