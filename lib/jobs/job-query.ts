import { ScenepressError } from '../errors.ts';
import type { JobQuery } from '../storage/storage.ts';

const STATUSES: readonly unknown[] = ['queued', 'running', 'completed', 'failed'];

/** Checks a query, whose parts may come from a request. Error: `invalid_request`. */
export function validJobQuery(query: JobQuery): JobQuery {
  const { owner, status, limit, before } = query;
  if (owner !== undefined && typeof owner !== 'string') throw invalid('owner must be a string');
  if (before !== undefined && typeof before !== 'string') throw invalid('before must be a jobId');
  if (limit !== undefined && !(Number.isSafeInteger(limit) && limit >= 1))
    throw invalid('limit must be a positive integer');
  if (status !== undefined && !STATUSES.includes(status))
    throw invalid(`status must be one of: ${STATUSES.join(', ')}`);
  return query;
}

function invalid(message: string): ScenepressError {
  return new ScenepressError('invalid_request', message);
}
