import { hash } from 'node:crypto';
import { ScenepressError } from '../../base/errors.ts';
import { known } from '../../base/known-options.ts';
import type { EnqueueManyOptions, EnqueueRequest } from '../../model/requests.ts';
import { fingerprintOf, type NewJob, newJobOf } from './new-job.ts';

/** The most jobs that are added together. */
export const MOST_TOGETHER = 100;

/** Validates requests that are added together. Error: `invalid_request`, with the number of the request. */
export function newJobsOf(requests: readonly EnqueueRequest[], options: EnqueueManyOptions = {}): NewJob[] {
  const { idempotency } = known('enqueueMany', options, { signal: true, idempotency: true });
  if (!Array.isArray(requests) || requests.length === 0 || requests.length > MOST_TOGETHER)
    throw invalid(`1 to ${MOST_TOGETHER} requests are added together`);
  const newJobs = requests.map((request, index) => {
    if (request.idempotency) throw invalid(`jobs[${index}]: the idempotency key is that of all requests`);
    try {
      return newJobOf(request);
    } catch (error) {
      throw error instanceof ScenepressError ? invalid(`jobs[${index}]: ${error.message}`, error) : error;
    }
  });
  if (newJobs.some(({ owner }) => owner !== newJobs[0]?.owner))
    throw invalid('all requests have the same owner');
  if (!idempotency) return newJobs;
  const { key, fingerprint = hash('sha256', newJobs.map(fingerprintOf).join()) } = idempotency;
  const [first] = requests;
  // Checks the key and the fingerprint.
  if (first) newJobOf({ ...first, idempotency: { key, fingerprint } });
  // Each job has a key of its own: a request that is repeated finds all of them.
  return newJobs.map((newJob, index) => ({
    ...newJob,
    idempotency: { key: `${index} of ${key}`, fingerprint },
  }));
}

function invalid(message: string, cause?: unknown): ScenepressError {
  return new ScenepressError('invalid_request', message, { cause });
}
