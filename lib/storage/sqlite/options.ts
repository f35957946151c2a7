import type { Logger } from '../../logger.ts';

/** One write to the disk: how many transactions it held, and how long it took. */
export interface Flush {
  commits: number;
  tookMs: number;
}

export interface SqliteDatabaseOptions {
  logger?: Logger;
  /** Disk I/O failed: the state of the medium is unknown. Ends the process unless replaced, for tests. */
  onFatal?: (error: Error) => void;
  /** The disk was full; called before what waited for the write is told. */
  onNoRoom?: () => Promise<void>;
  onFlush?: (flush: Flush) => void;
  /** Resolves when all that was written to a file is on the medium. Default: `fdatasync`. */
  flushFile?: (descriptor: number) => Promise<void>;
  /** From what size on the log is copied into the database, in bytes. Default 16 MiB. */
  checkpointAfterBytes?: number;
}
