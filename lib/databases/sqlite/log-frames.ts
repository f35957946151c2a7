import type { FileReader } from '../../files/file-reader.ts';

/**
 * SQLite's write-ahead log: a header, then frames of one page each. Each checksum covers its frame and all previous ones.
 * SQLite stops reading at the first invalid frame and assumes that a power loss interrupted the write;
 * {@link damagedFrame} detects when that cannot be the cause.
 *
 * After a checkpoint SQLite overwrites the log from its start, with a new salt, of which both halves differ.
 */
const HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;
const FRAME_BYTES = FRAME_HEADER_BYTES + 4096;
/** The magic number of a log with little-endian checksums. */
const MAGIC = 0x37_7f_06_82;
const SECTOR_BYTES = 512;
const FRAMES_PER_READ = 256;

export type LogBytes = Pick<FileReader, 'sizeBytes' | 'read'>;

type Checksum = readonly [first: number, second: number];

/**
 * The first damaged frame that a power loss cannot explain: from 1; 0 is the header. Each group of commits is written
 * after the previous one was flushed, so everything up to the last commit but one was durable.
 */
export async function damagedFrame(log: LogBytes): Promise<number | undefined> {
  const frames = Math.floor((log.sizeBytes - HEADER_BYTES) / FRAME_BYTES);
  if (frames < 1) return undefined;
  const header = await log.read(0, HEADER_BYTES);
  let before = checksumAt(header, 24);
  const isHeader = header.readUInt32BE(0) === MAGIC && isSame(before, sum(header.subarray(0, 24), [0, 0]));
  // In a damaged header, the salt itself may be wrong.
  const salt = isHeader ? header.subarray(16, 24) : await log.read(HEADER_BYTES + 8, 8);
  let damaged = isHeader ? undefined : 0;
  let commits = 0;
  for (let first = 1; first <= frames; first += FRAMES_PER_READ) {
    const block = await log.read(placeOf(first), Math.min(FRAMES_PER_READ, frames - first + 1) * FRAME_BYTES);
    for (let at = 0; at < block.length; at += FRAME_BYTES) {
      const frame = first + at / FRAME_BYTES;
      const bytes = block.subarray(at, at + FRAME_BYTES);
      const hasSalt = hasHalves(bytes, salt).every(Boolean);
      // One half suffices: the other may be damaged.
      const isNext =
        hasHalves(bytes, salt).some(Boolean) && isSame(checksumAt(bytes, 16), frameSum(bytes, before));
      if (!hasSalt || !isNext) damaged ??= frame;
      // An interrupted write may have left half of a header that spans two sectors.
      const isWhole = (placeOf(frame) % SECTOR_BYTES) + 16 <= SECTOR_BYTES;
      const endsCommit = bytes.readUInt32BE(4) > 0 && (isNext || (hasSalt && isWhole));
      if (damaged !== undefined && endsCommit) commits += 1;
      if (commits === 2) return damaged;
      before = checksumAt(bytes, 16);
    }
  }
  return undefined;
}

/** Whether a frame has each half of the salt. */
function hasHalves(frame: Buffer, salt: Buffer): boolean[] {
  return [0, 4].map((at) => frame.readUInt32BE(8 + at) === salt.readUInt32BE(at));
}

/** Covers the page number, the number of pages after a commit, and the page. */
function frameSum(frame: Buffer, before: Checksum): Checksum {
  return sum(frame.subarray(FRAME_HEADER_BYTES), sum(frame.subarray(0, 8), before));
}

function sum(bytes: Buffer, [first, second]: Checksum): Checksum {
  const words = new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4);
  for (let word = 0; word < words.length; word += 2) {
    first = (first + (words[word] as number) + second) >>> 0;
    second = (second + (words[word + 1] as number) + first) >>> 0;
  }
  return [first, second];
}

function checksumAt(bytes: Buffer, at: number): Checksum {
  return [bytes.readUInt32BE(at), bytes.readUInt32BE(at + 4)];
}

function isSame(a: Checksum, b: Checksum): boolean {
  return a[0] === b[0] && a[1] === b[1];
}

/** The size of a log with that many frames, in bytes. */
export function sizeOfLog(frames: number): number {
  return placeOf(frames + 1);
}

function placeOf(frame: number): number {
  return HEADER_BYTES + (frame - 1) * FRAME_BYTES;
}
