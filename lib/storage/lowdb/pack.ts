import { ScenepressError } from '../../errors.ts';
import type { Disk, FileReader } from '../disk.ts';
import { type Block, BlockList } from './block-list.ts';
import { type Cursor, type Entry, isWithin, type Range } from './cursor.ts';
import {
  decodeBlock,
  decodeIndex,
  decodeTrailer,
  findLine,
  linesOf,
  type TableIndex,
  TRAILER_BYTES,
} from './pack-format.ts';

/** What a snapshot says of a pack. */
export interface PackDescription {
  name: string;
  sizeBytes: number;
  /** Of its index, which has the checksums of all else. */
  checksum: string;
  /** How many of its rows later packs replace or remove. */
  outdatedRows: number;
}

/** Read in one go by those who want all rows: much in one read, little in one turn of the event loop. */
const RUN_BYTES = 32 * 1024;

/** What look-ups read into, one after the other: buffers of their own would be garbage at once. */
const ROOM = Buffer.allocUnsafeSlow(16 * 1024);

/** One open pack: a sparse index in memory, the rows on the disk. */
export class Pack {
  readonly name: string;
  readonly sizeBytes: number;
  readonly checksum: string;
  readonly #file: FileReader;
  readonly #path: string;
  readonly #tables: Map<string, TableIndex>;
  outdatedRows: number;
  /** It is closed when nobody reads it any more. */
  #readers = 1;

  private constructor(
    path: string,
    { name, sizeBytes, checksum, outdatedRows }: PackDescription,
    file: FileReader,
    tables: TableIndex[],
  ) {
    this.name = name;
    this.sizeBytes = sizeBytes;
    this.checksum = checksum;
    this.outdatedRows = outdatedRows;
    this.#file = file;
    this.#path = path;
    this.#tables = new Map(tables.map((index) => [index.table, index]));
  }

