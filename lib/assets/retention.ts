import { type JobRecord, storedKeysOf } from '../model/job.ts';
import type { Storage } from '../storage/storage.ts';
import type { Clock } from '../time/clock.ts';
import type { AssetStore } from './asset-store.ts';

/** How long artifacts are kept. Jobs are kept forever. */
export interface RetentionOptions {
  /** Days since the job's end, more than 0. Default: unlimited. */
  maxAgeDays: number;
  /** Total bytes of all artifacts, more than 0; the oldest are removed first. Default: unlimited. */
  maxTotalBytes: number;
}

export const KEEP_ALL: RetentionOptions = {
  maxAgeDays: Number.POSITIVE_INFINITY,
  maxTotalBytes: Number.POSITIVE_INFINITY,
};

const DAY_MS = 24 * 60 * 60 * 1000;
const MOST_NAMED = 5;
/** Failures after which a run is aborted. */
const MOST_REFUSALS = 100;

/**
 * Removes artifacts beyond the limits. Returns the number of affected jobs. When some cannot be removed, it continues
 * with the others and rejects at the end.
 */
export async function retain(
  { storage, assets, clock }: { storage: Storage; assets: AssetStore; clock: Clock },
  { maxAgeDays, maxTotalBytes }: RetentionOptions,
): Promise<number> {
  let totalBytes = 0;
  let removed = 0;
  const kept = new Map<string, unknown>();
  const remove = async (job: JobRecord): Promise<boolean> => {
    const { jobId } = job;
    try {
      // Assets first: after the job is marked, nothing would remove them.
      for (const assetKey of storedKeysOf(job)) await assets.delete(assetKey);
    } catch (error) {
      if (kept.size === MOST_REFUSALS) throw error;
      kept.set(jobId, error);
      return false;
    }
    await storage.transaction((tx) => storage.noteArtifactsRemoved(tx, jobId, clock.now()));
    removed += 1;
    return true;
  };
  for await (const job of storage.jobsWithArtifacts()) {
    const isOld = clock.now() - (job.completedAtMs ?? 0) > maxAgeDays * DAY_MS;
    if (!isOld || !(await remove(job))) totalBytes += sizeOf(job);
  }
  if (totalBytes > maxTotalBytes) {
    // Iterates again, because a list of all jobs may not fit in memory.
    for await (const job of storage.jobsWithArtifacts()) {
      if (totalBytes <= maxTotalBytes) break;
      if (!kept.has(job.jobId) && (await remove(job))) totalBytes -= sizeOf(job);
    }
  }
  if (kept.size > 0) {
    const others = kept.size > MOST_NAMED ? ` and ${kept.size - MOST_NAMED} more` : '';
    const jobIds = [...kept.keys()].slice(0, MOST_NAMED).join(', ');
    throw new Error(`The artifacts of these jobs could not be removed: ${jobIds}${others}.`, {
      cause: [...kept.values()][0],
    });
  }
  return removed;
}

function sizeOf({ artifacts }: JobRecord): number {
  return artifacts.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
}
