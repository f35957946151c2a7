import { type Disk, replaceFile } from '../disk.ts';
import { merged } from './merge.ts';
import { Pack, type PackDescription } from './pack.ts';
import { type PackedRow, packPieces } from './pack-format.ts';
import { Slices } from './slices.ts';
import { type ArchiveRules, bucketPrefix, indexTable } from './tables.ts';

export const PACK_FILE: RegExp = /^pack-(\d{8})$/;

/** A pack of this size is not merged with others any more, so that no merge takes long. */
const LARGEST_MERGED_BYTES = 256 * 1024 * 1024;
/** Fewer packs than this are not worth a merge. */
const FEWEST_TO_MERGE = 4;

/** A row on its way from memory into a pack; null: it was removed. */
export interface LeavingRow {
  table: string;
  id: string;
  row: unknown;
}

/** Packs held open by who reads them. */
export interface Lease {
  /** Newest first. */
  packs: Pack[];
  release(): Promise<void>;
}

/**
 * The rows that left memory, in packs. What a newer pack says of a row wins over older ones.
 *
 * Each snapshot adds a pack of what has finished since the last one; small packs are merged with those before them,
 * so that there are few, and each row is written a few times only, however many follow it.
 */
export class Archive {
  readonly #disk: Disk;
  readonly #folder: string;
  readonly #rules: ArchiveRules;
  /** Oldest first. */
  #packs: Pack[] = [];
  /** Names of packs that are part of it only if the next start finds them so. */
  #doubtful: string[] = [];

  constructor(disk: Disk, folder: string, rules: ArchiveRules) {
    this.#disk = disk;
    this.#folder = folder;
    this.#rules = rules;
  }

  async open(names: PackDescription[]): Promise<void> {
    for (const name of names) this.#packs.push(await Pack.open(this.#disk, this.#folder, name.name, name));
  }

  async close(): Promise<void> {
    await this.replace([]);
  }

