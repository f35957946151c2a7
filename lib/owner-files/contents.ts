import { createHash } from 'node:crypto';
import type { AssetStore, OpenedAsset } from '../assets/asset-store.ts';
import { contentKeyOf, type FileRecord } from '../model/owner-file.ts';
import type { FileRemoval } from './file-removal.ts';
import type { Received } from './receive.ts';

const CONTENT_TYPE = 'application/octet-stream';

/** The contents of files in the asset store. */
export class Contents {
  readonly #assets: AssetStore;
  readonly #removal: FileRemoval;

  constructor(assets: AssetStore, removal: FileRemoval) {
    this.#assets = assets;
    this.#removal = removal;
  }

  async put(file: FileRecord, { path }: Received): Promise<void> {
    await this.#assets.put(contentKeyOf(file), { path, contentType: CONTENT_TYPE });
  }

  /** Stores a known content again if the store has lost or changed it, such as after a backup was restored. */
  async putIfLost(file: FileRecord, received: Received): Promise<void> {
    const opened = await this.#assets.open(contentKeyOf(file));
    if (opened && (await digestOf(opened.stream)) === file.sha256) return;
    await this.put(file, received);
    // The file may have been removed meanwhile.
    await this.#removal.withdrawContent(file);
  }
}

async function digestOf(stream: OpenedAsset['stream']): Promise<string> {
  const digest = createHash('sha256');
  for await (const piece of stream) digest.update(piece);
  return digest.digest('hex');
}
