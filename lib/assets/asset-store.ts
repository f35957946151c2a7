import assert from 'node:assert/strict';
import type { Readable } from '../base/node-types.ts';

/** A byte range with inclusive ends, as in HTTP. */
export interface ByteRange {
  /** The first byte; the first of all is 0. */
  start: number;
  /** The last byte, which belongs to the range. */
  end: number;
}

/** An asset being read. */
export interface OpenedAsset {
  /** The requested bytes. The caller must read the stream to its end or destroy it. */
  stream: Readable;
  /** Size of the whole asset, whatever the range. */
  sizeBytes: number;
  /** The path, when the asset is a local file. */
  path?: string;
}

/**
 * The store of artifacts. Asset keys have the form `<jobId>-<token>/video.mp4`, with the token of the render's claim,
 * and consist of letters, digits, `-`, `_`, `.` and `/`. Assets are immutable.
 */
export interface AssetStore {
  /** Called when the service starts; an error fails its start. */
  start?(): Promise<void>;
  /** Called when the service stops. */
  stop?(): Promise<void>;
  /**
   * Copies a local file into the store; durable when the promise resolves. Must not follow links when opening the
   * file. Replaces an asset with the same key.
   *
   * After an error the job waits, unless the error concerns its file only. After a resource shortage (`EMFILE`,
   * `ENOMEM`, …) it is tried again with growing delays. The store is at fault after a {@link ScenepressError} with
   * `retryAfterMs`, after a system error (`EROFS`, `ENOSPC`, `ECONNREFUSED`, …), also as `cause`, and after any other
   * error if a small file can't be stored either. No render then starts until such a file, `probe-…/probe.txt`, was
   * stored, which is deleted at once; an idle worker stores one every minute. Otherwise the store does not take the files of this job: it is rendered once more,
   * then fails.
   */
  put(assetKey: string, file: { path: string; contentType: string }): Promise<{ sizeBytes: number }>;
  /** Undefined when there is no such asset. `signal` aborts the call, not the stream. */
  open(
    assetKey: string,
    range?: ByteRange,
    options?: { signal?: AbortSignal },
  ): Promise<OpenedAsset | undefined>;
  /** Deleting a missing asset is not an error. */
  delete(assetKey: string): Promise<void>;
  /**
   * The text that was written last with {@link writeClaim}; undefined if none was. It names the installation that the
   * artifacts belong to: a service whose data is a copy does not start with them, and deletes none. Without these two
   * methods, nothing is compared.
   */
  readClaim?(): Promise<string | undefined>;
  /** Replaces the claim; durable when the promise resolves. */
  writeClaim?(text: string): Promise<void>;
}

/** The name of the file or object with the claim of a store. */
export const CLAIM_FILE = 'scenepress.json';

const KEY = /^[A-Za-z0-9_-]+\/[A-Za-z0-9_-]+\.[a-z0-9]+$/;

/** Whether a text has the form of the keys above. */
export function isAssetKey(text: string): boolean {
  return KEY.test(text);
}

/** Fails for a key that is not of the form above, such as one that leads out of the store. */
export function assertAssetKey(assetKey: string): void {
  assert(isAssetKey(assetKey), 'an asset key');
}
