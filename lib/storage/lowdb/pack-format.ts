import { createHash } from 'node:crypto';
import { crc32, deflateRawSync, inflateRawSync } from 'node:zlib';

/**
 * A pack is a file of rows that are finished. It is written once and never changed.
 *
 * ```
 * block …   lines of one table, compressed: `<id as JSON>\t<row as JSON>\n`; without a row: the row was removed
 * index     JSON, compressed: where the blocks of each table are, and with which id each begins
 * trailer   `<place of the index> <its bytes> <its checksum>\n`, always as long
 * ```
 *
 * Rows are sorted by id (as JavaScript compares text), tables by name. JSON holds no raw tab or newline, so lines can
 * be told apart and found without parsing them.
 */
export interface PackedRow {
  table: string;
  id: string;
  /** Undefined: the row was removed. */
  json: string | undefined;
}

/** A block as it stands in a file. */
export interface Block {
  firstId: string;
  at: number;
  sizeBytes: number;
  checksum: number;
}

/** The blocks of one table, in the order of their ids. */
export interface TableIndex {
  table: string;
  lastId: string;
  blocks: Block[];
}

type StoredIndex = { table: string; lastId: string; blocks: [string, number, number, number][] }[];

/** Of text, before compression. Small, because a look-up reads a whole one. */
const BLOCK_LENGTH = 8 * 1024;
const COMPRESSION = { level: 6 };

export const TRAILER_BYTES = 66;
const TRAILER = /^(\d{16}) (\d{16}) ([0-9a-f]{31})\n$/;

/** A pack of rows that come in order, piece by piece. */
export async function* packPieces(
  rows: AsyncIterable<PackedRow> | Iterable<PackedRow>,
): AsyncGenerator<Buffer> {
  const index: TableIndex[] = [];
  let at = 0;
  let lines: string[] = [];
  let length = 0;
  let firstId = '';
  const endBlock = (): Buffer | undefined => {
    if (lines.length === 0) return undefined;
    const bytes = deflateRawSync(lines.join(''), COMPRESSION);
    index.at(-1)?.blocks.push({ firstId, at, sizeBytes: bytes.length, checksum: crc32(bytes) });
    at += bytes.length;
    lines = [];
    length = 0;
    return bytes;
  };
  for await (const { table, id, json } of rows) {
    if (index.at(-1)?.table !== table || length >= BLOCK_LENGTH) {
      const block = endBlock();
      if (block) yield block;
    }
    if (index.at(-1)?.table !== table) index.push({ table, lastId: id, blocks: [] });
    if (lines.length === 0) firstId = id;
    const line = json === undefined ? `${JSON.stringify(id)}\n` : `${JSON.stringify(id)}\t${json}\n`;
    lines.push(line);
    length += line.length;
    (index.at(-1) as TableIndex).lastId = id;
  }
  const block = endBlock();
  if (block) yield block;
  const bytes = encodeIndex(index);
  yield bytes;
  yield Buffer.from(`${digits(at)} ${digits(bytes.length)} ${indexChecksum(bytes)}\n`);
}

function digits(number: number): string {
  return String(number).padStart(16, '0');
}

function indexChecksum(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex').slice(0, 31);
}

function encodeIndex(index: TableIndex[]): Buffer {
  const stored: StoredIndex = index.map(({ table, lastId, blocks }) => ({
    table,
    lastId,
    blocks: blocks.map(({ firstId, at, sizeBytes, checksum }) => [firstId, at, sizeBytes, checksum]),
  }));
  return deflateRawSync(JSON.stringify(stored), COMPRESSION);
}

/** Where a pack's index is; undefined when these are not the last bytes of a pack. */
export function decodeTrailer(
  bytes: Buffer,
): { at: number; sizeBytes: number; checksum: string } | undefined {
  const [, at, sizeBytes, checksum] = TRAILER.exec(bytes.toString('latin1')) ?? [];
  return checksum === undefined ? undefined : { at: Number(at), sizeBytes: Number(sizeBytes), checksum };
}

/** Undefined when it was altered. */
export function decodeIndex(bytes: Buffer, checksum: string): TableIndex[] | undefined {
  if (indexChecksum(bytes) !== checksum) return undefined;
  const stored = JSON.parse(inflateRawSync(bytes).toString()) as StoredIndex;
  return stored.map(({ table, lastId, blocks }) => ({
    table,
    lastId,
    blocks: blocks.map(([firstId, at, sizeBytes, checksum]) => ({ firstId, at, sizeBytes, checksum })),
  }));
}

/** The lines of a block; undefined when it was altered. */
export function decodeBlock(bytes: Buffer, { checksum }: Block): string | undefined {
  return crc32(bytes) === checksum ? inflateRawSync(bytes).toString() : undefined;
}

/** The row of an id in the lines of a block: its JSON, null when it was removed, undefined when it isn't there. */
export function findLine(lines: string, id: string): string | null | undefined {
  const name = JSON.stringify(id);
  let at = lines.startsWith(name) ? 0 : lines.indexOf(`\n${name}`) + 1;
  // An id's JSON ends with a quote, so nothing longer begins with it.
  if (at === 0 && !lines.startsWith(name)) return undefined;
  at += name.length;
  return lines[at] === '\t' ? lines.slice(at + 1, lines.indexOf('\n', at)) : null;
}

/** The rows of a block, in order. */
export function* linesOf(lines: string): Generator<{ id: string; json: string | undefined }> {
  for (let at = 0; at < lines.length; ) {
    const end = lines.indexOf('\n', at);
    const tab = lines.indexOf('\t', at);
    const hasRow = tab >= 0 && tab < end;
    const id = JSON.parse(lines.slice(at, hasRow ? tab : end)) as string;
    yield { id, json: hasRow ? lines.slice(tab + 1, end) : undefined };
    at = end + 1;
  }
}
