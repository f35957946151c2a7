import { createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { AssetStore } from '../../assets/asset-store.ts';
import { ScenepressError } from '../../base/errors.ts';
import { ARTIFACTS } from '../../model/artifacts.ts';
import type { Artifact } from '../../model/job.ts';
import type { Storage } from '../../storage/storage.ts';

/** The jobs whose artifacts are copied, and the store that has them. */
export interface ArtifactsOf {
  storage: Pick<Storage, 'jobsWithArtifacts'>;
  source: AssetStore;
}

/**
 * Copies the artifacts of all jobs that the target lacks. Returns the numbers of copied and of missing ones. Error:
 * `conflict` when some are missing at the source, or not complete, unless `allowMissing`; the others have been copied.
 */
export async function copyArtifacts(
  { storage, source }: ArtifactsOf,
  target: AssetStore,
  { signal, allowMissing = false }: { signal?: AbortSignal | undefined; allowMissing?: boolean | undefined },
): Promise<{ copied: number; missing: number }> {
  const options = signal ? { signal } : {};
  const missing: Artifact[] = [];
  let [copied, known] = [0, 0];
  const folder = await mkdtemp(join(tmpdir(), 'scenepress-migrate-'));
  try {
    for await (const { artifacts } of storage.jobsWithArtifacts()) {
      for (const artifact of artifacts) {
        signal?.throwIfAborted();
        if (await isThere(target, artifact)) continue;
        const opened = await source.open(artifact.assetKey, undefined, options);
        if (opened?.sizeBytes !== artifact.sizeBytes) {
          opened?.stream.destroy();
          missing.push(artifact);
          continue;
        }
        const path = opened.path ?? join(folder, artifact.name);
        if (opened.path === undefined) await pipeline(opened.stream, createWriteStream(path), options);
        else opened.stream.destroy();
        await target.put(artifact.assetKey, { path, contentType: ARTIFACTS[artifact.name].contentType });
        copied += 1;
      }
      known += artifacts.length;
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  if (missing.length > 0 && !allowMissing) throw notThere(missing, known);
  return { copied, missing: missing.length };
}

function notThere(missing: Artifact[], known: number): ScenepressError {
  return new ScenepressError(
    'conflict',
    `${missing.length} of ${known} artifacts are missing or incomplete, such as ${missing[0]?.assetKey}. Nothing was moved; ` +
      'the other artifacts were copied. Correct the place of the artifacts, or leave them there (--artifacts-stay). If ' +
      'they are lost, add --allow-missing-artifacts (allowMissing).',
  );
}

async function isThere(target: AssetStore, { assetKey, sizeBytes }: Artifact): Promise<boolean> {
  const opened = await target.open(assetKey);
  opened?.stream.destroy();
  return opened?.sizeBytes === sizeBytes;
}
