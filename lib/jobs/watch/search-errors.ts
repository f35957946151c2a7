import Joi from 'joi';
import { COUNT, checked, type Schemas } from '../../base/checked.ts';
import { type Job, jobOf } from '../../model/job.ts';
import type { JobListQuery } from '../../model/job-list-query.ts';
import type { Storage } from '../../storage/storage.ts';
import { JOB_QUERY, validJobQuery } from './valid-job-query.ts';

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
const SCHEMA = Joi.object<ErrorSearch & { limit: number; mostExamined: number }>({
  ...QUERY,
  text: Joi.string().allow('').required(),
  limit: COUNT.default(50),
  mostExamined: COUNT.default(1000),
  signal: Joi.any(),
} satisfies Schemas<ErrorSearch>);
/** Jobs that are in memory at the same time. */
const PAGE = 100;

/** See {@link RenderService.searchErrors}. */
export async function searchErrors(
  storage: Pick<Storage, 'listJobs'>,
  search: ErrorSearch,
): Promise<ErrorSearchResult> {
  const { text, limit, mostExamined, signal, ...query } = checked('searchErrors', search, SCHEMA);
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
