import { ScenepressError } from '../errors.ts';
import { firstIdAt } from '../ids.ts';
import type { JobQuery } from '../storage/storage.ts';
import { QUALITIES } from './job.ts';

/** A query for jobs by their time of creation, newest first. */
export interface JobListQuery extends JobQuery {
  /** Only jobs that were created at this time (epoch milliseconds) or later. */
  sinceMs?: number;
  /** Only jobs that were created before this time. */
  untilMs?: number;
}

const STATUSES: readonly unknown[] = ['queued', 'running', 'completed', 'failed'];

/** Checks a query, whose parts may come from a request. Error: `invalid_request`. */
export function validJobQuery(query: JobListQuery): JobQuery {
  const { owner, status, quality, limit, before, metadata, sinceMs, untilMs } = query;
  if (owner !== undefined && typeof owner !== 'string') throw invalid('owner must be a string');
  if (before !== undefined && typeof before !== 'string') throw invalid('before must be a jobId');
  if (limit !== undefined && !(Number.isSafeInteger(limit) && limit >= 1))
    throw invalid('limit must be a positive integer');
  if (status !== undefined && !STATUSES.includes(status))
    throw invalid(`status must be one of: ${STATUSES.join(', ')}`);
  if (quality !== undefined && !QUALITIES.includes(quality))
    throw invalid(`quality must be one of: ${QUALITIES.join(', ')}`);
  if (metadata !== undefined && typeof metadata !== 'boolean') throw invalid('metadata must be a boolean');
  for (const [name, time] of Object.entries({ sinceMs, untilMs }))
    if (time !== undefined && !Number.isSafeInteger(time)) throw invalid(`${name} must be an integer`);
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

function invalid(message: string): ScenepressError {
  return new ScenepressError('invalid_request', message);
}
