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
const MOST_NAMED = 5;
/** A store that refuses more is asked again another time. */
const MOST_REFUSALS = 100;

/**
 * Removes artifacts that are too old or too many. Returns how many jobs lost theirs. Those that can't be removed don't
 * keep it from removing others; it then rejects at its end.
 */
export async function retain(
  { storage, assets, clock }: { storage: Storage; assets: AssetStore; clock: Clock },
  { maxAgeDays, maxTotalBytes }: RetentionOptions,
): Promise<number> {
  let totalBytes = 0;
  let removed = 0;
  const kept = new Map<string, unknown>();
  const remove = async ({ jobId, artifacts }: JobRecord): Promise<boolean> => {
    try {
      // The assets first: noted but not removed, they would stay for ever.
      for (const { assetKey } of artifacts) await assets.delete(assetKey);
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
    // A second time, because a list of all jobs has no place in memory.
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
