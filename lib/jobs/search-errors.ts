import { ScenepressError } from '../errors.ts';
import { known, type Names } from '../known-options.ts';
import { checkCount } from '../query-checks.ts';
import type { Storage } from '../storage/storage.ts';
import { type Job, jobOf } from './job.ts';
import { JOB_QUERY, type JobListQuery, validJobQuery } from './job-list-query.ts';

/** A search for failed jobs by the text of their error. */
export interface ErrorSearch extends Omit<JobListQuery, 'status'> {
  /** Contained in the error, in any case. */
  text: string;
  /** Maximum number of jobs that are read. Default 1000. */
  mostExamined?: number;
  /** Aborts the search. */
  signal?: AbortSignal;
}

/** Failed jobs that match, newest first. */
export interface ErrorSearchResult {
  /** Newest first. */
  jobs: Job[];
  /** The number of failed jobs that were read. */
  examined: number;
  /** Continues as `before` of another search; null when all were read. */
  next: string | null;
}

const { status: _, ...QUERY } = JOB_QUERY;
const NAMES: Names<ErrorSearch> = { ...QUERY, text: true, mostExamined: true, signal: true };
const DEFAULT_LIMIT = 50;
const MOST_EXAMINED = 1000;
/** Jobs that are in memory at the same time. */
const PAGE = 100;

/** See {@link RenderService.searchErrors}. */
export async function searchErrors(
  storage: Pick<Storage, 'listJobs'>,
  search: ErrorSearch,
): Promise<ErrorSearchResult> {
  const {
    text,
    limit = DEFAULT_LIMIT,
    mostExamined = MOST_EXAMINED,
    signal,
    ...query
  } = known('searchErrors', search, NAMES);
  if (typeof text !== 'string') throw new ScenepressError('invalid_request', 'text must be a string');
  checkCount('limit', limit);
  checkCount('mostExamined', mostExamined);
  const wanted = text.toLowerCase();
  const jobs: Job[] = [];
  let examined = 0;
  let { before } = validJobQuery(query);
  while (examined < mostExamined) {
    signal?.throwIfAborted();
    const most = Math.min(PAGE, mostExamined - examined);
    const failed = await storage.listJobs({
      ...validJobQuery(query),
      status: 'failed',
      ...(before !== undefined && { before }),
      limit: most,
    });
    for (const record of failed) {
      examined += 1;
      before = record.jobId;
      if (record.error?.toLowerCase().includes(wanted)) jobs.push(jobOf(record));
      if (jobs.length === limit) return { jobs, examined, next: before };
    }
    if (failed.length < most) return { jobs, examined, next: null };
  }
  return { jobs, examined, next: before ?? null };
}
