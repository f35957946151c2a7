import type { FileReader } from '../../file-reader.ts';

/**
 * SQLite's write-ahead log format: a header, then frames of one page each. Each checksum covers its frame and all
 * previous ones. SQLite stops reading at the first invalid frame and assumes that a power loss interrupted the write;
 * {@link damageOf} detects when that cannot be the cause.
 *
 * After a checkpoint SQLite overwrites the log from its start, with a new salt, of which both halves differ. Behind the
 * last frame with that salt are frames of earlier rounds, which are in the database.
 */
export const HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;
export const PAGE_BYTES = 4096;
const FRAME_BYTES = FRAME_HEADER_BYTES + PAGE_BYTES;
/** The magic number of a log with little-endian checksums. */
export const MAGIC = 0x37_7f_06_82;
const SECTOR_BYTES = 512;
const FRAMES_PER_READ = 256;

/** Offsets in the header and in frame headers. */
export const HEADER_SALT = 16;
const HEADER_CHECKSUM = 24;
const FRAME_PAGES_AFTER_COMMIT = 4;
export const FRAME_SALT = 8;
const FRAME_CHECKSUM = 16;
const SALT_BYTES = 8;
const HALF_SALT_BYTES = 4;

export type LogBytes = Pick<FileReader, 'sizeBytes' | 'read'>;

export interface LogDamage {
  /** From 1; 0 is the header. */
  frame: number;
  frames: number;
  /** True when only fields of its header are damaged, so that its page is as written. */
  hasItsPage: boolean;
}

/** The header of a log, or a frame. */
export interface LogPart {
  /** From 1; 0 is the header. */
  frame: number;
  bytes: Buffer;
  isIntact: boolean;
  /** True when its page, if any, is as written. */
  hasItsPage: boolean;
  /** Whether the frame is the last one of a commit; of a broken one, according to its header. */
  endsCommit: boolean;
}

type Checksum = [first: number, second: number];

/**
 * The first damaged frame that a power loss cannot explain. Each group of commits is written after the previous one
 * was flushed, so everything up to the last commit but one was durable.
 */
export async function damageOf(log: LogBytes): Promise<LogDamage | undefined> {
  let broken: LogPart | undefined;
  let commits = 0;
  for await (const part of partsOf(log)) {
    const isFirstBroken = broken === undefined && !part.isIntact;
    // Its checksum may be right for what the frame before it was.
    const isAfterIt = broken !== undefined && !broken.endsCommit && part.frame === broken.frame + 1;
    const isIntactLater = broken !== undefined && part.isIntact;
    if (part.endsCommit && (isFirstBroken || isAfterIt || isIntactLater)) commits += 1;
    if (!part.isIntact) broken ??= part;
    if (broken && commits === 2) {
      const { frame, hasItsPage } = broken;
      return { frame, frames: await framesOfRound(log, await saltOf(log)), hasItsPage };
    }
  }
  return undefined;
}

/** The parts of a log, from its header to the last frame of its round; none if that has no frames. */
export async function* partsOf(log: LogBytes): AsyncGenerator<LogPart> {
  if (framesIn(log) === 0) return;
  const salt = await saltOf(log);
  const frames = await framesOfRound(log, salt);
  if (frames === 0) return;
  const header = await log.read(0, HEADER_BYTES);
  let before = checksumIn(header, 0);
  yield { frame: 0, bytes: header, isIntact: isHeader(header), hasItsPage: true, endsCommit: false };
  for (let first = 1; first <= frames; first += FRAMES_PER_READ) {
    const count = Math.min(FRAMES_PER_READ, frames - first + 1);
    const block = await log.read(placeOf(first), count * FRAME_BYTES);
    for (let frame = first; frame < first + count; frame++) {
      const bytes = block.subarray((frame - first) * FRAME_BYTES, (frame - first + 1) * FRAME_BYTES);
      const hasSalt = salt.equals(bytes.subarray(FRAME_SALT, FRAME_SALT + SALT_BYTES));
      const hasItsPage = isSame(checksumIn(bytes, frame), checksumOf(bytes, frame, before));
      const isIntact = hasSalt && hasItsPage;
      before = checksumIn(bytes, frame);
      // An interrupted write may have left half of a header that spans two sectors.
      const isWhole = (placeOf(frame) % SECTOR_BYTES) + FRAME_CHECKSUM <= SECTOR_BYTES;
      const isCommit = bytes.readUInt32BE(FRAME_PAGES_AFTER_COMMIT) > 0;
      const endsCommit = isCommit && (isIntact || (isWhole && (hasSalt || hasItsPage)));
      yield { frame, bytes, isIntact, hasItsPage, endsCommit };
    }
  }
}

