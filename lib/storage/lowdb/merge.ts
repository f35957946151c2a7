import type { Block, BlockList } from './block-list.ts';
import type { Pack } from './pack.ts';
import { linesOf, type PackedRow, type PackedRun } from './pack-format.ts';

/** Copied in one go. */
const RUN_BYTES = 64 * 1024;

/**
 * The rows of packs that stand one behind the other, table by table; what a newer one says of a row counts. Blocks whose
 * ids nobody else has anything between are taken as they are: rows come by time, so these are nearly all.
 *
 * `packs`: newest first. `dropRemovals`: there is no older pack, in which a removed row could be.
 */
export async function* merged(
  packs: Pack[],
  { dropRemovals }: { dropRemovals: boolean },
): AsyncGenerator<PackedRow | PackedRun> {
  const tables = [...new Set(packs.flatMap(({ tables }) => tables))].sort();
  for (const table of tables) {
    let sources = packs.map((pack) => new Source(pack, table));
    for (;;) {
      sources = sources.filter(({ id }) => id !== undefined);
      const [first, limit] = smallestTwo(sources);
      if (!first) break;
      const blocks = first.blocksBelow(limit);
      if (blocks.length > 0) {
        const bytes = await first.take(blocks);
        yield { table, blocks, bytes, before: first.id as string };
        continue;
      }
      const id = first.id as string;
      const rows = sources.filter((source) => source.id === id);
      for (const row of rows) await row.open();
      const { json } = (rows[0] as Source).row;
      if (json !== undefined || !dropRemovals) yield { table, id, json };
      for (const row of rows) row.next();
    }
  }
}

/** The source that comes first, and the id that the next one stands at. */
function smallestTwo(sources: Source[]): [first: Source | undefined, limit: string | undefined] {
  let first: Source | undefined;
  let limit: string | undefined;
  for (const source of sources) {
    const id = source.id as string;
    if (!first || id < (first.id as string)) {
      limit = first?.id;
      first = source;
    } else if (limit === undefined || id < limit) limit = id;
  }
  return [first, limit];
}

/** One pack's part in a merge of a table: stands before a block, or at a row of one that was opened. */
class Source {
  readonly #pack: Pack;
  readonly #blocks: BlockList;
  #next = 0;
  #rows: { id: string; json: string | undefined }[] = [];
  #at = 0;

  constructor(pack: Pack, table: string) {
    this.#pack = pack;
    this.#blocks = pack.blocksOf(table);
  }

  /** Where it stands; undefined at the end. */
  get id(): string | undefined {
    return this.#rows[this.#at]?.id ?? this.#blocks.firstId(this.#next);
  }

  get row(): { id: string; json: string | undefined } {
    return this.#rows[this.#at] as { id: string; json: string | undefined };
  }

  async open(): Promise<void> {
    if (this.#rows[this.#at]) return;
    this.#rows = [...linesOf(await this.#pack.readBlock(this.#blocks.at(this.#next) as Block))];
    this.#next += 1;
    this.#at = 0;
  }

  next(): void {
    this.#at += 1;
  }

  /**
   * The blocks before it whose ids are all smaller than the limit. Never a pack's last: that one may be small, and is
   * filled up with what follows.
   */
  blocksBelow(limit: string | undefined): Block[] {
    if (this.#rows[this.#at]) return [];
    const run: Block[] = [];
    for (let sizeBytes = 0; sizeBytes < RUN_BYTES; ) {
      const following = this.#blocks.firstId(this.#next + run.length + 1);
      if (following === undefined || (limit !== undefined && following > limit)) break;
      const block = this.#blocks.at(this.#next + run.length) as Block;
      run.push(block);
      sizeBytes += block.sizeBytes;
    }
    return run;
  }

  take(blocks: Block[]): Promise<Buffer> {
    this.#next += blocks.length;
    return this.#pack.readBytes(blocks);
  }
}
