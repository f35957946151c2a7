import assert from 'node:assert/strict';
import type { Adapter } from 'lowdb';
import { ScenepressError } from '../../errors.ts';
import { type Disk, type DiskFile, replaceFile } from '../disk.ts';
import { BEGINNING, encodeRecord, type Mark, readRecords } from './journal-record.ts';
import { FORMAT, readSnapshot, snapshotPieces } from './snapshot.ts';
import { applyTo, type Operation, type Tables, tableIn } from './tables.ts';

const SNAPSHOT = 'database.jsonl';
const JOURNAL = /^journal-(\d{16})$/;
const PACK = /^rows-\d{16}$/;

interface JournalFile {
  name: string;
  bytes: Buffer;
  goodBytes: number;
}

/** A row that is large and rarely read: in memory until the next snapshot, then in a pack of such rows. */
export type ColdRow = { value: unknown } | { pack: string; at: number; bytes: number };

interface PackedRow {
  table: string;
  id: string;
  before: unknown;
  after: ColdRow;
}

/** Called when data that was written could not be flushed: what is on the disk is then unknown, to Linux too. */
export type OnFatal = (error: Error) => void;

/**
 * lowdb's door to the disk: a snapshot of all rows, and a journal of what has changed since.
 *
 * A commit costs one record and one flush, however many rows there are. When the journal has outgrown the snapshot, a
 * new journal is begun and a new snapshot written in the background, beside the old one and renamed; the old journal
 * goes last. At each moment, snapshot + journals from its point on = all that was acknowledged.
 *
 * Files: `database.jsonl` (snapshot, with the sequence number of the last record in it),
 * `journal-<sequence of its first record>` and `rows-<sequence>` (packs of cold rows that the snapshot names).
 */
export class JournaledAdapter implements Adapter<Tables> {
  readonly #disk: Disk;
  readonly #folder: string;
  readonly #coldTables: Set<string>;
  readonly #onFatal: OnFatal;
  readonly #smallestLimitBytes: number;
  #mark: Mark = BEGINNING;
  /** The one that is written to. */
  #journal: { name: string; file: DiskFile; sizeBytes: number } | undefined;
  /** All that the snapshot on the disk doesn't contain, oldest first. */
  #journals: string[] = [];
  /** Bytes behind the last good record may have been written by a failed append. */
  #untidy = false;
  /** Set while a new journal is begun: appends wait for it. */
  #turning: Promise<void> | undefined;
  #limitBytes: number;

  /**
   * `coldTables`: those whose rows are {@link ColdRow}s. `snapshotAfterBytes`: a journal shorter than this asks for no
   * snapshot.
   */
  constructor(options: {
    disk: Disk;
    folder: string;
    coldTables: Set<string>;
    snapshotAfterBytes: number;
    onFatal: OnFatal;
  }) {
    this.#smallestLimitBytes = options.snapshotAfterBytes;
    this.#limitBytes = options.snapshotAfterBytes;
    this.#coldTables = options.coldTables;
    this.#disk = options.disk;
    this.#folder = options.folder;
    this.#onFatal = options.onFatal;
  }

  /** Whether the journal has outgrown the snapshot. */
  get wantsSnapshot(): boolean {
    return this.#journal !== undefined && this.#journal.sizeBytes > this.#limitBytes;
  }

