import { type FileHandle, rm, rmdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { makeFolders, realDisk, replaceFile } from '../files/disk.ts';
import {
  type AssetStore,
  assertAssetKey,
  type ByteRange,
  CLAIM_FILE,
  type OpenedAsset,
} from './asset-store.ts';
import { openRegularFile } from './regular-file.ts';

const PIECE_BYTES = 256 * 1024;

/**
 * Artifacts as files: `<folder>/<jobId>-<token>/video.mp4`.
 *
 * ```ts
 * const service = new RenderService({ folder: './renders', assets: new FileAssetStore('/mnt/renders') });
 * ```
 */
export class FileAssetStore implements AssetStore {
  readonly #folder: string;
  readonly #assertInPlace: () => void;

  /** @param assertInPlace - Throws while the folder must not be used. */
  constructor(folder: string, assertInPlace: () => void = () => {}) {
    this.#folder = folder;
    this.#assertInPlace = assertInPlace;
  }

  async start(): Promise<void> {
    await makeFolders(this.#folder);
  }

  async put(assetKey: string, file: { path: string }): Promise<{ sizeBytes: number }> {
    const target = this.#usablePath(assetKey);
    const folder = dirname(target);
    await makeFolders(folder);
    const source = await openRegularFile(file.path);
    let sizeBytes: number;
    try {
      sizeBytes = await replaceFile(realDisk, folder, basename(target), piecesOf(source));
    } finally {
      await source.close();
    }
    await realDisk.syncFolder(this.#folder); // For the name of the job's folder.
    return { sizeBytes };
  }

  async open(assetKey: string, range?: ByteRange): Promise<OpenedAsset | undefined> {
    const path = this.#usablePath(assetKey);
    const file = await openRegularFile(path).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return undefined;
      throw error;
    });
    if (!file) return undefined;
    const { size } = await file.stat();
    return { stream: file.createReadStream({ ...range }), sizeBytes: size, path };
  }

  async delete(assetKey: string): Promise<void> {
    const path = this.#usablePath(assetKey);
    const folder = dirname(path);
    await rm(path, { force: true });
    // Left by a process that was killed in `put`.
    await rm(`${path}.new`, { force: true });
    const left = await rmdir(folder).then(
      () => this.#folder,
      // Other artifacts of the job may still be there.
      ({ code }: NodeJS.ErrnoException) => (code === 'ENOENT' ? undefined : folder),
    );
    if (left !== undefined) await realDisk.syncFolder(left);
  }

  async readClaim(): Promise<string | undefined> {
    return (await realDisk.read(join(this.#folder, CLAIM_FILE)))?.toString();
  }

  async writeClaim(text: string): Promise<void> {
    await replaceFile(realDisk, this.#folder, CLAIM_FILE, [Buffer.from(text)]);
  }

  #usablePath(assetKey: string): string {
    this.#assertInPlace();
    return this.path(assetKey);
  }

  /** The path of an asset. */
  path(assetKey: string): string {
    assertAssetKey(assetKey);
    return join(this.#folder, assetKey);
  }
}

/** Not a stream, which under Plug'n'Play of Yarn closes the descriptor a second time. */
async function* piecesOf(file: FileHandle): AsyncGenerator<Buffer> {
  for (;;) {
    const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(PIECE_BYTES), 0, PIECE_BYTES, null);
    if (bytesRead === 0) return;
    yield buffer.subarray(0, bytesRead);
  }
}
