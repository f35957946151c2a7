/**
 * SQLite's write-ahead log format: a header, then frames of one page each. Each checksum covers its frame and all
 * previous ones. SQLite stops reading at the first invalid frame and assumes that a power loss interrupted the write;
 * {@link damageOf} detects when that cannot be the cause.
 */
const HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;
const PAGE_BYTES = 4096;
const FRAME_BYTES = FRAME_HEADER_BYTES + PAGE_BYTES;
/** The magic number of a log with little-endian checksums. */
const MAGIC = 0x37_7f_06_82;
const FORMAT = 3_007_000;
const SECTOR_BYTES = 512;

/** Offsets in the header and in frame headers. */
const HEADER_FORMAT = 4;
const HEADER_PAGE_BYTES = 8;
const HEADER_SALT = 16;
const HEADER_CHECKSUM = 24;
const FRAME_PAGES_AFTER_COMMIT = 4;
const FRAME_SALT = 8;
const FRAME_CHECKSUM = 16;
const SALT_BYTES = 8;

export interface LogDamage {
  /** From 1; 0 is the header. */
  frame: number;
  frames: number;
}

interface Checksum {
  first: number;
  second: number;
}

/**
 * The first damaged frame that a power loss cannot explain. Each group of commits is written after the previous one
 * was flushed, so everything up to the last commit but one was durable.
 */
export function damageOf(bytes: Buffer): LogDamage | undefined {
  const log = new Log(bytes);
  if (log.frames === 0) return undefined;
  const broken = log.firstBroken();
  if (broken === undefined) return undefined;
  let commits = log.wasCommit(broken) ? 1 : 0;
  for (let frame = broken + 1; frame <= log.frames; frame++) {
    if (log.isIntact(frame) && log.endsCommit(frame)) commits += 1;
    if (commits === 2) return { frame: broken, frames: log.frames };
  }
  return undefined;
}

/**
 * Repairs a damaged log by recomputing its checksums, so all its frames count. `isExact`: only header fields were
 * damaged, so the content is as written.
 */
export function resealed(bytes: Buffer): { log: Buffer; isExact: boolean } {
  const copy = Buffer.from(bytes);
  const log = new Log(copy);
  const broken = log.firstBroken() ?? 0;
  const isExact = broken === 0 || log.hasItsChecksum(broken);
  log.seal();
  return { log: copy, isExact };
}

class Log {
  readonly #bytes: Buffer;
  readonly #words: Uint32Array;
  readonly frames: number;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
    const words = Math.floor(bytes.length / Uint32Array.BYTES_PER_ELEMENT);
    this.#words = new Uint32Array(bytes.buffer, bytes.byteOffset, words);
    this.frames = Math.max(0, Math.floor((bytes.length - HEADER_BYTES) / FRAME_BYTES));
  }

  /** The first invalid frame, counted from 1; 0 for the header. */
  firstBroken(): number | undefined {
    for (let frame = 0; frame <= this.frames; frame++) if (!this.isIntact(frame)) return frame;
    return undefined;
  }

  isIntact(frame: number): boolean {
    if (frame === 0) return this.#bytes.readUInt32BE(0) === MAGIC && this.hasItsChecksum(0);
    return this.#hasSalt(frame) && this.hasItsChecksum(frame);
  }

  /** Whether an intact frame is the last one of a commit. */
  endsCommit(frame: number): boolean {
    return frame > 0 && this.#bytes.readUInt32BE(placeOf(frame) + FRAME_PAGES_AFTER_COMMIT) > 0;
  }

  /** Whether a broken frame was the last one of a commit, according to its header. */
  wasCommit(frame: number): boolean {
    // An interrupted write may have left half of a header that spans two sectors.
    const isWhole = (placeOf(frame) % SECTOR_BYTES) + FRAME_CHECKSUM <= SECTOR_BYTES;
    return isWhole && this.endsCommit(frame) && (this.#hasSalt(frame) || this.hasItsChecksum(frame));
  }

  /** Recomputes the checksums of all frames. */
  seal(): void {
    const salt = Buffer.from(this.#salt);
    this.#bytes.writeUInt32BE(MAGIC, 0);
    this.#bytes.writeUInt32BE(FORMAT, HEADER_FORMAT);
    this.#bytes.writeUInt32BE(PAGE_BYTES, HEADER_PAGE_BYTES);
    salt.copy(this.#bytes, HEADER_SALT);
    for (let frame = 0; frame <= this.frames; frame++) {
      if (frame > 0) salt.copy(this.#bytes, placeOf(frame) + FRAME_SALT);
      const { first, second } = this.#checksumOver(frame);
      const at = checksumPlaceOf(frame);
      this.#bytes.writeUInt32BE(first, at);
      this.#bytes.writeUInt32BE(second, at + 4);
    }
  }

  get #salt(): Buffer {
    // In a damaged header, the salt itself may be wrong.
    const at = this.isIntact(0) || this.frames === 0 ? HEADER_SALT : placeOf(1) + FRAME_SALT;
    return this.#bytes.subarray(at, at + SALT_BYTES);
  }

  #hasSalt(frame: number): boolean {
    const at = placeOf(frame) + FRAME_SALT;
    return this.#salt.equals(this.#bytes.subarray(at, at + SALT_BYTES));
  }

  hasItsChecksum(frame: number): boolean {
    const stored = this.#checksumAt(frame);
    const found = this.#checksumOver(frame);
    return stored.first === found.first && stored.second === found.second;
  }

  #checksumAt(frame: number): Checksum {
    const at = checksumPlaceOf(frame);
    return { first: this.#bytes.readUInt32BE(at), second: this.#bytes.readUInt32BE(at + 4) };
  }

  /** The expected checksum, given the previous one. */
  #checksumOver(frame: number): Checksum {
    let { first, second } = frame === 0 ? { first: 0, second: 0 } : this.#checksumAt(frame - 1);
    for (const [from, to] of this.#covered(frame)) {
      for (let word = from; word < to; word += 2) {
        first = (first + (this.#words[word] as number) + second) >>> 0;
        second = (second + (this.#words[word + 1] as number) + first) >>> 0;
      }
    }
    return { first, second };
  }

  /** The ranges of words that a checksum covers. */
  #covered(frame: number): [from: number, to: number][] {
    if (frame === 0) return [[0, HEADER_CHECKSUM / 4]];
    const at = placeOf(frame) / 4;
    return [
      [at, at + FRAME_SALT / 4],
      [at + FRAME_HEADER_BYTES / 4, at + FRAME_BYTES / 4],
    ];
  }
}

function placeOf(frame: number): number {
  return HEADER_BYTES + (frame - 1) * FRAME_BYTES;
}

function checksumPlaceOf(frame: number): number {
  return frame === 0 ? HEADER_CHECKSUM : placeOf(frame) + FRAME_CHECKSUM;
}