  /** Reads everything and opens the journal for appending. Damage is `storage_damaged`, and changes nothing. */
  async read(): Promise<Tables> {
    const names = await this.#disk.list(this.#folder);
    const { tables, mark, sizeBytes } = (await this.#readSnapshot()) ?? (await this.#begin(names));
    this.#mark = mark;
    this.#limitBytes = Math.max(this.#smallestLimitBytes, sizeBytes);

    const all = names.filter((name) => JOURNAL.test(name)).sort();
    const first = all.findLastIndex((name) => startOf(name) <= mark.sequence + 1);
    if (first < 0) throw this.#damaged(`the journal from record ${mark.sequence + 1} on is missing`);
    const journals = await Promise.all(all.slice(first).map((name) => this.#readJournal(name)));
    // An empty journal at the end was begun and not used: the one before it goes on.
    while (journals.length > 1 && journals.at(-1)?.bytes.length === 0) journals.pop();
    for (const [i, journal] of journals.entries()) this.#replay(journal, i === journals.length - 1, tables);
    await this.#openLast(journals.at(-1) as JournalFile);

    this.#journals = journals.map(({ name }) => name);
    const needed = new Set([...this.#journals, ...this.#packsOf(tables)]);
    for (const name of names) {
      const ours = JOURNAL.test(name) || PACK.test(name.replace(/\.new$/, '')) || name === `${SNAPSHOT}.new`;
      if (ours && !needed.has(name)) await this.#disk.remove(this.#path(name));
    }
    return tables;
  }

  /**
   * Writes one record and flushes it. When it rejects, the record isn't there, nor will it be after a restart: the
   * journal is cut back. A flush that fails is fatal.
   */
  async append(operations: Operation[]): Promise<void> {
    await this.#turning?.catch(() => {}); // Where no new journal could be begun, the old one goes on.
    const journal = this.#journal;
    assert(journal, 'open');
    if (this.#untidy) await this.#cutBack(journal);
    const { bytes, mark } = encodeRecord(this.#mark, operations);
    try {
      await journal.file.write(bytes, journal.sizeBytes);
    } catch (error) {
      this.#untidy = true;
      await this.#cutBack(journal).catch(() => {}); // Tried again before the next record.
      throw error;
    }
    await this.#flush(journal.file);
    journal.sizeBytes += bytes.length;
    this.#mark = mark;
  }

  /** Writes a snapshot of the rows as they are at the call; commits go on meanwhile, into a new journal. */
  async write(tables: Tables): Promise<void> {
    const copy = copyOf(tables);
    const mark = this.#mark;
    this.#turning = this.#turn(mark);
    await this.#turning;
    const current = this.#journal?.name as string;
    const packed = await this.#pack(copy, mark);
    const sizeBytes = await replaceFile(this.#disk, this.#folder, SNAPSHOT, snapshotPieces(copy, mark));
    for (const { table, id, before, after } of packed) {
      const rows = tableIn(tables, table);
      if (rows.get(id) === before) rows.set(id, after);
    }
    this.#limitBytes = Math.max(this.#smallestLimitBytes, sizeBytes);
    for (const name of this.#journals.filter((name) => name < current))
      await this.#disk.remove(this.#path(name));
    this.#journals = this.#journals.filter((name) => name >= current);
  }

  /** Writes the rows as they are at the call into another folder: a snapshot, an empty journal and copied packs. */
  async copyTo(folder: string, tables: Tables): Promise<void> {
    const copy = copyOf(tables);
    const mark = this.#mark;
    for (const pack of new Set(this.#packsOf(copy))) {
      const bytes = await this.#disk.read(this.#path(pack));
      if (!bytes) throw this.#damaged(`${pack} is missing`);
      await replaceFile(this.#disk, folder, pack, [bytes]);
    }
    await (await this.#disk.open(`${folder}/${journalName(mark.sequence + 1)}`, 'create')).close();
    await replaceFile(this.#disk, folder, SNAPSHOT, snapshotPieces(copy, mark));
  }

  /** A row of a cold table, from memory or from its pack. */
  async readCold(row: ColdRow): Promise<unknown> {
    if ('value' in row) return row.value;
    const bytes = await this.#disk.readPart(this.#path(row.pack), row.at, row.bytes);
    try {
      return JSON.parse(bytes.toString('utf8'));
    } catch {
      throw this.#damaged(`${row.pack} was altered (at byte ${row.at})`);
    }
  }

  /** Moves rows of cold tables that are still in memory into a file of their own. */
  async #pack(tables: Tables, mark: Mark): Promise<PackedRow[]> {
    const pack = `rows-${String(mark.sequence).padStart(16, '0')}`;
    const packed: PackedRow[] = [];
    const lines: Buffer[] = [];
    let at = 0;
    for (const table of this.#coldTables) {
      for (const [id, before] of tables.get(table) ?? []) {
        if (!('value' in (before as ColdRow))) continue;
        const text = JSON.stringify((before as { value: unknown }).value);
        const line = Buffer.from(`${text}\n`);
        const after: ColdRow = { pack, at, bytes: line.length - 1 };
        tables.get(table)?.set(id, after);
        packed.push({ table, id, before, after });
        lines.push(line);
        at += line.length;
      }
    }
    if (lines.length > 0) await replaceFile(this.#disk, this.#folder, pack, lines);
    return packed;
  }

  /** Puts off the next snapshot: the last one failed. */
  postponeSnapshot(): void {
    this.#limitBytes *= 2;
  }

  async close(): Promise<void> {
    await this.#journal?.file.close();
    this.#journal = undefined;
  }

  async #readSnapshot(): Promise<{ tables: Tables; mark: Mark; sizeBytes: number } | undefined> {
    const bytes = await this.#disk.read(this.#path(SNAPSHOT));
    if (!bytes) return undefined;
    const snapshot = readSnapshot(bytes);
    if (!snapshot) throw this.#damaged(`${SNAPSHOT} is incomplete or was altered`);
    if (snapshot.format !== FORMAT) {
      throw new ScenepressError(
        'storage_damaged',
        `${this.#path(SNAPSHOT)} has format ${snapshot.format}; this version reads format ${FORMAT}. ` +
          'Start the version of Scenepress that wrote it.',
      );
    }
    return { ...snapshot, sizeBytes: bytes.length };
  }

  /** Without a snapshot: a new folder. Makes an empty journal and a snapshot. */
  async #begin(names: string[]): Promise<{ tables: Tables; mark: Mark; sizeBytes: number }> {
    // A beginning that was cut off leaves no more than an empty first journal.
    for (const name of names.filter((name) => JOURNAL.test(name))) {
      const content = await this.#disk.read(this.#path(name));
      if (name !== journalName(1) || content?.length !== 0) throw this.#damaged(`${SNAPSHOT} is missing`);
    }
    const tables: Tables = new Map();
    await (await this.#createJournal(journalName(1))).close();
    if (!names.includes(journalName(1))) names.push(journalName(1));
    const sizeBytes = await replaceFile(
      this.#disk,
      this.#folder,
      SNAPSHOT,
      snapshotPieces(tables, BEGINNING),
    );
    return { tables, mark: BEGINNING, sizeBytes };
  }

  *#packsOf(tables: Tables): Iterable<string> {
    for (const table of this.#coldTables) {
      for (const row of tables.get(table)?.values() ?? []) {
        if ('pack' in (row as ColdRow)) yield (row as { pack: string }).pack;
      }
    }
  }

  async #readJournal(name: string): Promise<JournalFile> {
    const bytes = await this.#disk.read(this.#path(name));
    if (!bytes) throw this.#damaged(`${name} is missing`);
    return { name, bytes, goodBytes: 0 };
  }

  #replay(journal: JournalFile, isLast: boolean, tables: Tables): void {
    const { name, bytes } = journal;
    if (startOf(name) !== this.#mark.sequence + 1) {
      throw this.#damaged(`${name} doesn't begin where the data before it ends`);
    }
    const { records, goodBytes, end } = readRecords(bytes, 0, this.#mark);
    if (end === 'damaged' || (end !== 'clean' && !isLast)) {
      throw this.#damaged(`a record in the middle of ${name} was altered (at byte ${goodBytes})`);
    }
    if (end === 'doubtful') {
      throw this.#damaged(
        `the last record of ${name} (at byte ${goodBytes}) was altered after it was written, and may have been ` +
          'acknowledged to a client',
      );
    }
    for (const { sequence, checksum, operations } of records) {
      for (const operation of operations) applyTo(tables, operation);
      this.#mark = { sequence, checksum };
    }
    journal.goodBytes = goodBytes;
  }

  /** Opens a journal behind its last good record: a torn one is cut off, a missing newline added. */
  async #openLast({ name, bytes, goodBytes }: JournalFile): Promise<void> {
    const file = await this.#disk.open(this.#path(name), 'existing');
    if (goodBytes < bytes.length) await file.truncate(goodBytes);
    if (goodBytes > bytes.length) await file.write(Buffer.from('\n'), bytes.length);
    await this.#flush(file);
    this.#journal = { name, file, sizeBytes: goodBytes };
  }

  /** Begins a new journal for what follows `mark`; the one before is closed and stays until the snapshot is there. */
  async #turn(mark: Mark): Promise<void> {
    const old = this.#journal;
    assert(old, 'open');
    try {
      if (this.#untidy) await this.#cutBack(old);
      const name = journalName(mark.sequence + 1);
      if (old.name === name) return;
      this.#journal = { name, file: await this.#createJournal(name), sizeBytes: 0 };
      this.#journals.push(name);
      await old.file.close();
    } finally {
      this.#turning = undefined;
    }
  }

  async #createJournal(name: string): Promise<DiskFile> {
    const file = await this.#disk.open(this.#path(name), 'create');
    await this.#disk.syncFolder(this.#folder);
    return file;
  }

  async #cutBack({ file, sizeBytes }: { file: DiskFile; sizeBytes: number }): Promise<void> {
    await file.truncate(sizeBytes);
    await this.#flush(file);
    this.#untidy = false;
  }

  async #flush(file: DiskFile): Promise<void> {
    try {
      await file.sync();
    } catch (cause) {
      const error = new Error(`Flushing the journal in ${this.#folder} failed.`, { cause });
      this.#onFatal(error);
      throw error;
    }
  }

  #damaged(what: string): ScenepressError {
    return new ScenepressError(
      'storage_damaged',
      `The data in ${this.#folder} is damaged: ${what}. Nothing was changed. Restore a copy of the folder.`,
    );
  }

  #path(name: string): string {
    return `${this.#folder}/${name}`;
  }
}

function copyOf(tables: Tables): Tables {
  return new Map([...tables].map(([name, rows]) => [name, new Map(rows)]));
}

function journalName(firstSequence: number): string {
  return `journal-${String(firstSequence).padStart(16, '0')}`;
}

function startOf(name: string): number {
  return Number(JOURNAL.exec(name)?.[1]);
}
