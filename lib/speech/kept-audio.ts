import { createHash, createSecretKey, type KeyObject } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { OneAtATime } from '../async/one-at-a-time.ts';
import type { Logger } from '../base/logger.ts';
import type { Random } from '../base/random.ts';
import { isFull } from '../files/disk.ts';
import { decrypt, seal } from '../keys/sealing.ts';
import type { SpokenText } from '../model/speech.ts';
import type { Clock } from '../time/clock.ts';

const PRIVATE = 0o700;
const PRIVATE_FILE = 0o600;

/** Where the audio of a text is kept, and the key of its encryption. */
interface Place {
  path: string;
  key: KeyObject;
}

/**
 * Audio on the disk, by what was asked for. What was used longest ago is removed. Names and keys are made of the texts, so
 * that the audio of a forgotten text can't be read.
 */
export class KeptAudio {
  readonly #folder: string;
  readonly #mostBytes: number;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #logger: Logger;
  readonly #changes = new OneAtATime();

  /** `folder`: created when it is needed. */
  constructor(parts: { folder: string; mostBytes: number; clock: Clock; random: Random; logger: Logger }) {
    this.#folder = parts.folder;
    this.#mostBytes = parts.mostBytes;
    this.#clock = parts.clock;
    this.#random = parts.random;
    this.#logger = parts.logger;
  }

  /** Undefined if there is none, or if it is damaged. */
  async find(asked: string): Promise<SpokenText | undefined> {
    const { path, key } = this.#placeOf(asked);
    try {
      const { audio, words } = JSON.parse(decrypt(await readFile(path), key));
      const nowS = this.#clock.now() / 1000;
      await utimes(path, nowS, nowS);
      return { audio: Buffer.from(audio, 'base64'), words };
    } catch {
      return undefined;
    }
  }

  /** Never rejects: the text can be said again. */
  async keep(asked: string, { audio, words = [] }: SpokenText): Promise<void> {
    const { path, key } = this.#placeOf(asked);
    const text = JSON.stringify({ audio: Buffer.from(audio).toString('base64'), words });
    const sealed = seal(text, key, this.#random);
    if (sealed.length > this.#mostBytes) return;
    await this.#changes.run(async () => {
      const beside = `${path}.new`;
      try {
        await mkdir(this.#folder, { recursive: true, mode: PRIVATE });
        if (await isFull(this.#folder)) return;
        await writeFile(beside, sealed, { mode: PRIVATE_FILE });
        await rename(beside, path);
        await this.#removeOldest();
      } catch (err) {
        this.#logger.debug({ err }, 'The audio of a text could not be kept.');
        await rm(beside, { force: true }).catch(() => {});
      }
    });
  }

  #placeOf(asked: string): Place {
    const digest = (of: string) => createHash('sha256').update(`${of}\n${asked}`).digest();
    return { path: join(this.#folder, digest('name').toString('hex')), key: createSecretKey(digest('key')) };
  }

  async #removeOldest(): Promise<void> {
    const files = await Promise.all(
      (await readdir(this.#folder)).map(async (name) => {
        const path = join(this.#folder, name);
        const { size, mtimeMs } = await stat(path);
        return { path, size, mtimeMs };
      }),
    );
    let bytes = files.reduce((sum, { size }) => sum + size, 0);
    for (const { path, size } of files.toSorted((a, b) => a.mtimeMs - b.mtimeMs)) {
      if (bytes <= this.#mostBytes) return;
      await rm(path, { force: true });
      bytes -= size;
    }
  }
}
