import type { Clock } from '../clock.ts';
import type { JobRecord } from '../jobs/job.ts';
import type { Storage } from '../storage/storage.ts';
import type { AssetStore } from './asset-store.ts';

/** How long artifacts are kept; jobs are kept for good. */
export interface RetentionOptions {
  /** Days since the job's end. Default: without end. */
  maxAgeDays: number;
  /** Bytes of all artifacts together; the oldest go first. Default: without limit. */
  maxTotalBytes: number;
}

export const KEEP_ALL: RetentionOptions = {
  maxAgeDays: Number.POSITIVE_INFINITY,
  maxTotalBytes: Number.POSITIVE_INFINITY,
};

const DAY_MS = 24 * 60 * 60 * 1000;

/** Removes artifacts that are too old or too many. Returns how many jobs lost theirs. */
export async function retain(
  { storage, assets, clock }: { storage: Storage; assets: AssetStore; clock: Clock },
  { maxAgeDays, maxTotalBytes }: RetentionOptions,
): Promise<number> {
  let totalBytes = 0;
  let removed = 0;
  const remove = async ({ jobId, artifacts }: JobRecord) => {
    // The assets first: noted but not removed, they would stay for ever.
    for (const { assetKey } of artifacts) await assets.delete(assetKey);
    await storage.transaction((tx) => storage.noteArtifactsRemoved(tx, jobId, clock.now()));
    removed += 1;
  };
  for await (const job of storage.jobsWithArtifacts()) {
    if (clock.now() - (job.completedAtMs ?? 0) > maxAgeDays * DAY_MS) await remove(job);
    else totalBytes += sizeOf(job);
  }
  if (totalBytes <= maxTotalBytes) return removed;
  // A second time, because a list of all jobs has no place in memory.
  for await (const job of storage.jobsWithArtifacts()) {
    if (totalBytes <= maxTotalBytes) break;
    await remove(job);
    totalBytes -= sizeOf(job);
  }
  return removed;
}

function sizeOf({ artifacts }: JobRecord): number {
  return artifacts.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
}
