import { hash } from 'node:crypto';
import type { Operation } from './tables.ts';

/**
 * A record of the journal: one group of commits, as one line.
 *
 * ```
 * <sequence> <bytes of payload> <checksum of the record before> <own checksum> <payload>\n
 * ```
 *
 * The payload is JSON: `[[table, id, row], [table, id removed], …]`. The chain of checksums makes a missing, repeated
 * or reordered record as visible as an altered one. The checksum of the record before stands in the line, so that a
 * record can be judged by itself.
 */
export interface JournalRecord {
  sequence: number;
  previous: string;
  checksum: string;
  operations: Pick<Operation, 'table' | 'id' | 'row'>[];
}

/** A point of the journal: the last record before it. */
export interface Mark {
  sequence: number;
  checksum: string;
}

/** Of the digits of a SHA-256: 128 bits. */
const CHECKSUM_LENGTH = 32;

export const BEGINNING: Mark = { sequence: 0, checksum: '0'.repeat(CHECKSUM_LENGTH) };

const NEWLINE = 10;

/** More than any head takes: two numbers, two checksums and four spaces. */
const HEAD_BYTES = 128;
const ROOM_BYTES = 512 * 1024;
/** Of UTF-16, in UTF-8. */
const MOST_BYTES_OF_A_CHARACTER = 3;

/** Makes records, nearly all in the same memory: new memory for each would be a lot of garbage, many times a second. */
export class RecordEncoder {
  readonly #ownRoom = Buffer.allocUnsafeSlow(ROOM_BYTES);

  /** The bytes of the record that follows `after`, valid until the next call, and the mark behind it. */
  encode(after: Mark, operations: Operation[]): { bytes: Buffer; mark: Mark } {
    // In one go: row by row, and each put into place by itself, it takes a quarter more.
    const payload = JSON.stringify(
      operations.map(({ table, id, row }) => (row === undefined ? [table, id] : [table, id, row])),
    );
    const room = this.#roomFor(payload);
    let end = HEAD_BYTES + room.write(payload, HEAD_BYTES);

    const sequence = after.sequence + 1;
    // What goes into the checksum before the payload stands there for that moment only.
    const before = putBefore(room, beforePayload(after.checksum, sequence));
    const checksum = hash('sha256', room.subarray(before, end)).slice(0, CHECKSUM_LENGTH);
    const head = `${sequence} ${end - HEAD_BYTES} ${after.checksum} ${checksum} `;
    const start = putBefore(room, head);
    end += room.write('\n', end, 'latin1');
    return { bytes: room.subarray(start, end), mark: { sequence, checksum } };
  }

  #roomFor(payload: string): Buffer {
    const fits = HEAD_BYTES + MOST_BYTES_OF_A_CHARACTER * payload.length < ROOM_BYTES;
    return fits ? this.#ownRoom : Buffer.allocUnsafeSlow(HEAD_BYTES + Buffer.byteLength(payload) + 1);
  }
}

/** Writes text that ends where the payload begins. Where it begins itself. */
function putBefore(room: Buffer, text: string): number {
  const start = HEAD_BYTES - text.length;
  room.write(text, start, 'latin1');
  return start;
}

const HEAD = /^([1-9]\d{0,15}) ([1-9]\d{0,15}) ([0-9a-f]{32}) ([0-9a-f]{32}) /;

/** A line as a record; undefined when it isn't one, or its checksum doesn't fit. `line` is without its newline. */
export function decodeRecord(line: Buffer): JournalRecord | undefined {
  const head = HEAD.exec(line.toString('latin1', 0, 128));
  if (!head) return undefined;
  const [all, sequenceText, bytes, previous, checksum] = head as unknown as [
    string,
    string,
    string,
    string,
    string,
  ];
  if (line.length !== all.length + Number(bytes)) return undefined;
  const payload = line.toString('utf8', all.length);
  const sequence = Number(sequenceText);
  if (checksumOf(previous, sequence, payload) !== checksum) return undefined;
  const rows = JSON.parse(payload) as [table: string, id: string, row?: unknown][];
  return { sequence, previous, checksum, operations: rows.map(([table, id, row]) => ({ table, id, row })) };
}

