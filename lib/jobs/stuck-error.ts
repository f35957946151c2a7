/**
 * Adding a job failed, and so did the rollback, because the ledger or the disk failed: call `JobBook.complete`
 * until it succeeds. `cause`: the first error.
 */
export class StuckError extends Error {
  readonly jobId: string;

  constructor(jobId: string, cause: unknown) {
    super('The job could be neither added nor rolled back.', { cause });
    this.jobId = jobId;
  }
}
