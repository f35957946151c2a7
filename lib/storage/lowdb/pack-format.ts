import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { crc32, deflateRaw, deflateRawSync, inflateRaw, inflateRawSync } from 'node:zlib';
import { type Block, BlockList, type StoredBlock } from './block-list.ts';

/**
 * A pack is a file of rows that are finished. It is written once and never changed.
 *
 * ```
 * block …   lines of one table, deflated: `<id as JSON>\t<row as JSON>\n`; without a row: the row was removed
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

/** Blocks of another pack that are taken over as they are, all bytes of them in one piece. */
export interface PackedRun {
  table: string;
  blocks: Block[];
  bytes: Buffer;
  /** An id behind all of theirs. */
  before: string;
}

/** The blocks of one table, in the order of their ids. */
interface StoredTable {
  table: string;
  /** No id is behind this one; it need not be there itself. */
  lastId: string;
  blocks: StoredBlock[];
}

/** The same, as it is kept in memory. */
export type TableIndex = Omit<StoredTable, 'blocks'> & { blocks: BlockList };

/** Of text, before compression. Small, because a look-up reads a whole one. */
const BLOCK_LENGTH = 8 * 1024;
/** Of text that isn't compressed: two jobs or three. What is read beside the one that is sought costs as much. */
const READABLE_BLOCK_LENGTH = 3 * 512;
const COMPRESSION = { level: 3 };
/** Of texts that fit into a small window: to make the large one ready takes longer than to compress them. */
const SMALL_COMPRESSION = { ...COMPRESSION, windowBits: 14, memLevel: 6 };
/** Longer blocks are compressed in another thread: while many jobs come, that is a good part of all there is to do. */
const WORTH_A_THREAD_LENGTH = 4 * 1024;
/** Deflate's own way of holding text as it is. */
const NO_COMPRESSION = { level: 0 };
/** Written in one go: each write waits for its turn on a busy event loop, and nothing else runs while it is made. */
const PIECE_BYTES = 64 * 1024;

const deflate = promisify<string, { level: number }, Buffer>(deflateRaw);
const inflate = promisify<Buffer, Buffer>(inflateRaw);

/** Behind every id there is. */
const ANY_ID = '\uffff'.repeat(8);

export const TRAILER_BYTES = 66;
const TRAILER = /^(\d{16}) (\d{16}) ([0-9a-f]{31})\n$/;

/** A pack of rows that come in order, piece by piece. `readable`: tables whose rows are not compressed. */
export async function* packPieces(
  rows: AsyncIterable<PackedRow | PackedRun> | Iterable<PackedRow>,
  { readable = () => false }: { readable?: (table: string) => boolean } = {},
): AsyncGenerator<Buffer> {
  const builder = new PackBuilder(readable);
  for await (const row of rows) {
    const wait = 'blocks' in row ? builder.addRun(row) : builder.addRow(row);
    if (wait !== undefined) await wait;
    if (builder.pieceBytes >= PIECE_BYTES) yield builder.takePiece();
  }
  await builder.end();
  yield builder.takePiece();
}

class PackBuilder {
  readonly #readable: (table: string) => boolean;
  readonly #index: StoredTable[] = [];
  /** Where the next block begins. */
  #at = 0;
  #firstId = '';
  #lines: string[] = [];
  #length = 0;
  #piece: Buffer[] = [];
  pieceBytes = 0;

  constructor(readable: (table: string) => boolean) {
    this.#readable = readable;
  }

