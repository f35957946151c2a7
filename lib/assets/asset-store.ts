import type { Readable } from 'node:stream';

/** A part of an asset, both ends included, as HTTP ranges are. */
export interface ByteRange {
  start: number;
  end: number;
}

/** An asset being read. */
export interface OpenedAsset {
  /** The bytes asked for. Whoever opened it reads it to its end or destroys it. */
  stream: Readable;
  /** Size of the whole asset, whatever the range. */
  sizeBytes: number;
  /** Where the asset is a file of this machine: its path. */
  path?: string;
}

/**
 * Where artifacts live. Asset keys look like `<jobId>-<token>/video.mp4`, with the token of the claim under which they
 * were rendered: letters, digits, `-`, `_`, `.` and `/`. An asset is written once and never changed.
 */
export interface AssetStore {
  start?(): Promise<void>;
  stop?(): Promise<void>;
  /**
   * Copies a file of this machine into the store, durable when the promise resolves. The file is opened without
   * following links. Putting the same key again replaces it. An error whose `code`, or that of
   * its `cause`, says that the machine is short of something (`EMFILE`, `ENOMEM`, …) or a network is down
   * (`ECONNREFUSED`, `ETIMEDOUT`, …) makes the job wait; after any other one it is rendered once more.
   */
  put(assetKey: string, file: { path: string; contentType: string }): Promise<{ sizeBytes: number }>;
  /** Undefined when there is no such asset. */
  open(assetKey: string, range?: ByteRange): Promise<OpenedAsset | undefined>;
  /** Deleting what isn't there is no error. */
  delete(assetKey: string): Promise<void>;
}
