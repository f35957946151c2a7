import type { JobStatus } from './job.ts';
import type { Quality } from './qualities.ts';

/** A query for jobs, newest first. */
export interface JobQuery {
  /** Only those of this owner. */
  owner?: string;
  /** Only those with this status. */
  status?: JobStatus;
  /** Only those of this quality. */
  quality?: Quality;
  /** True: only jobs that were canceled; false: only others. */
  canceled?: boolean;
  /** Maximum number of jobs; default 50. */
  limit?: number;
  /** Only jobs older than this one: the last `jobId` of the previous page. */
  before?: string;
  /** Only jobs whose ids sort behind it. */
  after?: string;
  /**
   * Whether the jobs have their metadata, which may be 200 KiB each; default true. False: their metadata is null, and
   * that of few jobs is in memory at the same time.
   */
  metadata?: boolean;
}

/** A query for the number of jobs. */
export interface JobCountQuery {
  /** Only those of this owner. */
  owner?: string;
  /** Only jobs whose ids sort behind it. */
  after: string;
  /** True: only jobs that were canceled; false: only others. */
  canceled?: boolean;
  /** The largest number of each status that is counted. Default: no limit. */
  limit?: number;
}

/** A query for jobs by their time of creation, newest first. */
export interface JobListQuery extends JobQuery {
  /** Only jobs that were created at this time (epoch milliseconds) or later. */
  sinceMs?: number;
  /** Only jobs that were created before this time. */
  untilMs?: number;
}