  /** From now on the archive is made of these. Answers with the names of those that are no longer part of it. */
  async replace(packs: Pack[]): Promise<string[]> {
    const gone = this.#packs.filter((pack) => !packs.includes(pack));
    const names = [...this.#doubtful, ...gone.map(({ name }) => name)];
    this.#packs = packs;
    this.#doubtful = [];
    for (const pack of gone) await pack.release();
    return names;
  }

  /**
   * Lets go of what `extended` made: it will not be part of the archive. `keepFiles`: it may be after a start; else the
   * next `replace` tells that they can go.
   */
  async dismiss(packs: Pack[], { keepFiles = false }: { keepFiles?: boolean } = {}): Promise<void> {
    for (const pack of packs) {
      if (this.#packs.includes(pack)) continue;
      await pack.release();
      if (keepFiles) this.#doubtful.push(pack.name);
      else await this.#disk.remove(`${this.#folder}/${pack.name}`).catch(() => {}); // The next start does it.
    }
  }

  /** Its packs at this moment, open until released, whatever becomes of the archive meanwhile. */
  lease(): Lease {
    const packs = this.#packs.toReversed();
    for (const pack of packs) pack.hold();
    return {
      packs,
      async release() {
        for (const pack of packs) await pack.release();
      },
    };
  }

  /** A row; undefined when it isn't there, or was removed. */
  find(table: string, id: string): unknown {
    const json = this.#locate(table, id)?.json;
    return json === undefined || json === null ? undefined : JSON.parse(json);
  }

  #locate(table: string, id: string): { pack: Pack; json: string | null } | undefined {
    for (let at = this.#packs.length - 1; at >= 0; at -= 1) {
      const pack = this.#packs[at] as Pack;
      const json = pack.find(table, id);
      if (json !== undefined) return { pack, json };
    }
    return undefined;
  }

  /**
   * The packs as they will be with these rows, and merged where that is worth it. Writes files, changes nothing: call
   * `replace` once a snapshot names them. `purge`: nothing stays on the disk of rows that were replaced or removed.
   */
  async extended(rows: LeavingRow[], { purge = false }: { purge?: boolean } = {}): Promise<Pack[]> {
    const packs = [...this.#packs];
    const written: Pack[] = [];
    try {
      const kept = await this.#withoutVoidRemovals(rows);
      if (kept.length > 0) {
        const pack = await this.#write(packed(await this.#withIndexes(kept)));
        written.push(pack);
        packs.push(pack);
      }
      const outdated = purge ? packs.findIndex(({ outdatedRows }) => outdatedRows > 0) : -1;
      const from = outdated < 0 ? beginOfMerge(packs) : outdated;
      if (from < 0) return packs;
      const pack = await this.#write(merged(packs.slice(from).reverse(), { dropRemovals: from === 0 }));
      const gone = packs.splice(from, packs.length, pack);
      await this.dismiss(gone);
      return packs;
    } catch (error) {
      await this.dismiss(written);
      throw error;
    }
  }

  /** Removals of rows that no pack has need no line; replaced rows are counted where they are. */
  async #withoutVoidRemovals(rows: LeavingRow[]): Promise<LeavingRow[]> {
    const kept: LeavingRow[] = [];
    const slices = new Slices();
    for (const row of rows) {
      await slices.next();
      const located = this.#locate(row.table, row.id);
      if (located) located.pack.outdatedRows += 1;
      if (row.row !== null || located) kept.push(row);
    }
    return kept;
  }

  /** Rows by table, and those of their indexes. */
  async #withIndexes(rows: LeavingRow[]): Promise<Map<string, LeavingRow[]>> {
    const byTable = new Map<string, LeavingRow[]>();
    const add = (row: LeavingRow) => {
      const others = byTable.get(row.table);
      if (others) others.push(row);
      else byTable.set(row.table, [row]);
    };
    const slices = new Slices();
    for (const leaving of rows) {
      await slices.next();
      add(leaving);
      const { table, id, row } = leaving;
      if (row === null) continue;
      for (const [index, keyOf] of Object.entries(this.#rules.get(table)?.indexes ?? {})) {
        const { bucket, order } = keyOf(row);
        add({ table: indexTable(table, index), id: bucketPrefix(bucket) + order, row: id });
      }
    }
    return byTable;
  }

  async #write(rows: Parameters<typeof packPieces>[0]): Promise<Pack> {
    const name = this.#newName();
    try {
      const readable = (table: string) => this.#rules.get(table)?.soughtById ?? false;
      await replaceFile(this.#disk, this.#folder, name, packPieces(rows, { readable }));
      return await Pack.open(this.#disk, this.#folder, name);
    } catch (error) {
      await this.#disk.remove(`${this.#folder}/${name}`).catch(() => {}); // The next start does it.
      throw error;
    }
  }

  #lastNumber = 0;

  #newName(): string {
    const numbers = this.#packs.map(({ name }) => Number(PACK_FILE.exec(name)?.[1]));
    this.#lastNumber = Math.max(this.#lastNumber, ...numbers) + 1;
    return `pack-${String(this.#lastNumber).padStart(8, '0')}`;
  }
}

/** Where the packs begin that are worth merging: many small ones, or one that the newer ones have caught up with. */
function beginOfMerge(packs: Pack[]): number {
  let newerBytes = 0;
  let from = -1;
  for (let at = packs.length - 1; at >= 0; at -= 1) {
    const { sizeBytes } = packs[at] as Pack;
    if (sizeBytes > LARGEST_MERGED_BYTES) break;
    if (packs.length - at >= FEWEST_TO_MERGE && sizeBytes <= newerBytes) from = at;
    newerBytes += sizeBytes;
  }
  return from;
}

/** In the order of a pack, sorted and made into text as they are written: all at once would hold up everything else. */
function* packed(byTable: Map<string, LeavingRow[]>): Generator<PackedRow> {
  for (const table of [...byTable.keys()].sort()) {
    const rows = byTable.get(table) as LeavingRow[];
    rows.sort((a, b) => (a.id < b.id ? -1 : a.id > b.id ? 1 : 0));
    for (const { id, row } of rows) yield { table, id, json: row === null ? undefined : JSON.stringify(row) };
  }
}
