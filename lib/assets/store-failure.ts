import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { known } from '../base/known-options.ts';
import { type Random, systemRandom } from '../base/random.ts';
import type { AssetStore } from './asset-store.ts';

const ID_BYTES = 16;

/** Why a store can't be read now; undefined if it can, or if it has no claim to read. */
export async function readFailure(assets: AssetStore): Promise<unknown> {
  try {
    await assets.readClaim?.();
    return undefined;
  } catch (error) {
    return error;
  }
}

/**
 * Why a store takes no file now: stores one and removes it again. Undefined if it was stored; else the error of
 * {@link AssetStore.put}. `folder`: one that exists, for the file to store.
 *
 * ```ts
 * const failure = await storeFailure(assets, { folder: tmpdir() });
 * if (failure) console.error('Artifacts could not be stored:', failure);
 * ```
 */
export async function storeFailure(
  assets: AssetStore,
  options: { folder: string; sizeBytes?: number; random?: Random },
): Promise<unknown> {
  const names = { folder: true, sizeBytes: true, random: true };
  const { folder, sizeBytes = 1, random = systemRandom } = known('storeFailure', options, names);
  const name = `probe-${random.bytes(ID_BYTES).toString('hex')}`;
  const path = join(folder, name);
  const assetKey = `${name}/probe.txt`;
  try {
    await writeFile(path, random.bytes(sizeBytes), { mode: 0o600 });
    await assets.put(assetKey, { path, contentType: 'text/plain' });
    return undefined;
  } catch (error) {
    return error;
  } finally {
    await rm(path, { force: true }).catch(() => {});
    await assets.delete(assetKey).catch(() => {});
  }
}
