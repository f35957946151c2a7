import type { FileRecord, FileSet, FileUsage } from '../model/owner-file.ts';
import type { Transaction } from './transaction.ts';

/** A page of an owner's files, by name. */
export interface FilePage {
  owner: string;
  /** Only those in this folder and below it, such as `voices`. */
  folder?: string | undefined;
  /** Only those whose names contain this text; letters without accents in either case. */
  search?: string | undefined;
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
  /** The file of that name and content that came with an earlier request, or was removed. */
  sentBefore(owner: string, sha256: string, name: string, tx: Transaction): Promise<FileRecord | undefined>;
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
  /** How many entries the sets of its owner would have together with this set; each set counts once. */
  entriesWith(set: FileSet, tx: Transaction): Promise<number>;
  /**
   * The files that a job uses; undefined if none, or if they have been forgotten. Error: `not_found` if its set was lost.
   */
  usedBy(jobId: string, tx?: Transaction): Promise<FileSet | undefined>;
  /** The newest jobs that use a file, at most `limit`. In the background. */
  jobsUsing(fileId: string, limit: number): Promise<string[]>;
  /** Whether a job uses a file. */
  isUsed(tx: Transaction, fileId: string): Promise<boolean>;
  /**
   * Ends the use of its files by a job. Needs the owner's lock. Returns those that no list has and that no job with that set
   * uses any more, which are due from then on (epoch milliseconds); others may still use them.
   */
  release(tx: Transaction, jobId: string, atMs: number): Promise<FileRecord[]>;
}
