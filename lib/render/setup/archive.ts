import { closeSync, fstatSync, openSync, readSync } from 'node:fs';

/** A byte range of a file. */
export interface Segment {
  offset: number;
  sizeBytes: number;
  /** Undefined: only the checksum of its compression is verified. */
  sha256?: string;
}

/** A file needed for unpacking: the renderer root's `tar`, its loader or one of its libraries. */
export interface Tool extends Segment {
  name: string;
}

/** A renderer root in a file, such as the single executable. */
export interface Archive {
  file: string;
  /** Name of the unpacked root; identifies its exact content. */
  name: string;
  /** Disk space of the unpacked root. */
  unpackedBytes: number;
  /** Empty: the machine's `tar` unpacks it. */
  tools: Tool[];
  /** Zstandard-compressed tar files, unpacked in this order into one folder. */
  segments: Segment[];
}

/** The executable ends with the description as JSON, its length, and this mark. */
export const MARK = 'SCENEPRESS-ROOT-1';
const LENGTH_BYTES = 4;
const DESCRIPTION_BYTES_MAX = 65_536;

/** The archive at the end of a file; undefined if there is none. */
export function findArchive(file: string): Archive | undefined {
  const descriptor = openSync(file, 'r');
  try {
    const end = fstatSync(descriptor).size;
    const tail = Buffer.alloc(LENGTH_BYTES + MARK.length);
    if (end < tail.length) return undefined;
    const read = (buffer: Buffer, position: number) =>
      readSync(descriptor, buffer, 0, buffer.length, position);
    read(tail, end - tail.length);
    if (tail.toString('latin1', LENGTH_BYTES) !== MARK) return undefined;
    const length = tail.readUInt32LE(0);
    if (length > DESCRIPTION_BYTES_MAX) return undefined;
    const description = Buffer.alloc(length);
    read(description, end - tail.length - length);
    return { ...(JSON.parse(description.toString()) as Omit<Archive, 'file'>), file };
  } finally {
    closeSync(descriptor);
  }
}

/** The bytes after the segments. */
export function trailerOf(archive: Omit<Archive, 'file'>): Buffer {
  const description = Buffer.from(JSON.stringify(archive));
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeUInt32LE(description.length);
  return Buffer.concat([description, length, Buffer.from(MARK, 'latin1')]);
}
