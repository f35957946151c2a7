import { type Entry, entriesOf, isWithin, MemoryCursor, MergedCursor, rowOf } from './cursor.ts';
import type { MemoryIndex } from './memory-index.ts';
import type { Pack } from './pack.ts';
import { PrefixCursor } from './prefix-cursor.ts';
import { bucketPrefix, type IndexKey, indexTable } from './tables.ts';

/** Which rows of a table are listed. */
export interface Listing {
  /** The index that gives the order; without one it is the rows' ids. */
  index?: string;
  /** The beginnings of the index's keys that are wanted: a bucket each. */
  buckets?: string[][];
  /** Only those in front of this place: an id, or an `order` of the index. */
  before?: string;
}

/** Where a listing looks. Packs are newest first. */
interface Places {
  memory: MemoryIndex | Map<string, unknown>;
  packs: Pack[];
  keyOf: ((row: unknown) => IndexKey) | undefined;
  find: (id: string) => Promise<unknown>;
}

export async function* newestFirst<Row>(
  table: string,
  { index, buckets = [], before }: Listing,
  { memory, packs, keyOf, find }: Places,
): AsyncGenerator<Row> {
  const range = { backwards: true, ...(before !== undefined && { before }) };
  const inMemory = (entries: Iterable<Entry>) =>
    new MemoryCursor(
      [...entries].filter(({ id }) => isWithin(id, range)).sort((a, b) => (a.id > b.id ? -1 : 1)),
    );

  if (memory instanceof Map) {
    const entries = memory.entries().map(([id, row]) => ({ id, row }));
    const cursors = [inMemory(entries), ...packs.map((pack) => pack.cursor(table, range))];
    for await (const entry of entriesOf(new MergedCursor(cursors, range))) {
      const row = rowOf(entry);
      if (row !== undefined) yield row as Row;
    }
    return;
  }
  const name = indexTable(table, index as string);
  const prefixes = buckets.map(bucketPrefix);
  const cursors = prefixes.flatMap((prefix) => [
    inMemory(memory.behind(prefix)),
    ...packs.map((pack) => new PrefixCursor(pack, name, prefix, range)),
  ]);
  for await (const entry of entriesOf(new MergedCursor(cursors, range))) {
    // A place in an index isn't taken back when its row changes or goes: the row itself tells. Nor is the place of
    // another bucket one of this, whose name it begins with.
    const row = await find(rowOf(entry) as string);
    if (row === undefined || !keyOf) continue;
    const { bucket, order } = keyOf(row);
    if (order === entry.id && prefixes.includes(bucketPrefix(bucket))) yield row as Row;
  }
}
