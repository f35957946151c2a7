import assert from 'node:assert/strict';
import { abortable } from '../../async/abortable.ts';
import { type Job, jobOf } from '../../model/job.ts';
import type { RenderAgainOptions } from '../../model/requests.ts';
import { findJob } from '../../storage/find-job.ts';
import type { Storage } from '../../storage/storage.ts';
import type { Acceptance } from './acceptance.ts';
import type { NewJob } from './new-job.ts';
import { copyOf } from './render-again.ts';

interface Parts {
  storage: Pick<Storage, 'getJob' | 'readSource'>;
  acceptance: Pick<Acceptance, 'acceptAll'>;
  webhooks: {
    /** Makes sure that webhooks can be signed. */
    prepare(secret?: string): Promise<void>;
    secrets: { decrypt(sealed: string): Promise<string> };
  };
}

/** Enqueues jobs of one owner, all or none. `signal`: prevents jobs that are not yet being stored. */
export async function enqueueAll(
  { storage, acceptance, webhooks }: Parts,
  newJobs: readonly NewJob[],
  signal?: AbortSignal,
): Promise<Job[]> {
  for (const { earlierJobId, owner, webhookUrl, webhookSecret } of newJobs) {
    if (earlierJobId !== undefined) await findJob(storage, earlierJobId, owner);
    if (webhookUrl !== null) await abortable(webhooks.prepare(webhookSecret), signal);
  }
  signal?.throwIfAborted();
  return (await acceptance.acceptAll(newJobs)).map(jobOf);
}

/** Enqueues a job. `signal`: as of {@link enqueueAll}. */
export async function enqueueOne(parts: Parts, newJob: NewJob, signal?: AbortSignal): Promise<Job> {
  const [job] = await enqueueAll(parts, [newJob], signal);
  assert(job, 'a job for each request');
  return job;
}

/** Enqueues a copy of an earlier job. */
export async function enqueueAgain(
  parts: Parts,
  jobId: string,
  { owner, ...changed }: RenderAgainOptions,
): Promise<Job> {
  return enqueueOne(parts, await copyOf(await findJob(parts.storage, jobId, owner), parts, changed));
}