  /** Opens a pack; `storage_damaged` when it is missing, not whole, or not the one that `expected` describes. */
  static async open(disk: Disk, folder: string, name: string, expected?: PackDescription): Promise<Pack> {
    const path = `${folder}/${name}`;
    const file = await disk.openToRead(path);
    if (!file) throw damaged(path, 'it is missing');
    try {
      const end = Math.max(0, file.sizeBytes - TRAILER_BYTES);
      const trailer = decodeTrailer(await file.read(end, Buffer.alloc(TRAILER_BYTES)));
      const whole =
        expected === undefined ||
        (expected.sizeBytes === file.sizeBytes && expected.checksum === trailer?.checksum);
      const index =
        trailer &&
        whole &&
        (await decodeIndex(await file.read(trailer.at, Buffer.alloc(trailer.sizeBytes)), trailer.checksum));
      if (!index) throw damaged(path, 'it is not whole');
      const { sizeBytes } = file;
      const { checksum } = trailer;
      return new Pack(
        path,
        { name, sizeBytes, checksum, outdatedRows: expected?.outdatedRows ?? 0 },
        file,
        index,
      );
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  get description(): PackDescription {
    const { name, sizeBytes, checksum, outdatedRows } = this;
    return { name, sizeBytes, checksum, outdatedRows };
  }

  get tables(): string[] {
    return [...this.#tables.keys()];
  }

  /** Keeps it open until `release`, also when it is no longer part of the archive. */
  hold(): void {
    this.#readers += 1;
  }

  async release(): Promise<void> {
    this.#readers -= 1;
    if (this.#readers === 0) await this.#file.close();
  }

  blocksOf(table: string): BlockList {
    return this.#tables.get(table)?.blocks ?? BlockList.empty;
  }

  /** The row's JSON, null when this pack says that it was removed, undefined when it says nothing of it. */
  find(table: string, id: string): string | null | undefined {
    const index = this.#tables.get(table);
    if (!index || id > index.lastId) return undefined;
    const block = index.blocks.at(index.blocks.lastNotAfter(id));
    if (!block) return undefined;
    const room = block.sizeBytes <= ROOM.length ? ROOM : Buffer.allocUnsafe(block.sizeBytes);
    const bytes = this.#file.readNow(block.at, room.subarray(0, block.sizeBytes));
    return findLine(this.#decode(bytes, block), id);
  }

  async readBlock(block: Block): Promise<string> {
    const bytes = await this.#file.read(block.at, Buffer.allocUnsafe(block.sizeBytes));
    return this.#decode(bytes, block);
  }

  /** Every block of it, with its rows where it is whole. */
  async *blocks(): AsyncGenerator<{
    table: string;
    firstId: string;
    at: number;
    rows: { id: string; json: string | undefined }[] | undefined;
  }> {
    for (const [table, { blocks }] of this.#tables) {
      for (const block of blocks) {
        const { firstId, at } = block;
        const lines = decodeBlock(await this.#file.read(at, Buffer.allocUnsafe(block.sizeBytes)), block);
        yield { table, firstId, at, rows: lines === undefined ? undefined : [...linesOf(lines)] };
      }
    }
  }

  /** All bytes, in pieces. */
  async *bytes(): AsyncGenerator<Buffer> {
    for (let at = 0; at < this.sizeBytes; at += PIECE_BYTES) {
      yield await this.#file.read(at, Buffer.allocUnsafe(Math.min(PIECE_BYTES, this.sizeBytes - at)));
    }
  }

  cursor(table: string, range: Range): Cursor {
    return new PackCursor(this, this.blocksOf(table), range);
  }

  /** The bytes of blocks that lie one after the other; in `room`, if that is large enough. */
  readBytes(blocks: Block[], room?: Buffer): Promise<Buffer> {
    const start = (blocks[0] as Block).at;
    const last = blocks.at(-1) as Block;
    const sizeBytes = last.at + last.sizeBytes - start;
    const fits = room !== undefined && sizeBytes <= room.length;
    return this.#file.read(start, fits ? room.subarray(0, sizeBytes) : Buffer.allocUnsafe(sizeBytes));
  }

  /** The lines of blocks that lie one after the other, read at once. */
  async readRun(blocks: Block[], room: Buffer): Promise<string[]> {
    const start = (blocks[0] as Block).at;
    const bytes = await this.readBytes(blocks, room);
    return blocks.map((block) =>
      this.#decode(bytes.subarray(block.at - start, block.at - start + block.sizeBytes), block),
    );
  }

  #decode(bytes: Buffer, block: Block): string {
    const lines = decodeBlock(bytes, block);
    if (lines === undefined) throw damaged(this.#path, `it was altered (at byte ${block.at})`);
    return lines;
  }
}

const PIECE_BYTES = 1024 * 1024;

class PackCursor implements Cursor {
  readonly #pack: Pack;
  readonly #blocks: BlockList;
  readonly #range: Range;
  #nextBlock: number;
  #entries: Entry[] = [];
  #at = 0;
  /** Used again and again: node would let many megabytes of such buffers gather before it frees them. */
  #room: Buffer | undefined;
  current: Entry | undefined;

  constructor(pack: Pack, blocks: BlockList, range: Range) {
    this.#pack = pack;
    this.#blocks = blocks;
    this.#range = range;
    this.#nextBlock = range.backwards
      ? range.before === undefined
        ? blocks.length - 1
        : blocks.lastNotAfter(range.before)
      : Math.max(0, range.from === undefined ? 0 : blocks.lastNotAfter(range.from));
  }

  next(): Promise<void> | undefined {
    this.current = this.#entries[this.#at];
    this.#at += 1;
    if (this.current || !this.#hasMore()) return undefined;
    return this.#read();
  }

  #hasMore(): boolean {
    const next = this.#nextBlock;
    if (next < 0 || next >= this.#blocks.length) return false;
    const { backwards, from, before } = this.#range;
    if (!backwards) return before === undefined || (this.#blocks.firstId(next) as string) < before;
    // Blocks in front of the one that `from` lies in have nothing for it.
    const after = this.#blocks.firstId(next + 1);
    return from === undefined || after === undefined || after > from;
  }

  async #read(): Promise<void> {
    do {
      const run = this.#nextRun();
      this.#room ??= Buffer.allocUnsafeSlow(this.#range.backwards ? 0 : 2 * RUN_BYTES);
      const texts = await this.#pack.readRun(run, this.#room);
      const entries: Entry[] = [];
      for (const text of texts) {
        for (const entry of linesOf(text)) if (isWithin(entry.id, this.#range)) entries.push(entry);
      }
      this.#entries = this.#range.backwards ? entries.reverse() : entries;
    } while (this.#entries.length === 0 && this.#hasMore());
    this.current = this.#entries[0];
    this.#at = 1;
  }

  /** Backwards one block, because who goes backwards wants the first few; forwards several. */
  #nextRun(): Block[] {
    const first = this.#blocks.at(this.#nextBlock) as Block;
    if (this.#range.backwards) {
      this.#nextBlock -= 1;
      return [first];
    }
    const run: Block[] = [];
    let sizeBytes = 0;
    do {
      const block = this.#blocks.at(this.#nextBlock) as Block;
      run.push(block);
      sizeBytes += block.sizeBytes;
      this.#nextBlock += 1;
    } while (sizeBytes < RUN_BYTES && this.#hasMore());
    return run;
  }
}

function damaged(path: string, what: string): ScenepressError {
  return new ScenepressError(
    'storage_damaged',
    `${path} is damaged: ${what}. Nothing was changed. \`scenepress recover\` says what can be saved.`,
  );
}
