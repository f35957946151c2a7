import { createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { AssetStore } from '../../assets/asset-store.ts';
import { ScenepressError } from '../../base/errors.ts';
import type { Storage } from '../../storage/storage.ts';
import { type StoredAsset, storedAssets } from '../../storage/stored-assets.ts';

/** What has artifacts and files, and the store that they are copied from. */
export interface ArtifactsOf {
  storage: Pick<Storage, 'jobsWithArtifacts' | 'files'>;
  source: AssetStore;
}

/**
 * Copies the artifacts of all jobs, and the contents of files, that the target lacks. Returns the numbers of copied and of missing ones. Error:
 * `conflict` when some are missing at the source, or not complete, unless `allowMissing`; the others have been copied.
 */
export async function copyArtifacts(
  { storage, source }: ArtifactsOf,
  target: AssetStore,
  { signal, allowMissing = false }: { signal?: AbortSignal | undefined; allowMissing?: boolean | undefined },
): Promise<{ copied: number; missing: number }> {
  const options = signal ? { signal } : {};
  const missing: StoredAsset[] = [];
  let [copied, known] = [0, 0];
  const folder = await mkdtemp(join(tmpdir(), 'scenepress-migrate-'));
  try {
    for await (const asset of storedAssets(storage)) {
      signal?.throwIfAborted();
      known += 1;
      if (await isThere(target, asset)) continue;
      const opened = await source.open(asset.assetKey, undefined, options);
      if (opened?.sizeBytes !== asset.sizeBytes) {
        opened?.stream.destroy();
        missing.push(asset);
        continue;
      }
      const path = opened.path ?? join(folder, 'asset');
      if (opened.path === undefined) await pipeline(opened.stream, createWriteStream(path), options);
      else opened.stream.destroy();
      await target.put(asset.assetKey, { path, contentType: asset.contentType });
      copied += 1;
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  if (missing.length > 0 && !allowMissing) throw notThere(missing, known);
  return { copied, missing: missing.length };
}

function notThere(missing: StoredAsset[], known: number): ScenepressError {
  return new ScenepressError(
    'conflict',
    `${missing.length} of ${known} artifacts and files are missing or incomplete, such as ${missing[0]?.assetKey}. Nothing was moved; ` +
      'the others were copied. Correct the place of the artifacts, or leave them there (--artifacts-stay). If ' +
      'they are lost, add --allow-missing-artifacts (allowMissing).',
  );
}

async function isThere(target: AssetStore, { assetKey, sizeBytes }: StoredAsset): Promise<boolean> {
  const opened = await target.open(assetKey);
  opened?.stream.destroy();
  return opened?.sizeBytes === sizeBytes;
}
