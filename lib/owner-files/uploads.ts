import { rm } from 'node:fs/promises';
import { ScenepressError } from '../base/errors.ts';
import type { Random } from '../base/random.ts';
import type { FileContent } from '../model/owner-file.ts';
import type { FileOptions } from './file-limits.ts';
import { type FileQuota, tooManyBytes } from './file-quota.ts';
import type { NamedKind } from './names.ts';
import { type Received, receive } from './receive.ts';
import type { UploadFolder } from './upload-folder.ts';

/** The folder of contents that are received now, and how many bytes they have. */
export class Uploads {
  readonly #folder: UploadFolder;
  readonly #quota: FileQuota;
  readonly #options: FileOptions;
  readonly #random: Random;
  /** Bytes in temporary files, by owner. */
  readonly #bytes = new Map<string, number>();
  #allBytes = 0;

  constructor(parts: { folder: UploadFolder; quota: FileQuota; options: FileOptions; random: Random }) {
    this.#folder = parts.folder;
    this.#quota = parts.quota;
    this.#options = parts.options;
    this.#random = parts.random;
  }

  /** Begins to receive contents for an owner. */
  async begin(owner: string, signal: AbortSignal | undefined): Promise<Upload> {
    const { largestBytes, receivingBytes } = this.#options;
    const { bytes, mostBytes } = await this.#quota.usage(owner);
    // One file may always be received: its owner may have the content already.
    const mostOfOwner = Math.max(mostBytes - bytes, largestBytes);
    const path = await this.#folder.path();
    let ownBytes = 0;
    const count = (more: number) => {
      if ((this.#bytes.get(owner) ?? 0) + more > mostOfOwner) throw tooManyBytes(mostBytes);
      if (this.#allBytes + more > receivingBytes) throw tooBusy();
      this.#add(owner, more);
      ownBytes += more;
    };
    const how = { folder: path, count, random: this.#random, signal };
    return new Upload({
      receive: (content, kind) => receive(content, kind, { ...how, mostBytes: largestBytes }),
      onEnd: () => this.#add(owner, -ownBytes),
    });
  }

  #add(owner: string, bytes: number): void {
    this.#allBytes += bytes;
    const sum = (this.#bytes.get(owner) ?? 0) + bytes;
    if (sum === 0) this.#bytes.delete(owner);
    else this.#bytes.set(owner, sum);
  }
}

/** Contents that are received together, one after the other, until they have been stored. */
export class Upload {
  readonly #receive: (content: FileContent, kind: NamedKind) => Promise<Received>;
  readonly #onEnd: () => void;
  readonly #paths: string[] = [];

  constructor(parts: {
    receive: (content: FileContent, kind: NamedKind) => Promise<Received>;
    onEnd: () => void;
  }) {
    this.#receive = parts.receive;
    this.#onEnd = parts.onEnd;
  }

  /**
   * Receives a content. Errors: those of {@link receive}; `too_much_stored` when all that is received for the owner does not
   * fit; `queue_full` when too much is received for all owners.
   */
  async receive(content: FileContent, kind: NamedKind): Promise<Received> {
    const received = await this.#receive(content, kind);
    this.#paths.push(received.path);
    return received;
  }

  /** Removes what was received. */
  async end(): Promise<void> {
    for (const path of this.#paths.splice(0)) await rm(path, { force: true }).catch(() => {});
    this.#onEnd();
  }
}

function tooBusy(): ScenepressError {
  return new ScenepressError('queue_full', 'Too many files are being received. Try again later.');
}
