import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { access, copyFile, mkdir, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from '../base/logger.ts';
import type { Random } from '../base/random.ts';
import type { EarlierVideo } from '../model/render-task.ts';

/** All videos together; the oldest are removed. A video of more than a quarter is not kept. */
const LIMIT_BYTES = 2 * 1024 * 1024 * 1024;
const PRIVATE = 0o700;

/** The last video of each scene, of which the next render of the scene copies the frames that are equal. */
export class KeptVideos {
  readonly #folder: string;
  readonly #logger: Logger;
  readonly #random: Random;

  /** `folder`: created when it is needed. */
  constructor({ folder, logger, random }: { folder: string; logger: Logger; random: Random }) {
    this.#folder = folder;
    this.#logger = logger;
    this.#random = random;
  }

  /** That of the scene which `identity` names; undefined if there is none. */
  async find(identity: unknown): Promise<EarlierVideo | undefined> {
    const kept = this.#pathsOf(identity);
    try {
      await Promise.all([access(kept.index), access(kept.video)]);
      return kept;
    } catch {
      return undefined;
    }
  }

  /** Keeps a copy. Never rejects: the next render can do without it. */
  async keep(identity: unknown, { index, video }: EarlierVideo): Promise<void> {
    const kept = this.#pathsOf(identity);
    try {
      const { size } = await stat(video);
      if (size > LIMIT_BYTES / 4) return;
      await mkdir(this.#folder, { recursive: true, mode: PRIVATE });
      // An index that is not of the video beside it is of no use, and does no harm.
      await this.#put(video, kept.video);
      await this.#put(index, kept.index);
      await this.#removeOldest();
    } catch (error) {
      this.#logger.debug({ err: error }, 'A video could not be kept for the next render of its scene.');
    }
  }

  #pathsOf(identity: unknown): EarlierVideo {
    const name = createHash('sha256').update(JSON.stringify(identity)).digest('hex').slice(0, 32);
    return { index: join(this.#folder, `${name}.index`), video: join(this.#folder, `${name}.mp4`) };
  }

  async #put(source: string, target: string): Promise<void> {
    const copy = `${target}.${this.#random.bytes(8).toString('hex')}`;
    try {
      await copyFile(source, copy, constants.COPYFILE_FICLONE);
      await rename(copy, target);
    } catch (error) {
      await rm(copy, { force: true });
      throw error;
    }
  }

  async #removeOldest(): Promise<void> {
    const paths = (await readdir(this.#folder)).map((name) => join(this.#folder, name));
    const files = await Promise.all(
      paths.map(async (path) => {
        const { size = 0, mtimeMs = 0 } = (await stat(path).catch(() => undefined)) ?? {};
        return { path, size, mtimeMs };
      }),
    );
    let bytes = files.reduce((sum, { size }) => sum + size, 0);
    for (const { path, size } of files.sort((a, b) => a.mtimeMs - b.mtimeMs)) {
      if (bytes <= LIMIT_BYTES) return;
      await rm(path, { force: true });
      bytes -= size;
    }
  }
}
