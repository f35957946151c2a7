import { createHash, type Hash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { Mark } from './journal-record.ts';
import type { PackDescription } from './pack.ts';
import { type Tables, tableIn } from './tables.ts';

/** The format of snapshot, journal and packs together. */
export const FORMAT = 2;

const PIECE_BYTES = 64 * 1024;

export interface SnapshotHead {
  format: number;
  /** The last record that the rows contain. */
  sequence: number;
  checksum: string;
  /** Where the other rows are, oldest first. */
  packs: PackDescription[];
}

/** What a snapshot on the disk says. */
export interface SnapshotContent {
  format: number;
  mark: Mark;
  tables: Tables;
  packs: PackDescription[];
}

/**
 * All rows in memory at one point of the journal, as lines of JSON: a head, a row each, and a foot with the number of
 * rows, a checksum over all before it, and the head again. Each line ends with a tab and a checksum of its own, which
 * tells after a damage which rows are whole. Made piece by piece, so that a large one doesn't hold up anything else.
 */
export function* snapshotPieces(tables: Tables, packs: PackDescription[], mark: Mark): Generator<Buffer> {
  const hash = createHash('sha256');
  const head: SnapshotHead = { format: FORMAT, ...mark, packs };
  let lines = [checkedLine(head)];
  let length = 0;
  let rowCount = 0;
  for (const [table, rows] of tables) {
    for (const [id, row] of rows) {
      const line = checkedLine([table, id, row]);
      lines.push(line);
      rowCount += 1;
      length += line.length;
      if (length < PIECE_BYTES) continue;
      yield hashed(lines, hash);
      lines = [];
      length = 0;
    }
  }
  yield hashed(lines, hash);
  yield Buffer.from(`${checkedLine({ rows: rowCount, checksum: hash.digest('hex'), head })}\n`);
}

function checkedLine(value: unknown): string {
  const json = JSON.stringify(value);
  return `${json}\t${checksumOf(json)}`;
}

function checksumOf(json: string): string {
  return crc32(json).toString(16).padStart(8, '0');
}

/** What a line says; format 1 had no checksums. JSON holds no raw tab. */
function lineValue(line: string): unknown {
  const tab = line.indexOf('\t');
  return JSON.parse(tab < 0 ? line : line.slice(0, tab));
}

/** What is whole in a damaged snapshot: lines whose own checksum fits, and the raw text of the others. */
export function salvageSnapshot(bytes: Buffer): {
  head: SnapshotHead | undefined;
  rows: [table: string, id: string, row: unknown][];
  lost: { at: number; text: string }[];
} {
  let head: SnapshotHead | undefined;
  const rows: [string, string, unknown][] = [];
  const lost: { at: number; text: string }[] = [];
  for (let at = 0; at < bytes.length; ) {
    const newline = bytes.indexOf(10, at);
    const end = newline < 0 ? bytes.length : newline;
    const text = bytes.toString('utf8', at, end);
    const tab = text.indexOf('\t');
    if (tab < 0 || checksumOf(text.slice(0, tab)) !== text.slice(tab + 1)) lost.push({ at, text });
    else {
      const value = lineValue(text) as SnapshotHead | { head: SnapshotHead } | [string, string, unknown];
      if (Array.isArray(value)) rows.push(value);
      else head = 'head' in value ? value.head : value;
    }
    at = end + 1;
  }
  return { head, rows, lost };
}

function hashed(lines: string[], hash: Hash): Buffer {
  const piece = Buffer.from(lines.map((line) => `${line}\n`).join(''));
  hash.update(piece);
  return piece;
}

/**
 * What a snapshot says; undefined when it is incomplete or altered. Of a format that isn't among `formats` it gives
 * back no more than the number.
 */
export function readSnapshot(bytes: Buffer, formats: number[]): SnapshotContent | undefined {
  const headEnd = bytes.indexOf(10);
  const footStart = bytes.lastIndexOf(10, -2) + 1;
  if (headEnd < 0 || footStart <= headEnd || bytes.at(-1) !== 10) return undefined;
  try {
    const head = lineValue(bytes.toString('utf8', 0, headEnd)) as SnapshotHead;
    const { format, sequence, checksum, packs = [] } = head;
    const mark = { sequence, checksum };
    const tables: Tables = new Map();
    if (!formats.includes(format)) return { format, mark, tables, packs };
    const foot = lineValue(bytes.toString('utf8', footStart)) as { rows: number; checksum: string };
    if (createHash('sha256').update(bytes.subarray(0, footStart)).digest('hex') !== foot.checksum)
      return undefined;
    let rowCount = 0;
    for (let at = headEnd + 1; at < footStart; rowCount++) {
      const end = bytes.indexOf(10, at);
      const [table, id, row] = lineValue(bytes.toString('utf8', at, end)) as [string, string, unknown];
      tableIn(tables, table).set(id, row);
      at = end + 1;
    }
    return rowCount === foot.rows ? { format, mark, tables, packs } : undefined;
  } catch {
    return undefined;
  }
}
