import { createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { ARTIFACTS } from '../artifacts.ts';
import type { AssetStore } from '../assets/asset-store.ts';
import type { Artifact } from '../jobs/job.ts';
import type { Storage } from '../storage/storage.ts';

/** Copies the artifacts of all jobs that the target lacks. Returns the numbers of copied and of missing ones. */
export async function copyArtifacts(
  storage: Pick<Storage, 'jobsWithArtifacts'>,
  source: AssetStore,
  target: AssetStore,
  signal: AbortSignal | undefined,
): Promise<{ copied: number; missing: number }> {
  const counts = { copied: 0, missing: 0 };
  const folder = await mkdtemp(join(tmpdir(), 'scenepress-migrate-'));
  try {
    for await (const { artifacts } of storage.jobsWithArtifacts()) {
      for (const artifact of artifacts) {
        signal?.throwIfAborted();
        if (await isThere(target, artifact)) continue;
        const opened = await source.open(artifact.assetKey);
        if (!opened) {
          counts.missing += 1;
          continue;
        }
        const path = opened.path ?? join(folder, artifact.name);
        if (opened.path === undefined) await pipeline(opened.stream, createWriteStream(path));
        else opened.stream.destroy();
        await target.put(artifact.assetKey, { path, contentType: ARTIFACTS[artifact.name].contentType });
        counts.copied += 1;
      }
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  return counts;
}

async function isThere(target: AssetStore, { assetKey, sizeBytes }: Artifact): Promise<boolean> {
  const opened = await target.open(assetKey);
  opened?.stream.destroy();
  return opened?.sizeBytes === sizeBytes;
}
