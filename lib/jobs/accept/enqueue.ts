import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { abortable } from '../../async/abortable.ts';
import { type Job, jobOf } from '../../model/job.ts';
import type { RenderAgainOptions } from '../../model/requests.ts';
import type { Sent, SentFiles } from '../../owner-files/sent-files.ts';
import { findJob } from '../../storage/find-job.ts';
import type { Storage } from '../../storage/storage.ts';
import type { Acceptance } from './acceptance.ts';
import type { NewJob } from './new-job.ts';
import { copyOf } from './render-again.ts';

interface Parts {
  storage: Pick<Storage, 'getJob' | 'readSource' | 'scenes'>;
  acceptance: Pick<Acceptance, 'acceptAll'>;
  sentFiles: Pick<SentFiles, 'with'>;
  webhooks: {
    /** Makes sure that webhooks can be signed. */
    prepare(secret?: string): Promise<void>;
    secrets: { decrypt(sealed: string): Promise<string> };
  };
}

/**
 * Enqueues jobs of one owner, all or none, when their files have been received. `signal`: prevents jobs that are not yet
 * being stored.
 */
export function enqueueAll(parts: Parts, newJobs: readonly NewJob[], signal?: AbortSignal): Promise<Job[]> {
  const given = newJobs.map((newJob) => newJob.given);
  const enqueue = (sent: (Sent | undefined)[]) =>
    enqueueReceived(
      parts,
      newJobs.map((newJob, index) => withSent(newJob, sent[index])),
      signal,
    );
  return parts.sentFiles.with(newJobs[0]?.owner ?? '', given, enqueue, signal);
}

/** A job with what came with its request, by which requests differ, too. */
function withSent({ given: _, ...newJob }: NewJob, received: Sent | undefined): NewJob {
  if (!received) return newJob;
  const { files, sent, digest } = received;
  const { idempotency } = newJob;
  const fingerprint = hash('sha256', `${idempotency?.fingerprint} ${digest}`);
  return { ...newJob, files, sent, ...(idempotency && { idempotency: { ...idempotency, fingerprint } }) };
}

async function enqueueReceived(
  { storage, acceptance, webhooks }: Parts,
  newJobs: readonly NewJob[],
  signal: AbortSignal | undefined,
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

/** Enqueues a copy of an earlier job. That of a version becomes a version of the same scene. */
export async function enqueueAgain(
  parts: Parts,
  jobId: string,
  { owner, ...changed }: RenderAgainOptions,
): Promise<Job> {
  const copy = await copyOf(await findJob(parts.storage, jobId, owner), parts, changed);
  const version = await parts.storage.scenes.versionOf(jobId);
  if (!version) return enqueueOne(parts, copy);
  const { sceneId, revision } = version;
  const scene = { sceneId, revision: Object.keys(changed.changes ?? {}).length > 0 ? null : revision };
  return enqueueOne(parts, { ...copy, scene });
}
