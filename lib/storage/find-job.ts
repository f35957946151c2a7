import { ScenepressError } from '../base/errors.ts';
import { isStorableText } from '../base/storable-text.ts';
import type { JobRecord } from '../model/job.ts';
import type { Storage } from './storage.ts';

/** The record of a visible job. Error: `not_found` when it does not exist or has another owner. */
export async function findJob(
  storage: Pick<Storage, 'getJob'>,
  jobId: string,
  owner?: string,
): Promise<JobRecord> {
  const job = isStorableText(jobId) ? await storage.getJob(jobId) : undefined;
  if (!job || job.phase === 'reserving' || (owner !== undefined && job.owner !== owner)) {
    throw new ScenepressError('not_found', 'There is no such job.');
  }
  return job;
}
