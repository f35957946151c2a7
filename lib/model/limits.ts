import type { JobLimits } from './renderer-messages.ts';

/** Resource limits of a render. Exceeding a limit fails the job with a message that names it. */
export interface RenderLimits {
  /** Wall-clock time of a render, at most 24 days. Default 10 minutes. */
  timeoutMs: number;
  /** Total memory of all processes of a render. Default 2 GiB. */
  memoryBytes: number;
  /** Address space of each process. Default 4 GiB. */
  addressSpaceBytes: number;
  /** Processes and threads. Default 64. */
  processes: number;
  /** Size of any one file. Default 1 GiB. */
  fileSizeBytes: number;
  /** Total size of a render's files on disk, including deleted files that are still open. Default 1 GiB. */
  diskBytes: number;
  /** Number of those files and folders. Default 20,000. */
  files: number;
  /** Open files of each process. Default 256. */
  openFiles: number;
  /** Frames of the video. Default 36,000: ten minutes at 60 fps. */
  frames: number;
  /** Size of the video. Default 512 MiB. */
  outputBytes: number;
}

const MIB = 1024 * 1024;

/** The limits of a render unless an option says otherwise: 10 minutes, 2 GiB of memory, 64 processes, 1 GiB of files. */
export const DEFAULT_LIMITS: RenderLimits = {
  timeoutMs: 10 * 60 * 1000,
  memoryBytes: 2048 * MIB,
  addressSpaceBytes: 4096 * MIB,
  processes: 64,
  fileSizeBytes: 1024 * MIB,
  diskBytes: 1024 * MIB,
  files: 20_000,
  openFiles: 256,
  frames: 36_000,
  outputBytes: 512 * MIB,
};

/** The limits that a fork receives with its job; that of its memory is in the command that forks it. */
export function jobLimits(limits: RenderLimits): JobLimits {
  const { addressSpaceBytes, processes, fileSizeBytes, diskBytes, openFiles, frames, outputBytes } = limits;
  return { addressSpaceBytes, processes, fileSizeBytes, diskBytes, openFiles, frames, outputBytes };
}
