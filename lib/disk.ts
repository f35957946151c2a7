import { constants, readSync, writeSync } from 'node:fs';
import { chmod, type FileHandle, mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';

/** A file that is written at places of the writer's choice. */
export interface DiskFile {
  /** Writes all bytes, or rejects; then any part of them may have been written. */
  write(bytes: Buffer, position: number): Promise<void>;
  /**
   * The same, at once: for a record of the journal, which goes into the system's cache in less time than another thread
   * would cost. What takes time is `sync`.
   */
  writeNow(bytes: Buffer, position: number): void;
  truncate(sizeBytes: number): Promise<void>;
  /** Resolves when everything written is on the medium. */
  sync(): Promise<void>;
  close(): Promise<void>;
}

/** A file that is read at places of the reader's choice, also after its name is gone. */
export interface FileReader {
  readonly sizeBytes: number;
  /** Fills `into` with what stands from a place on. Answers with the part that was filled: less where the file ends. */
  read(position: number, into: Buffer): Promise<Buffer>;
  /**
   * The same, at once: for the few kilobytes of a look-up. These are nearly always in the system's cache, and another
   * thread would cost thirty times what reading them does.
   */
  readNow(position: number, into: Buffer): Buffer;
  close(): Promise<void>;
}

/**
 * What the embedded database asks of a file system. Passed in, so that tests can take the power away: until `sync` a
 * write, and until `syncFolder` a new, renamed or removed name, may be lost.
 */
export interface Disk {
  /** Opens a file for writing; `create` makes it, or empties it. */
  open(path: string, how: 'create' | 'existing'): Promise<DiskFile>;
  /** The whole content; undefined when there is no such file. */
  read(path: string): Promise<Buffer | undefined>;
  /** Opens a file that no one changes; undefined when there is no such file. */
  openToRead(path: string): Promise<FileReader | undefined>;
  rename(from: string, to: string): Promise<void>;
  /** Removing what isn't there is no error. */
  remove(path: string): Promise<void>;
  /** A text that differs after each change of a file's content; undefined when there is no such file. */
  stampOf(path: string): Promise<string | undefined>;
  /** Names in a folder. */
  list(folder: string): Promise<string[]>;
  makeFolder(folder: string): Promise<void>;
  syncFolder(folder: string): Promise<void>;
}

/** The machine's own. Files and folders are the owner's alone. */
export const realDisk: Disk = {
  async open(path, how) {
    const flags = constants.O_RDWR | (how === 'create' ? constants.O_CREAT | constants.O_TRUNC : 0);
    const handle = await open(path, flags, 0o600);
    return {
      write: (bytes, position) => writeAll(handle, bytes, position),
      writeNow: (bytes, position) => writeAllNow(handle, bytes, position),
      truncate: (sizeBytes) => handle.truncate(sizeBytes),
      // The file's size is flushed along; times of access and change aren’t, which is enough.
      sync: () => handle.datasync(),
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
  async openToRead(path) {
    const handle = await open(path, 'r').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return undefined;
      throw error;
    });
    if (!handle) return undefined;
    const { size } = await handle.stat();
    return {
      sizeBytes: size,
      read: (position, into) => readAt(handle, position, into),
      readNow: (position, into) => readNowAt(handle, position, into),
      close: () => handle.close(),
    };
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
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await chmod(folder, 0o700);
  },
  async syncFolder(folder) {
    const handle = await open(folder, 'r');
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
  },
};

async function readAt(handle: FileHandle, position: number, into: Buffer): Promise<Buffer> {
  for (let done = 0; done < into.length; ) {
    const { bytesRead } = await handle.read(into, done, into.length - done, position + done);
    if (bytesRead === 0) return into.subarray(0, done);
    done += bytesRead;
  }
  return into;
}

function readNowAt({ fd }: FileHandle, position: number, into: Buffer): Buffer {
  for (let done = 0; done < into.length; ) {
    const bytesRead = readSync(fd, into, done, into.length - done, position + done);
    if (bytesRead === 0) return into.subarray(0, done);
    done += bytesRead;
  }
  return into;
}

async function writeAll(handle: FileHandle, bytes: Buffer, position: number): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    const { bytesWritten } = await handle.write(bytes, done, bytes.length - done, position + done);
    done += bytesWritten;
  }
}

function writeAllNow({ fd }: FileHandle, bytes: Buffer, position: number): void {
  for (let done = 0; done < bytes.length; ) {
    done += writeSync(fd, bytes, done, bytes.length - done, position + done);
  }
}

/**
 * Writes a file so that after a crash there is either the old content or the new, never a mixture: beside, flushed,
 * renamed, and the folder flushed too.
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

/** The first half of {@link replaceFile}: when it rejects, all is as it was. */
export async function writeBeside(
  disk: Disk,
  folder: string,
  name: string,
  pieces: Iterable<Buffer> | AsyncIterable<Buffer>,
): Promise<number> {
  const path = `${folder}/${name}`;
  return write(disk, path, pieces).catch(async (error: unknown) => {
    // What was begun would only take room, on a disk that is full perhaps.
    await disk.remove(`${path}.new`).catch(() => {});
    throw error;
  });
}

/** The second half: when it rejects, it is unknown whether a start will find the old content or the new. */
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

/** True when something failed because the disk, or the user's share of it, is full. */
export function isNoRoom(error: unknown): boolean {
  for (let at = error; at instanceof Error; at = at.cause) {
    const { code } = at as NodeJS.ErrnoException;
    if (code === 'ENOSPC' || code === 'EDQUOT') return true;
  }
  return false;
}
