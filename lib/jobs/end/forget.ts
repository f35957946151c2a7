import assert from 'node:assert/strict';
import type { AssetStore } from '../../assets/asset-store.ts';
import { ScenepressError } from '../../base/errors.ts';
import { isTerminal, type JobRecord, orphanKeysOf, storedKeysOf } from '../../model/job.ts';
import type { FileRemoval } from '../../owner-files/file-removal.ts';
import type { DeliveryRecord } from '../../storage/delivery.ts';
import { pagesOfJobs } from '../../storage/pages-of-jobs.ts';
import type { Storage } from '../../storage/storage.ts';
import type { Transaction } from '../../storage/transaction.ts';
import type { Clock } from '../../time/clock.ts';

/** Replaces the error of a forgotten job, which may quote its code. */
export const FORGOTTEN: string = 'The render failed. The error message was removed together with the code.';

interface Parts {
  storage: Storage;
  assets: AssetStore;
  clock: Clock;
  /** Removes files that only the job had. */
  fileRemoval: Pick<FileRemoval, 'discard'>;
}

/**
 * Erases the content of a terminal job: code, class name, title, tags, star, project, parameters, captions, metadata, webhook URL, bodies and answers, error and
 * artifacts. Cost, times and owner are kept. Pending webhook deliveries are dropped. `storage.purge()` then removes
 * the bytes from the disk.
 */
export async function forgetJob(
  { storage, assets, clock, fileRemoval }: Parts,
  job: JobRecord,
): Promise<JobRecord> {
  const { webhookSecretSealed: _, ...rest } = job;
  const forgotten: JobRecord = {
    ...rest,
    className: '',
    title: null,
    tags: null,
    seed: null,
    params: null,
    formats: null,
    selection: null,
    audio: null,
    starred: null,
    project: null,
    captions: null,
    metadataJson: null,
    webhookUrl: null,
    error: job.phase === 'failed' ? FORGOTTEN : null,
    diagnosis: null,
    traceContext: null,
    forgottenAtMs: job.forgottenAtMs ?? clock.now(),
  };
  // Files first: after the record has been changed, nothing would remove them.
  for (const assetKey of [...storedKeysOf(job), ...orphanKeysOf(job)]) await assets.delete(assetKey);
  const { known, files } = await storage.transaction(async (tx) => {
    await storage.lockOwner(tx, job.owner);
    const files = await storage.forgetJob(tx, forgotten);
    await storage.noteArtifactsRemoved(tx, job.jobId, clock.now());
    const ids = await deliveriesOf(storage, job);
    await forgetDeliveries(storage, tx, ids, clock.now());
    return { known: new Set(ids), files };
  });
  // Deliveries committed concurrently become visible only now; no new ones can follow.
  const late = (await deliveriesOf(storage, job)).filter((id) => !known.has(id));
  if (late.length > 0) await storage.transaction((tx) => forgetDeliveries(storage, tx, late, clock.now()));
  // If one can't be removed, upkeep does it within minutes.
  for (const file of files) await fileRemoval.discard(file);
  return forgotten;
}

/** Error: `conflict` for a job that has not ended. */
export function assertEnded({ jobId, phase }: JobRecord): void {
  if (isTerminal(phase)) return;
  const message = `Job ${jobId} has not ended. Cancel it first, or wait until it ends.`;
  throw new ScenepressError('conflict', message);
}

const PAGE = 100;

/**
 * Forgets all jobs of an owner; unfinished ones are canceled with `cancel` first. Returns their number. Jobs that another
 * process is adding are awaited.
 */
export async function forgetJobsOf(
  owner: string,
  parts: Parts,
  cancel: (jobId: string) => Promise<unknown>,
  signal?: AbortSignal,
): Promise<number> {
  await parts.storage.transaction((tx) => parts.storage.lockOwner(tx, owner));
  let count = 0;
  for await (const page of pagesOfJobs(parts.storage, { owner, limit: PAGE })) {
    for (const { jobId, phase } of page) {
      signal?.throwIfAborted();
      if (!isTerminal(phase)) await cancel(jobId);
      const job = await parts.storage.getJob(jobId);
      assert(job, 'job records are never deleted');
      await forgetJob(parts, job);
    }
    count += page.length;
  }
  return count;
}

async function deliveriesOf({ deliveries }: Storage, { jobId }: JobRecord): Promise<string[]> {
  const all = await deliveries.list({ jobId, limit: Number.MAX_SAFE_INTEGER });
  return all.map(({ deliveryId }) => deliveryId);
}

async function forgetDeliveries(
  storage: Storage,
  tx: Transaction,
  deliveryIds: string[],
  nowMs: number,
): Promise<void> {
  for (const deliveryId of deliveryIds) {
    const delivery = await storage.deliveries.get(deliveryId, tx);
    if (!delivery) continue;
    const { secretSealed: _, ...rest } = delivery;
    // Ends a running attempt, so its result cannot make the delivery due again.
    const attempts = delivery.attempts.map((attempt) =>
      attempt.endedAtMs === null ? { ...attempt, endedAtMs: nowMs, reason: 'interrupted' as const } : attempt,
    );
    const forgotten: DeliveryRecord = {
      ...rest,
      attempts,
      url: new URL(delivery.url).origin,
      dueAtMs: null,
      traceContext: null,
    };
    await storage.deliveries.forget(tx, forgotten);
  }
}