/** What a journal's bytes hold. */
export interface JournalContent {
  records: JournalRecord[];
  /** Where the last good record ends, its newline included. */
  goodBytes: number;
  end:
    | 'clean'
    /** The last record was never completely written, so nobody was told of it; or it is there a second time. */
    | 'torn'
    /** The last record is complete but its checksum is wrong: it may have been acknowledged. */
    | 'doubtful'
    /** A bad record stands before a good one. */
    | 'damaged';
}

/**
 * Reads records that follow `after` from `start`.
 *
 * A record is written as a whole and flushed before the next one, so only the last can be incomplete: cut short, or
 * with blocks that never reached the medium and read as zeros. JSON has no zero bytes, which tells such a record from
 * one that was altered later.
 */
export function readRecords(bytes: Buffer, start: number, after: Mark): JournalContent {
  const records: JournalRecord[] = [];
  let at = start;
  let last = after;
  while (at < bytes.length) {
    const newline = bytes.indexOf(NEWLINE, at);
    const end = newline < 0 ? bytes.length : newline;
    const record = decodeRecord(bytes.subarray(at, end));
    if (record?.sequence !== last.sequence + 1 || record.previous !== last.checksum) {
      return { records, goodBytes: at, end: judgeTail(bytes.subarray(at), records) };
    }
    records.push(record);
    last = record;
    at = end + 1; // Beyond the file's end where just the newline is missing: the record is good, a rewrite adds it.
  }
  return { records, goodBytes: at, end: 'clean' };
}

/** What is whole in a damaged journal: records good in themselves, by their stated length, and the text of the rest. */
export function salvageRecords(bytes: Buffer): {
  records: JournalRecord[];
  lost: { at: number; text: string; torn: boolean }[];
} {
  const records: JournalRecord[] = [];
  const lost: { at: number; text: string; torn: boolean }[] = [];
  for (let at = 0; at < bytes.length; ) {
    const head = HEAD.exec(bytes.toString('latin1', at, at + 128));
    const statedEnd = head ? at + head[0].length + Number(head[2]) : at;
    const record = head && decodeRecord(bytes.subarray(at, statedEnd));
    if (record) {
      records.push(record);
      const ends = statedEnd >= bytes.length || bytes[statedEnd] === NEWLINE;
      if (!ends) lost.push({ at: statedEnd, text: '', torn: false });
      at = statedEnd + 1;
      continue;
    }
    const newline = bytes.indexOf(NEWLINE, at);
    const end = newline < 0 ? bytes.length : newline;
    const line = bytes.subarray(at, end);
    lost.push({
      at,
      text: line.toString(),
      torn: newline < 0 || (end + 1 === bytes.length && line.includes(0)),
    });
    at = end + 1;
  }
  return { records, lost };
}

/** What a bad record at the beginning of `tail` means; `before` are the good ones in front of it. */
function judgeTail(tail: Buffer, before: JournalRecord[]): JournalContent['end'] {
  const known = new Set(before.map((record) => record.checksum));
  const lines = linesOf(tail);
  const decoded = lines.map(decodeRecord);
  // Good in itself, but out of its order. One that repeats what was read already says nothing new.
  if (decoded.some((record) => record && !known.has(record.checksum))) return 'damaged';
  const doubtful = lines.filter((_, i) => !decoded[i]);
  if (doubtful.length === 0 || tail.at(-1) !== NEWLINE || doubtful.some((line) => line.includes(0)))
    return 'torn';
  return 'doubtful';
}

function linesOf(bytes: Buffer): Buffer[] {
  const lines: Buffer[] = [];
  for (let at = 0; at < bytes.length; ) {
    const newline = bytes.indexOf(NEWLINE, at);
    const end = newline < 0 ? bytes.length : newline;
    lines.push(bytes.subarray(at, end));
    at = end + 1;
  }
  return lines;
}

function checksumOf(previous: string, sequence: number, payload: string): string {
  return hash('sha256', beforePayload(previous, sequence) + payload).slice(0, CHECKSUM_LENGTH);
}

function beforePayload(previous: string, sequence: number): string {
  return `${previous} ${sequence} `;
}
