import { stat } from 'node:fs/promises';
import type { AssetStore } from '../../assets/asset-store.ts';
import type { Logger } from '../../base/logger.ts';
import { ARTIFACTS } from '../../model/artifacts.ts';
import { type Artifact, assetKeyOf } from '../../model/job.ts';
import type { RenderedFile } from '../../model/render-task.ts';
import { discardFolder } from '../../render/end/remove-folder.ts';

interface Stores {
  assets: AssetStore;
  logger: Logger;
}

/**
 * Moves the files of a render into the asset store, all or none. `afterwards` is called when all are stored, while the folder
 * is still there.
 */
export async function storeArtifacts(
  claim: { jobId: string; token: number },
  { files, folder }: { files: RenderedFile[]; folder: string },
  { assets, logger }: Stores,
  afterwards: () => Promise<void> = async () => {},
): Promise<Artifact[]> {
  const artifacts: Artifact[] = [];
  const assetKeys: string[] = [];
  try {
    for (const { name, path } of files) {
      const assetKey = assetKeyOf(claim, name);
      assetKeys.push(assetKey); // A failed upload may still have stored the asset.
      const { sizeBytes } = await assets.put(assetKey, { path, contentType: ARTIFACTS[name].contentType });
      artifacts.push({ name, assetKey, sizeBytes });
    }
    await afterwards();
    return artifacts;
  } catch (error) {
    await discardArtifacts(assetKeys, { assets, logger });
    throw error;
  } finally {
    await discardFolder(folder, (problem) => logger.warn({ jobId: claim.jobId }, problem));
  }
}

/** Removes orphaned artifacts. Never rejects. */
export async function discardArtifacts(assetKeys: string[], { assets, logger }: Stores): Promise<void> {
  for (const assetKey of assetKeys) {
    try {
      await assets.delete(assetKey);
    } catch (error) {
      logger.warn({ err: error, assetKey }, 'An artifact that no job refers to could not be removed.');
    }
  }
}

/** The total size in bytes. */
export async function sizeOfFiles(files: { path: string }[]): Promise<number> {
  const sizes = await Promise.all(files.map(async ({ path }) => (await stat(path)).size));
  return sizes.reduce((sum, size) => sum + size, 0);
}
