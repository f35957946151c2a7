import { ScenepressError } from '../../errors.ts';
import type { Disk } from '../disk.ts';
import { PACK_FILE } from './archive.ts';
import { type JournalRecord, type Mark, salvageRecords } from './journal-record.ts';
import { JOURNAL, SNAPSHOT, startOf } from './journaled-adapter.ts';
import { Pack, type PackDescription } from './pack.ts';
import { FORMAT, salvageSnapshot } from './snapshot.ts';
import { type ArchiveRules, applyTo, type Tables, tableIn } from './tables.ts';

/** A row, by its table and id. */
export interface RowName {
  table: string;
  id: string;
}

/** A place where data is missing or altered. */
export interface Loss {
  /** The file's name. */
  file: string;
  /** What is wrong, and where. */
  what: string;
  /** The rows that were there, as far as that can be read; an earlier or a later state of one may be elsewhere. */
  rows: RowName[];
}

/** What can be proven to be as it was written, and what is lost. */
export interface Salvage {
  tables: Tables;
  /** Packs that are whole, oldest first. */
  packs: PackDescription[];
  /** A point behind all that was ever written. */
  mark: Mark;
  losses: Loss[];
  /** Names of the files that are not as they should be. */
  damagedFiles: string[];
  /** Whether a row is there after all, in memory or in a pack. */
  has: (row: RowName) => boolean;
  close: () => Promise<void>;
}

/**
 * Reads a database as far as it is whole. Each row of the snapshot, each record of a journal and each block of a pack has
 * a checksum of its own; what fits its checksum is taken, in the order it was written, whatever is missing in between.
 */
export async function salvage(disk: Disk, folder: string, rules: ArchiveRules): Promise<Salvage> {
  const salvager = new Salvager(disk, folder, rules);
  await salvager.run();
  return salvager;
}

class Salvager implements Salvage {
  readonly tables: Tables = new Map();
  packs: PackDescription[] = [];
  mark: Mark = { sequence: 0, checksum: '0'.repeat(32) };
  readonly losses: Loss[] = [];
  readonly damagedFiles: string[] = [];
  readonly #disk: Disk;
  readonly #folder: string;
  readonly #rules: ArchiveRules;
  #whole: Pack[] = [];

  constructor(disk: Disk, folder: string, rules: ArchiveRules) {
    this.#disk = disk;
    this.#folder = folder;
    this.#rules = rules;
  }

  async run(): Promise<void> {
    const names = (await this.#disk.list(this.#folder)).sort();
    const journals = names.filter((name) => JOURNAL.test(name));
    const packs = names.filter((name) => PACK_FILE.test(name));
    if (!names.includes(SNAPSHOT) && journals.length === 0 && packs.length === 0) {
      throw new ScenepressError('not_found', `There is no data of Scenepress in ${this.#folder}.`);
    }
    const head = await this.#readSnapshot();
    // Without a head nobody says where the snapshot stands: before all journals that are there.
    const start = head?.sequence ?? startOf(journals[0] ?? 'journal-0000000000000001') - 1;
    await this.#readPacks(head?.packs ?? packs);
    const sequence = await this.#readJournals(journals, start);
    this.mark = { sequence: sequence + 1, checksum: '0'.repeat(32) };
  }

  has = ({ table, id }: RowName): boolean => {
    const row = this.tables.get(table)?.get(id);
    if (row !== undefined) return row !== null;
    for (const pack of this.#whole.toReversed()) {
      const found = pack.find(table, id);
      if (found !== undefined) return found !== null;
    }
    return false;
  };

  close = async (): Promise<void> => {
    for (const pack of this.#whole) await pack.release();
    this.#whole = [];
  };

  async #readSnapshot(): Promise<{ sequence: number; packs: PackDescription[] } | undefined> {
    const bytes = await this.#disk.read(`${this.#folder}/${SNAPSHOT}`);
    if (!bytes) {
      this.#lose(SNAPSHOT, 'it is missing, with all that it held', []);
      return undefined;
    }
    if (bytes.includes('"format":1,') && bytes.indexOf('"format":1,') < 20) {
      const message = `${SNAPSHOT} in ${this.#folder} has format 1. Only the version that wrote it can tell what is whole.`;
      throw new ScenepressError('storage_damaged', message);
    }
    const { head, rows, lost } = salvageSnapshot(bytes);
    if (head && head.format > FORMAT) {
      const message = `${SNAPSHOT} in ${this.#folder} has format ${head.format}. Recover it with the version that wrote it.`;
      throw new ScenepressError('storage_damaged', message);
    }
    for (const [table, id, row] of rows) tableIn(this.tables, table).set(id, row);
    for (const { at, text } of lost)
      this.#lose(SNAPSHOT, `a line was altered (at byte ${at})`, rowsNamedIn(text));
    return head;
  }

  async #readPacks(described: (PackDescription | string)[]): Promise<void> {
    for (const item of described.toReversed()) {
      const name = typeof item === 'string' ? item : item.name;
      const expected = typeof item === 'string' ? undefined : item;
      let pack: Pack;
      try {
        pack = await Pack.open(this.#disk, this.#folder, name, expected);
      } catch (error) {
        this.#lose(name, `none of it can be read (${(error as Error).message.split('. Nothing')[0]})`, []);
        continue;
      }
      if (await this.#isWhole(pack)) {
        this.packs.unshift(pack.description);
        this.#whole.unshift(pack);
      } else await this.#unpack(pack);
    }
  }

  async #isWhole(pack: Pack): Promise<boolean> {
    for await (const { rows } of pack.blocks()) if (!rows) return false;
    return true;
  }

