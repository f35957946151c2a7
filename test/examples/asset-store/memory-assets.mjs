import { constants } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { Readable } from 'node:stream';

/** An asset store of your own. Here in memory; yours is, for example, a bucket. */
export class MemoryAssets {
  #assets = new Map();

  async put(assetKey, { path }) {
    // Not through a link, which would lead out of the folder of the render.
    const bytes = await readFile(path, { flag: constants.O_RDONLY | constants.O_NOFOLLOW });
    this.#assets.set(assetKey, bytes);
    return { sizeBytes: bytes.length };
  }

  async open(assetKey, range) {
    const bytes = this.#assets.get(assetKey);
    if (!bytes) return undefined;
    const part = range ? bytes.subarray(range.start, range.end + 1) : bytes;
    return { stream: Readable.from([part]), sizeBytes: bytes.length };
  }

  async delete(assetKey) {
    this.#assets.delete(assetKey);
  }
}
