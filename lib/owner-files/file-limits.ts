import type { Transaction } from '../storage/transaction.ts';

/** How much owners may keep. */
export interface FileLimits {
  /** Bytes of all files of an owner; equal contents count once. Default 2 GiB. */
  mostBytes: number;
  /** Files of an owner. Default 5,000. */
  mostFiles: number;
}

/** Limits on the files of owners. */
export interface FileOptions extends FileLimits {
  /** Bytes of a file. Default 100 MiB. */
  largestBytes: number;
  /** Bytes that a process receives at the same time, of all owners. Default 4 GiB. */
  receivingBytes: number;
  /** Bytes of files that a machine keeps to render jobs with them. Default 4 GiB. */
  cacheBytes: number;
  /** An owner's own limits, where they differ. Called in the transaction that adds a file, `tx`. */
  limitsOf?: (
    owner: string,
    tx: Transaction,
  ) => Promise<Partial<FileLimits> | undefined> | Partial<FileLimits> | undefined;
}

const MIB = 1024 ** 2;

export const DEFAULT_FILES: FileOptions = {
  mostBytes: 2 * 1024 * MIB,
  mostFiles: 5_000,
  largestBytes: 100 * MIB,
  receivingBytes: 4 * 1024 * MIB,
  cacheBytes: 4 * 1024 * MIB,
};

/** The files of all different sets that an owner's jobs use may be so many times its files. */
export const USES_OF_FILES = 50;
/** What a job may come with. */
export const MOST_FILES_OF_JOB = 500;
/** Bytes. */
export const MOST_BYTES_OF_JOB: number = 200 * MIB;