  /** Takes what is whole of a pack into memory, unless a newer one or the snapshot has it. */
  async #unpack(pack: Pack): Promise<void> {
    for await (const { table, firstId, at, rows } of pack.blocks()) {
      const isIndex = !this.#rules.has(table);
      if (!rows) {
        const id = isIndex ? [] : [{ table, id: firstId }];
        this.#lose(pack.name, `a block of ${table} was altered (at byte ${at}), from this row on`, id);
        continue;
      }
      if (isIndex) continue; // It is made anew when the rows are packed again.
      for (const { id, json } of rows) {
        if (this.tables.get(table)?.has(id) || this.has({ table, id })) continue;
        tableIn(this.tables, table).set(id, json === undefined ? null : JSON.parse(json));
      }
    }
    await pack.release();
  }

  /** Applies all records that are whole; answers with the last sequence number of all. */
  async #readJournals(names: string[], start: number): Promise<number> {
    const first = Math.max(
      0,
      names.findLastIndex((name) => startOf(name) <= start + 1),
    );
    let last = start;
    for (const [i, name] of names.entries()) {
      if (i < first) continue;
      const bytes = (await this.#disk.read(`${this.#folder}/${name}`)) ?? Buffer.alloc(0);
      const { records, lost } = salvageRecords(bytes);
      for (const { at, text, torn } of lost) {
        if (torn && i === names.length - 1) continue; // Never acknowledged.
        this.#lose(name, `a record was altered (at byte ${at})`, rowsNamedIn(text));
      }
      for (const record of records) last = this.#apply(name, record, last, lost.length > 0);
      last = Math.max(last, startOf(name) - 1);
    }
    if (names.length === 0) this.#lose(`journal-…${start + 1}`, 'the journal is missing', []);
    return last;
  }

  #apply(name: string, { sequence, operations }: JournalRecord, last: number, explained: boolean): number {
    if (sequence <= last) return last; // Repeated.
    if (sequence > last + 1 && !explained) {
      this.#lose(name, `records ${last + 1} to ${sequence - 1} are missing before it`, []);
    }
    for (const operation of operations) applyTo(this.tables, operation, this.#rules);
    return sequence;
  }

  #lose(file: string, what: string, rows: RowName[]): void {
    this.losses.push({ file, what, rows });
    if (!this.damagedFiles.includes(file)) this.damagedFiles.push(file);
  }
}

/** The rows that a damaged text speaks of, as far as it can be read. */
function rowsNamedIn(text: string): RowName[] {
  const names = new Map<string, RowName>();
  for (const [, table, id] of text.matchAll(/\["([A-Za-z]{3,30})","((?:[^"\\]|\\.){1,300})"/g)) {
    if (table === undefined || id === undefined) continue;
    names.set(`${table} ${id}`, { table, id: unescaped(id) });
  }
  return [...names.values()];
}

function unescaped(text: string): string {
  try {
    return JSON.parse(`"${text}"`) as string;
  } catch {
    return text;
  }
}
