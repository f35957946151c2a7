import { constants, fdatasync, fsync, mkdirSync, statSync } from 'node:fs';
import {
  chmod,
  type FileHandle,
  mkdir,
  open,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  statfs,
} from 'node:fs/promises';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import type { Buffer } from '../base/node-types.ts';

/** A file with positional writes. */
export interface DiskFile {
  /** Writes all bytes. When it rejects, any part of them may have been written. */
  write(bytes: Buffer, position: number): Promise<void>;
  /** Resolves when all writes are on the storage device. */
  sync(): Promise<void>;
  close(): Promise<void>;
}

/**
 * The file system operations of the stores. Injected, so tests can simulate a power loss: a write may be lost until
 * `sync`, and a new, renamed or removed name until `syncFolder`.
 */
export interface Disk {
  /** Opens a file for writing; `create` creates or truncates it. */
  open(path: string, how: 'create' | 'existing'): Promise<DiskFile>;
  /** The whole content; undefined when there is no such file. */
  read(path: string): Promise<Buffer | undefined>;
  rename(from: string, to: string): Promise<void>;
  /** Removing a missing file is not an error. */
  remove(path: string): Promise<void>;
  /** A string that changes with the file's content; undefined when there is no such file. */
  stampOf(path: string): Promise<string | undefined>;
  /** Names in a folder. */
  list(folder: string): Promise<string[]>;
  makeFolder(folder: string): Promise<void>;
  syncFolder(folder: string): Promise<void>;
}

/**
 * Flushes a file or a folder by its descriptor. Not by the method of its handle: under Plug'n'Play of Yarn, handles have
 * none.
 */
export const flushFile: (descriptor: number) => Promise<void> = promisify(fsync);
/** Flushes data and size of a file, but not its times. */
export const flushData: (descriptor: number) => Promise<void> = promisify(fdatasync);

/** The file system of the machine. Files and folders are accessible to their owner only. */
export const realDisk: Disk = {
  async open(path, how) {
    const flags = constants.O_RDWR | (how === 'create' ? constants.O_CREAT | constants.O_TRUNC : 0);
    const handle = await open(path, flags, 0o600);
    return {
      write: (bytes, position) => writeAll(handle, bytes, position),
      // Flushes the data and the file's size; the timestamps need not be durable.
      sync: () => flushData(handle.fd),
      close: () => handle.close(),
    };
  },
  async read(path) {
    try {
      return await readFile(path);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw Object.assign(error as Error, { path });
    }
  },
  async stampOf(path) {
    const file = await stat(path, { bigint: true }).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return undefined;
      throw error;
    });
    return file && `${file.ino} ${file.size} ${file.mtimeNs}`;
  },
  rename,
  remove: (path) => rm(path, { force: true }),
  list: (folder) => readdir(folder),
  async makeFolder(folder) {
    await makeFolders(folder);
    await chmod(folder, 0o700);
  },
  async syncFolder(folder) {
    const handle = await open(folder, 'r');
    try {
      await flushFile(handle.fd);
    } finally {
      await handle.close();
    }
  },
};

/** Flushes a file. */
export async function syncFile(path: string): Promise<void> {
  const file = await open(path);
  try {
    await flushFile(file.fd);
  } finally {
    await file.close();
  }
}

/**
 * Like `mkdir --parents`, and durable. The recursive mkdir of Node reports ENOENT for a read-only disk, and never ends
 * where no folder can be created, such as in /proc.
 */
export async function makeFolders(
  path: string,
  { hasParent = false }: { hasParent?: boolean } = {},
): Promise<void> {
  try {
    await mkdir(path, 0o700);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST' && (await stat(path)).isDirectory()) return;
    if (code !== 'ENOENT' || hasParent) throw error;
    await makeFolders(dirname(path));
    return makeFolders(path, { hasParent: true });
  }
  await realDisk.syncFolder(dirname(path)).catch((error: NodeJS.ErrnoException) => {
    // A folder in which this user may create names, but not list them, cannot be opened.
    if (error.code !== 'EACCES') throw error;
  });
}

async function writeAll(handle: FileHandle, bytes: Buffer, position: number): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    const { bytesWritten } = await handle.write(bytes, done, bytes.length - done, position + done);
    done += bytesWritten;
  }
}

/**
 * Replaces a file atomically and durably: writes a temporary file beside it, flushes it, renames it and flushes the
 * folder. After a crash the file has either the old or the new content. Returns the size in bytes.
 */
