import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import type { AssetStore } from '../../lib/index.ts';
import { inspectClaim, isClaimable, isScenepressError, type Storage } from '../../lib/internal.ts';
import type { Config } from '../config/config.ts';
import { artifactStoreOf } from '../place/artifact-store.ts';
import { UserError } from '../support/user-error.ts';
import { type Finding, failed, ok } from './finding.ts';
import { examineFuture, isThere } from './future-folder.ts';

const CHECK = 'Artifacts';
const CONTENT = 'doctor';

/**
 * Writes, reads and deletes an artifact where they are configured to be; undefined if that is the data folder. `storage`:
 * whose artifacts they must be, if there is one. Claims nothing.
 */
export async function examineArtifacts(
  config: Config,
  storage: Storage | undefined,
): Promise<Finding | undefined> {
  const { artifactDir, s3Bucket } = config;
  const place = artifactDir === undefined ? `the bucket ${s3Bucket}` : resolve(artifactDir);
  if (artifactDir !== undefined && !(await isThere(resolve(artifactDir))))
    return examineFuture(CHECK, resolve(artifactDir), '--artifact-dir');
  let assets: AssetStore | undefined;
  try {
    assets = (await artifactStoreOf(config))?.assets;
    if (!assets) return undefined;
    await assets.start?.();
    await tryOut(assets);
    if (storage?.installation && isClaimable(assets)) await inspectClaim(assets, storage.installation);
    return ok(CHECK, `${place}: an artifact was written, read and deleted`);
  } catch (error) {
    const { message, code } = error as NodeJS.ErrnoException;
    if (!isScenepressError(error) && !(error instanceof UserError) && code === undefined) throw error;
    return failed(CHECK, message, 'Fix this, then run the doctor again.');
  } finally {
    await assets?.stop?.();
  }
}

async function tryOut(assets: AssetStore): Promise<void> {
  const assetKey = `doctor-${randomBytes(8).toString('hex')}/captions.vtt`;
  const folder = await mkdtemp(join(tmpdir(), 'scenepress-doctor-'));
  try {
    await writeFile(join(folder, 'captions.vtt'), CONTENT);
    await assets.put(assetKey, { path: join(folder, 'captions.vtt'), contentType: 'text/vtt' });
    const opened = await assets.open(assetKey);
    const found = opened && (await text(opened.stream));
    if (found !== CONTENT) throw new UserError(`${assetKey} was stored, but cannot be read.`);
  } finally {
    await rm(folder, { recursive: true });
    await assets.delete(assetKey);
  }
}
