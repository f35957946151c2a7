import assert from 'node:assert/strict';
import { constants } from 'node:fs';
import { type FileHandle, mkdir, open, rm, rmdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { realDisk, replaceFile } from '../disk.ts';
import type { AssetStore, ByteRange, OpenedAsset } from './asset-store.ts';

const KEY = /^[A-Za-z0-9_-]+\/[A-Za-z0-9_-]+\.[a-z0-9]+$/;

/** Artifacts as files: `<folder>/<jobId>-<token>/video.mp4`. */
export class FileAssetStore implements AssetStore {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  async start(): Promise<void> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
  }

  async put(assetKey: string, file: { path: string }): Promise<{ sizeBytes: number }> {
    const target = this.path(assetKey);
    const folder = dirname(target);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const source = await openRegularFile(file.path);
    let sizeBytes: number;
    try {
      sizeBytes = await replaceFile(realDisk, folder, basename(target), source.createReadStream());
    } finally {
      await source.close(); // A stream only closes it after it was read from.
    }
    await realDisk.syncFolder(this.#folder); // For the name of the job's folder.
    return { sizeBytes };
  }

  async open(assetKey: string, range?: ByteRange): Promise<OpenedAsset | undefined> {
    const path = this.path(assetKey);
    const file = await openRegularFile(path).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return undefined;
      throw error;
    });
    if (!file) return undefined;
    const { size } = await file.stat();
    return { stream: file.createReadStream({ ...range }), sizeBytes: size, path };
  }

  async delete(assetKey: string): Promise<void> {
    const path = this.path(assetKey);
    const folder = dirname(path);
    await rm(path, { force: true });
    const left = await rmdir(folder).then(
      () => this.#folder,
      // Other artifacts of the job may still be there.
      ({ code }: NodeJS.ErrnoException) => (code === 'ENOENT' ? undefined : folder),
    );
    if (left !== undefined) await realDisk.syncFolder(left);
  }

  /** The path of an asset. */
  path(assetKey: string): string {
    assert(KEY.test(assetKey), 'an asset key');
    return join(this.#folder, assetKey);
  }
}

async function openRegularFile(path: string): Promise<FileHandle> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  if ((await file.stat()).isFile()) return file;
  await file.close();
  throw new Error(`${path} is not a regular file`);
}