export async function replaceFile(
  disk: Disk,
  folder: string,
  name: string,
  pieces: Iterable<Buffer> | AsyncIterable<Buffer>,
): Promise<number> {
  const sizeBytes = await writeBeside(disk, folder, name, pieces);
  await putInPlace(disk, folder, name);
  return sizeBytes;
}

/** The first half of {@link replaceFile}: when it rejects, nothing has changed. */
export async function writeBeside(
  disk: Disk,
  folder: string,
  name: string,
  pieces: Iterable<Buffer> | AsyncIterable<Buffer>,
): Promise<number> {
  const path = `${folder}/${name}`;
  return write(disk, path, pieces).catch(async (error: unknown) => {
    // Frees the space of the incomplete file; the disk may be full.
    await disk.remove(`${path}.new`).catch(() => {});
    throw error;
  });
}

/** The second half: when it rejects, the next start may find the old or the new content. */
export async function putInPlace(disk: Disk, folder: string, name: string): Promise<void> {
  await disk.rename(`${folder}/${name}.new`, `${folder}/${name}`);
  await disk.syncFolder(folder);
}

async function write(
  disk: Disk,
  path: string,
  pieces: Iterable<Buffer> | AsyncIterable<Buffer>,
): Promise<number> {
  const file = await disk.open(`${path}.new`, 'create');
  let sizeBytes = 0;
  try {
    for await (const piece of pieces) {
      await file.write(piece, sizeBytes);
      sizeBytes += piece.length;
    }
    await file.sync();
  } finally {
    await file.close();
  }
  return sizeBytes;
}

/** Distinguishes a file or folder from a later one with the same name; inode numbers alone may be reused. */
export function identityOf(status: { dev: number; ino: number; birthtimeMs: number }): string {
  return `${status.dev}:${status.ino}:${status.birthtimeMs}`;
}

/** A folder and its identity, as plain data. */
export interface KnownFolder {
  path: string;
  identity: string;
}

/** Whether the folder, or the target of a link, at a path is the known one. */
export function isInPlace({ path, identity }: KnownFolder): boolean {
  try {
    return identityOf(statSync(path)) === identity;
  } catch {
    return false;
  }
}

/**
 * Creates a folder and its parents, if `within`, which contains it, is in its place. Synchronous: an asynchronous call
 * can wait for a thread while the known folder is replaced. Not by Node's recursive mkdir, as {@link makeFolders}.
 * Errors: a plain `Error` when it was replaced; those of the file system.
 */
export function makeFolderWithin(
  path: string,
  mode: number,
  within: KnownFolder | undefined,
  { hasParent = false }: { hasParent?: boolean } = {},
): void {
  if (within && !isInPlace(within)) throw new Error(`the folder ${within.path} was moved or replaced`);
  try {
    mkdirSync(path, mode);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST' && statSync(path).isDirectory()) return;
    if (code !== 'ENOENT' || hasParent) throw error;
    makeFolderWithin(dirname(path), mode, within);
    makeFolderWithin(path, mode, within, { hasParent: true });
  }
}

/** What a file system has left. */
export interface FreeSpace {
  bytes: number;
  /** How many files can be created; infinite if the file system has no limit. */
  files: number;
}

/** What is available to this user on the file system of a folder. */
export async function freeSpaceOf(folder: string): Promise<FreeSpace> {
  const { bavail, bsize, files, ffree } = await statfs(folder);
  return { bytes: bavail * bsize, files: files > 0 ? ffree : Number.POSITIVE_INFINITY };
}

/** What small renders need at their end. With less, a disk is full for all; with more, only a large video does not fit. */
export const ROOM: FreeSpace = { bytes: 4 * 1024 * 1024, files: 64 };

/** Whether the disk of a folder is too full for small renders; false if the folder can't be examined. */
export function isFull(folder: string): Promise<boolean> {
  return freeSpaceOf(folder).then(
    (free) => isLess(free, ROOM),
    () => false,
  );
}

/** Whether there is less than the given space. */
export function isLess(free: FreeSpace, { bytes, files }: FreeSpace): boolean {
  return free.bytes < bytes || free.files < files;
}

/** True when an error was caused by a full disk or an exceeded quota. */
export function isOutOfSpace(error: unknown): boolean {
  for (let at = error; at instanceof Error; at = at.cause) {
    const { code } = at as NodeJS.ErrnoException;
    if (code === 'ENOSPC' || code === 'EDQUOT') return true;
  }
  return false;
}