/** The number of frames up to the last one with the salt. One half suffices: the other may be torn or damaged. */
async function framesOfRound(log: LogBytes, salt: Buffer): Promise<number> {
  for (let last = framesIn(log); last > 0; last -= FRAMES_PER_READ) {
    const first = Math.max(1, last - FRAMES_PER_READ + 1);
    const block = await log.read(placeOf(first), (last - first + 1) * FRAME_BYTES);
    for (let frame = last; frame >= first; frame--)
      if (hasHalfOf(salt, block.subarray((frame - first) * FRAME_BYTES))) return frame;
  }
  return 0;
}

function hasHalfOf(salt: Buffer, frame: Buffer): boolean {
  const own = frame.subarray(FRAME_SALT, FRAME_SALT + SALT_BYTES);
  const isSameAt = (at: number) => own.readUInt32BE(at) === salt.readUInt32BE(at);
  return isSameAt(0) || isSameAt(HALF_SALT_BYTES);
}

/** That of all frames; in a damaged header, the salt itself may be wrong. */
export async function saltOf(log: LogBytes): Promise<Buffer> {
  const header = await log.read(0, HEADER_BYTES);
  const at = isHeader(header) ? HEADER_SALT : placeOf(1) + FRAME_SALT;
  return log.read(at, SALT_BYTES);
}

/** The checksum of a frame, given the previous one. */
export function checksumOf(bytes: Buffer, frame: number, before: Checksum): Checksum {
  let [first, second] = before;
  const words = new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4);
  const end = frame === 0 ? HEADER_CHECKSUM / 4 : words.length;
  for (let word = 0; word < end; word += 2) {
    if (word === FRAME_SALT / 4 && frame > 0) word = FRAME_HEADER_BYTES / 4; // Salt and checksum are not covered.
    first = (first + (words[word] as number) + second) >>> 0;
    second = (second + (words[word + 1] as number) + first) >>> 0;
  }
  return [first, second];
}

/** Where the checksum of a frame is in it. */
export function checksumPlaceOf(frame: number): number {
  return frame === 0 ? HEADER_CHECKSUM : FRAME_CHECKSUM;
}

function checksumIn(bytes: Buffer, frame: number): Checksum {
  const at = checksumPlaceOf(frame);
  return [bytes.readUInt32BE(at), bytes.readUInt32BE(at + 4)];
}

function isHeader(bytes: Buffer): boolean {
  return bytes.readUInt32BE(0) === MAGIC && isSame(checksumIn(bytes, 0), checksumOf(bytes, 0, [0, 0]));
}

function isSame(a: Checksum, b: Checksum): boolean {
  return a[0] === b[0] && a[1] === b[1];
}

/** The size of a log with that many frames, in bytes. */
export function sizeOfLog(frames: number): number {
  return placeOf(frames + 1);
}

function framesIn({ sizeBytes }: LogBytes): number {
  return Math.max(0, Math.floor((sizeBytes - HEADER_BYTES) / FRAME_BYTES));
}

function placeOf(frame: number): number {
  return HEADER_BYTES + (frame - 1) * FRAME_BYTES;
}
