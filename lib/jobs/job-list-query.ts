import { firstIdAt } from '../ids.ts';
import { known, type Names } from '../known-options.ts';
import { QUALITY_NAMES, type Quality } from '../qualities.ts';
import { checkBoolean, checkCount, checkInteger, checkOneOf, checkText } from '../query-checks.ts';
import type { JobStatus } from './job.ts';

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

export const JOB_QUERY: Names<JobListQuery> = {
  owner: true,
  status: true,
  quality: true,
  canceled: true,
  limit: true,
  before: true,
  after: true,
  metadata: true,
  sinceMs: true,
  untilMs: true,
};

const STATUSES: readonly unknown[] = ['queued', 'running', 'completed', 'failed'];

/** Checks a query, whose parts may come from a request. Error: `invalid_request`. */
export function validJobQuery(query: JobListQuery): JobQuery {
  const { owner, status, quality, canceled, limit, before, after, metadata, sinceMs, untilMs } = known(
    'A query for jobs',
    query,
    JOB_QUERY,
  );
  checkText('owner', owner);
  checkText('before', before, 'a jobId');
  checkText('after', after, 'a jobId');
  checkCount('limit', limit);
  checkOneOf('status', status, STATUSES);
  checkOneOf('quality', quality, QUALITY_NAMES);
  checkBoolean('canceled', canceled);
  checkBoolean('metadata', metadata);
  checkInteger('sinceMs', sinceMs);
  checkInteger('untilMs', untilMs);
  return withoutTimes(query);
}

/** Ids sort by time, so times become limits of ids. */
function withoutTimes({ sinceMs, untilMs, ...query }: JobListQuery): JobQuery {
  const untilId = untilMs === undefined ? undefined : firstIdAt(untilMs);
  // `sort` leaves undefined to the end.
  const [earlier] = [query.before, untilId].sort();
  return {
    ...query,
    ...(earlier !== undefined && { before: earlier }),
    ...(sinceMs !== undefined && { after: firstIdAt(sinceMs) }),
  };
}

/** The owner of a call. Error: `invalid_request`. */
export function validOwner(owner: string): string {
  checkText('owner', owner ?? null);
  return owner;
}