  /** A promise only where a block is at its end: most rows need no turn of the event loop. */
  addRow(row: PackedRow): Promise<void> | undefined {
    const limit = this.#readable(row.table) ? READABLE_BLOCK_LENGTH : BLOCK_LENGTH;
    if (this.#index.at(-1)?.table === row.table && this.#length < limit) return this.#add(row);
    return this.#endBlock().then(() => this.#add(row));
  }

  #add({ table, id, json }: PackedRow): undefined {
    this.#table(table).lastId = id;
    if (this.#lines.length === 0) this.#firstId = id;
    const line = json === undefined ? `${JSON.stringify(id)}\n` : `${JSON.stringify(id)}\t${json}\n`;
    this.#lines.push(line);
    this.#length += line.length;
  }

  async addRun({ table, blocks, bytes, before }: PackedRun): Promise<void> {
    await this.#endBlock();
    const shift = this.#at - (blocks[0] as Block).at;
    const own = this.#table(table);
    own.lastId = before;
    for (const { firstId, at, sizeBytes, checksum } of blocks)
      own.blocks.push([firstId, at + shift, sizeBytes, checksum]);
    this.#put(bytes);
  }

  /** Writes the index. */
  async end(): Promise<void> {
    await this.#endBlock();
    const bytes = await deflate(JSON.stringify(this.#index), COMPRESSION);
    const trailer = `${digits(this.#at)} ${digits(bytes.length)} ${indexChecksum(bytes)}\n`;
    this.#put(bytes);
    this.#put(Buffer.from(trailer));
  }

  takePiece(): Buffer {
    const piece = Buffer.concat(this.#piece);
    this.#piece = [];
    this.pieceBytes = 0;
    return piece;
  }

  #table(table: string): StoredTable {
    if (this.#index.at(-1)?.table !== table) this.#index.push({ table, lastId: '', blocks: [] });
    return this.#index.at(-1) as StoredTable;
  }

  async #endBlock(): Promise<void> {
    const index = this.#index.at(-1);
    if (!index || this.#lines.length === 0) return;
    const lines = this.#lines.join('');
    const compression = lines.length <= 2 * BLOCK_LENGTH ? SMALL_COMPRESSION : COMPRESSION;
    const bytes = this.#readable(index.table)
      ? deflateRawSync(lines, NO_COMPRESSION)
      : lines.length < WORTH_A_THREAD_LENGTH
        ? deflateRawSync(lines, compression)
        : await deflate(lines, compression);
    index.blocks.push([this.#firstId, this.#at, bytes.length, crc32(bytes)]);
    this.#put(bytes);
    this.#lines = [];
    this.#length = 0;
  }

  #put(bytes: Buffer): void {
    this.#piece.push(bytes);
    this.#at += bytes.length;
    this.pieceBytes += bytes.length;
  }
}

function digits(number: number): string {
  return String(number).padStart(16, '0');
}

function indexChecksum(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex').slice(0, 31);
}

/** Where a pack's index is; undefined when these are not the last bytes of a pack. */
export function decodeTrailer(
  bytes: Buffer,
): { at: number; sizeBytes: number; checksum: string } | undefined {
  const [, at, sizeBytes, checksum] = TRAILER.exec(bytes.toString('latin1')) ?? [];
  return checksum === undefined ? undefined : { at: Number(at), sizeBytes: Number(sizeBytes), checksum };
}

/** Undefined when it was altered. */
export async function decodeIndex(bytes: Buffer, checksum: string): Promise<TableIndex[] | undefined> {
  if (indexChecksum(bytes) !== checksum) return undefined;
  const stored = JSON.parse((await inflate(bytes)).toString()) as StoredTable[];
  return stored.map(({ table, lastId, blocks }) => ({
    table,
    // Packs were written that end with a run whose last id nobody had noted.
    lastId: lastId < (blocks.at(-1)?.[0] ?? '') ? ANY_ID : lastId,
    blocks: new BlockList(blocks),
  }));
}

/** The lines of a block; undefined when it was altered. */
export function decodeBlock(bytes: Buffer, { checksum }: Pick<Block, 'checksum'>): string | undefined {
  if (crc32(bytes) !== checksum) return undefined;
  return storedText(bytes) ?? inflateRawSync(bytes).toString();
}

const STORED_HEAD_BYTES = 5;

/**
 * What deflate holds in one piece as it is (RFC 1951 §3.2.4). Read by hand, because zlib takes much memory for each call,
 * and V8 collects all garbage for that: for a look-up several times the work of all else.
 */
function storedText(bytes: Buffer): string | undefined {
  const isOneStoredPiece = ((bytes[0] ?? 0) & 0b111) === 0b001;
  return isOneStoredPiece && bytes.readUInt16LE(1) === bytes.length - STORED_HEAD_BYTES
    ? bytes.toString('utf8', STORED_HEAD_BYTES)
    : undefined;
}

/** The row of an id in the lines of a block: its JSON, null when it was removed, undefined when it isn't there. */
export function findLine(lines: string, id: string): string | null | undefined {
  const name = JSON.stringify(id);
  for (let at = 0; at < lines.length; at = lines.indexOf('\n', at) + 1) {
    // An id's JSON ends with a quote, so nothing longer begins with it.
    if (!lines.startsWith(name, at)) continue;
    const end = at + name.length;
    return lines[end] === '\t' ? lines.slice(end + 1, lines.indexOf('\n', end)) : null;
  }
  return undefined;
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
