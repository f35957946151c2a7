import type { Logger } from '../../base/logger.ts';
import type { Clock } from '../../time/clock.ts';
import type { Background } from './background-worker.ts';

/** One flush of a group commit: its number of transactions and its duration. */
export interface Flush {
  commits: number;
  tookMs: number;
}

export interface SqliteDatabaseOptions {
  clock: Clock;
  logger?: Logger;
  /** Called when disk I/O failed and the on-disk state is unknown. Default: logs why, and exits the process with code 74. */
  onFatal?: (error: Error) => void;
  /** Throws when nothing may be written. Called before each group of transactions and each time the file is opened again. */
  assertWritable?: () => void;
  /** Called when the disk is full, before the pending commits reject. */
  onFullDisk?: () => Promise<void>;
  onFlush?: (flush: Flush) => void;
  /** Flushes a file. Default: `fdatasync`. */
  flushFile?: (descriptor: number) => Promise<void>;
  /** Makes what runs slow statements on the database of that path; called twice. Default: in a thread. */
  background?: (path: string) => Background;
  /** The log size at which a checkpoint is due, in bytes. Default 16 MiB. */
  checkpointAfterBytes?: number;
}

/** The exit code after a disk I/O error (`EX_IOERR`). */
const EXIT_IO_ERROR = 74;

/** Ends the process after a disk I/O error. Without a logger, standard error says why. */
export function exitAfter(error: Error, logger: Logger | undefined): never {
  const message = `The process exits with code ${EXIT_IO_ERROR}: ${error.message}`;
  if (logger) logger.error({ err: error }, message);
  else process.stderr.write(`${message}\n`);
  process.exit(EXIT_IO_ERROR);
}
