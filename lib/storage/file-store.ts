import type { FileRecord, FileSet, FileUsage } from '../model/owner-file.ts';
import type { Transaction } from './transaction.ts';

/** A page of an owner's files, by name. */
export interface FilePage {
  owner: string;
  /** Only those in this folder and below it, such as `voices`. */
  folder?: string | undefined;
  /** Only those whose names are greater. */
  after?: string | undefined;
  limit: number;
}

/**
 * The files of owners, and which of them jobs use. They commit together with the jobs. What is read with `tx` and must
 * stay as it is needs the owner's lock ({@link Storage.lockOwner}).
 */
export interface FileStore {
  insert(tx: Transaction, file: FileRecord): Promise<void>;
  /** Replaces the record of one that exists. */
  update(tx: Transaction, file: FileRecord): Promise<void>;
  delete(tx: Transaction, fileId: string): Promise<void>;
  get(fileId: string, tx?: Transaction): Promise<FileRecord | undefined>;
  /** Those of these ids that exist, in any order; at most 500 ids. */
  getAll(fileIds: readonly string[], tx?: Transaction): Promise<FileRecord[]>;
  /** The stored file of that name. */
  named(owner: string, name: string, tx?: Transaction): Promise<FileRecord | undefined>;
  /** Whether a stored file is in that folder or below it. */
  isFolder(owner: string, name: string, tx: Transaction): Promise<boolean>;
  /** Those with that content that are stored or removed, so that it can be shared. */
  withContent(owner: string, sha256: string, tx: Transaction): Promise<FileRecord | undefined>;
  /** How many records, in any phase, share a content. */
  countContent(contentId: string, tx: Transaction): Promise<number>;
  /** Stored files, by name. */
  list(page: FilePage, tx?: Transaction): Promise<FileRecord[]>;
  usage(owner: string, tx?: Transaction): Promise<FileUsage>;
  /** Those that are due at that time (epoch milliseconds), the first one first. */
  due(atMs: number, limit: number): Promise<FileRecord[]>;
  /** All of an owner, in any phase, at most `limit`. */
  of(owner: string, limit: number): Promise<FileRecord[]>;
  /** All whose contents are in the asset store, one for each content. */
  all(): AsyncIterable<FileRecord>;

  /** Notes which files a job uses. */
  use(tx: Transaction, jobId: string, set: FileSet): Promise<void>;
  /** The files that a job uses; undefined if none, or if they have been forgotten. */
  usedBy(jobId: string, tx?: Transaction): Promise<FileSet | undefined>;
  /** The newest jobs of an owner that use a file, at most `limit`. Reads all sets of the owner, in the background. */
  jobsUsing(owner: string, fileId: string, limit: number): Promise<string[]>;
  /** Whether a job uses a file. Removes the sets of its owner that no job uses. */
  isUsed(tx: Transaction, file: Pick<FileRecord, 'fileId' | 'owner'>): Promise<boolean>;
}
