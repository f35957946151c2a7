import { createHash, hash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { Logger } from '../base/logger.ts';
import { makeFolderWithin } from '../files/disk.ts';
import type { FolderPlace } from '../files/folder-place.ts';
import { assetKeyOf, type IndexedVideo, indexKeyOf, type JobRecord } from '../model/job.ts';
import type { EarlierVideo, RenderTask } from '../model/render-task.ts';
import { partOf } from '../model/selection.ts';
import type { FoundVideo, IndexedVideoStore } from '../storage/indexed-videos.ts';
import type { Clock } from '../time/clock.ts';
import { within } from '../time/within.ts';
import type { AssetStore, OpenedAsset } from './asset-store.ts';
import { openRegularFile } from './regular-file.ts';

const MOST_INDEX_BYTES = 64 * 1024 * 1024;
/** Of a video that is no local file: fetching a larger one takes longer than its frames save. */
const MOST_FETCHED_BYTES = 64 * 1024 * 1024;
/** A render is delayed by at most this. */
const MOST_MS = 2_000;

/** A claimed job. */
interface Claimed {
  job: JobRecord;
  claim: { jobId: string; token: number };
}

/**
 * The indexes of videos, with which a later render of the same scene copies the frames that are equal. Each is kept
 * beside its video, and its digest with the job: what others wrote into the store, or what belongs to another job, is not
 * used. Nothing here fails a job: without an earlier video, all frames are encoded.
 */
export class VideoIndexes {
  readonly #videos: Pick<IndexedVideoStore, 'earlierOf' | 'newestOfScene'>;
  readonly #assets: AssetStore;
  readonly #isIsolated: () => boolean;
  readonly #workFolder: string;
  readonly #place: Pick<FolderPlace, 'known'> | undefined;
  readonly #clock: Clock;
  readonly #logger: Logger;

  constructor(parts: {
    videos: Pick<IndexedVideoStore, 'earlierOf' | 'newestOfScene'>;
    assets: AssetStore;
    /** Whether scenes can't reach the files of their encoder; otherwise nothing is made or used. */
    isIsolated: () => boolean;
    /** For what is fetched for a render. */
    workFolder: string;
    /** Of the data folder, if there is one. */
    place: Pick<FolderPlace, 'known'> | undefined;
    clock: Clock;
    logger: Logger;
  }) {
    this.#videos = parts.videos;
    this.#assets = parts.assets;
    this.#isIsolated = parts.isIsolated;
    this.#workFolder = parts.workFolder;
    this.#place = parts.place;
    this.#clock = parts.clock;
    this.#logger = parts.logger;
  }

  /**
   * What the task of a render is given: whether it makes an index, and the earlier video, whose files are there until
   * {@link release}. `signal`: the render is stopped. Never rejects.
   */
  async taskOf(
    { job, claim }: Claimed,
    signal: AbortSignal,
  ): Promise<Pick<RenderTask, 'isIndexed' | 'earlier'>> {
    if (!this.#isIsolated()) return {};
    const over = new AbortController();
    try {
      const folder = folderOf(this.#workFolder, claim);
      const found = this.#find(job, folder, AbortSignal.any([signal, over.signal]));
      const ended = await within(
        this.#clock,
        MOST_MS,
        found.then((earlier) => ({ earlier })),
      );
      if (!ended) throw new Error(`it took longer than ${MOST_MS} ms`);
      return { isIndexed: true, ...(ended.earlier && { earlier: ended.earlier }) };
    } catch (err) {
      if (!signal.aborted)
        this.#logger.warn({ err, jobId: job.jobId }, 'An earlier video of a scene could not be read.');
      return { isIndexed: true };
    } finally {
      over.abort();
    }
  }

  /** Removes what was fetched for a render. Never rejects. */
  async release({ claim }: Pick<Claimed, 'claim'>): Promise<void> {
    await rm(folderOf(this.#workFolder, claim), { recursive: true, force: true }).catch(() => {});
  }

  /**
   * Stores the index of a video that was stored. Returns what is to be recorded with the job; undefined if it was not
   * stored, as that of a part of a scene: the next render would copy the frames of less. Never rejects.
   */
  async store({ job, claim }: Claimed, path: string): Promise<IndexedVideo | undefined> {
    if (partOf(job.selection ?? undefined) !== null) return undefined;
    try {
      const indexDigest = await digestOf(path);
      const file = { path, contentType: 'application/octet-stream' };
      await this.#assets.put(indexKeyOf(assetKeyOf(claim, 'video.mp4')), file);
      return { sceneDigest: sceneDigestOf(job), indexDigest };
    } catch (err) {
      const { jobId } = claim;
      this.#logger.warn(
        { err, jobId },
        'The index of a video could not be stored: no frames will be copied from it.',
      );
      return undefined;
    }
  }

  async #find(job: JobRecord, folder: string, signal: AbortSignal): Promise<EarlierVideo | undefined> {
    const found = await this.#earlierOf(job);
    const video = found?.job.artifacts.find(({ name }) => name === 'video.mp4');
    if (!found || !video) return undefined;
    const index = await this.#open(indexKeyOf(video.assetKey), signal);
    const isTooLarge = index?.path === undefined && video.sizeBytes > MOST_FETCHED_BYTES;
    if (!index || isTooLarge || index.sizeBytes > MOST_INDEX_BYTES) {
      index?.stream.destroy();
      return undefined;
    }
    const paths = { index: join(folder, 'index'), video: join(folder, 'video.mp4') };
    try {
      makeFolderWithin(folder, 0o700, this.#place?.known);
    } catch (error) {
      index.stream.destroy();
      throw error;
    }
    if ((await fetchIndex(index, paths.index, signal)) !== found.indexDigest)
      throw new Error(`the index of ${found.job.jobId} is not the one that was stored`);
    const opened = await this.#open(video.assetKey, signal);
    const isWhole = opened?.sizeBytes === video.sizeBytes;
    if (opened && isWhole && opened.path === undefined) {
      await pipeline(opened.stream, createWriteStream(paths.video, { mode: 0o600 }), { signal });
      return paths;
    }
    opened?.stream.destroy();
    return opened?.path !== undefined && isWhole ? { ...paths, video: opened.path } : undefined;
  }

  /** The video that the request named, else the newest of the scene. */
  async #earlierOf(job: JobRecord): Promise<FoundVideo | undefined> {
    const named = await this.#videos.earlierOf(job.jobId);
    if (named && formOf(named.job) === formOf(job)) return named;
    const newest = await this.#videos.newestOfScene(sceneDigestOf(job));
    return newest && sceneOf(newest.job) === sceneOf(job) ? newest : undefined;
  }

  /** Undefined for an asset that was removed meanwhile. */
  async #open(assetKey: string, signal: AbortSignal): Promise<OpenedAsset | undefined> {
    signal.throwIfAborted();
    const opened = await this.#assets.open(assetKey, undefined, { signal });
    if (signal.aborted) opened?.stream.destroy();
    signal.throwIfAborted();
    return opened;
  }
}

/** Of this attempt only. */
function folderOf(workFolder: string, { jobId, token }: Claimed['claim']): string {
  return join(workFolder, `earlier-${jobId}-${token}`);
}

/** What the renders of a scene have in common. */
function sceneOf(job: JobRecord): string {
  return JSON.stringify([job.className, formOf(job)]);
}

/** What renders must have in common for their frames to be comparable. */
function formOf({ owner, quality, aspectRatio, fps }: JobRecord): string {
  return JSON.stringify([owner, quality, aspectRatio, fps]);
}

/** Short, so that it does not tell the class name, which is stored encrypted. */
function sceneDigestOf(job: JobRecord): number {
  return Number.parseInt(hash('sha256', sceneOf(job)).slice(0, 8), 16);
}

async function digestOf(path: string): Promise<string> {
  const file = await openRegularFile(path);
  try {
    const digest = createHash('sha256');
    await pipeline(file.createReadStream({ autoClose: false }), digest);
    return digest.digest('hex');
  } finally {
    await file.close();
  }
}

/** Writes an index to a file; returns its digest. */
async function fetchIndex({ stream }: OpenedAsset, path: string, signal: AbortSignal): Promise<string> {
  const digest = createHash('sha256');
  const pieces = async function* (source: AsyncIterable<Buffer>) {
    for await (const piece of source) {
      digest.update(piece);
      yield piece;
    }
  };
  await pipeline(stream, pieces, createWriteStream(path, { mode: 0o600 }), { signal });
  return digest.digest('hex');
}
