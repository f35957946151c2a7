import assert from 'node:assert/strict';
import type { Adapter } from 'lowdb';
import { ScenepressError } from '../../errors.ts';
import { type Disk, type DiskFile, putInPlace, replaceFile, writeBeside } from '../disk.ts';
import { Archive, type LeavingRow, PACK_FILE } from './archive.ts';
import { FORMAT_1_FILE, modernise } from './format-1.ts';
import { BEGINNING, type Mark, RecordEncoder, readRecords } from './journal-record.ts';
import { Slices } from './slices.ts';
import { FORMAT, readSnapshot, type SnapshotContent, snapshotPieces } from './snapshot.ts';
import { type ArchiveRules, applyTo, type Operation, type Tables } from './tables.ts';

export const SNAPSHOT = 'database.jsonl';
export const JOURNAL: RegExp = /^journal-(\d{16})$/;

/** Of a busy service; longer ones, as when all keys change, may take a disk's time. */
const WRITTEN_AT_ONCE_BYTES = 256 * 1024;
/** A snapshot of an earlier one is written anew at the start. */
const READABLE_FORMATS = [1, FORMAT];

/** What the names of files begin with that an upgrade kept, before the number of their format. */
export const KEPT = 'format-';

/** Files that this adapter makes, or once made. */
function isOurs(name: string): boolean {
  const finalName = name.replace(/\.new$/, '');
  if (finalName === SNAPSHOT) return name !== SNAPSHOT;
  return JOURNAL.test(name) || PACK_FILE.test(finalName) || FORMAT_1_FILE.test(finalName);
}

/** Told of each row that leaves memory for the archive; a null row was removed before. */
export type OnLeave = (table: string, id: string, row: unknown) => void;

interface JournalFile {
  name: string;
  bytes: Buffer;
  goodBytes: number;
}

/** Called when data that was written could not be flushed: what is on the disk is then unknown, to Linux too. */
export type OnFatal = (error: Error) => void;

/**
 * lowdb's door to the disk: a snapshot of all rows, and a journal of what has changed since.
 *
 * A commit costs one record and one flush, however many rows there are. When the journal has outgrown the snapshot, a
 * new journal is begun and a new snapshot written in the background, beside the old one and renamed; rows that have
 * finished go into a pack that it names, and leave memory. The old journal goes last. At each moment, snapshot with its
 * packs + journals from its point on = all that was acknowledged.
 *
 * Files: `database.jsonl` (snapshot, with the sequence number of the last record in it),
 * `journal-<sequence of its first record>` and `pack-<number>` (see {@link Archive}).
 */
export class JournaledAdapter implements Adapter<Tables> {
  readonly #disk: Disk;
  readonly #folder: string;
  readonly #rules: ArchiveRules;
  readonly #recentRows: number;
  readonly #onFatal: OnFatal;
  readonly #onLeave: OnLeave;
  readonly #smallestLimitBytes: number;
  readonly #encoder = new RecordEncoder();
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

  readonly archive: Archive;
  /** What was read is of an earlier format: write a snapshot before anything else. */
  outdatedFormat = false;
  #formatRead: number = FORMAT;

  /**
   * `snapshotAfterBytes`: a journal shorter than this asks for no snapshot. `recentRows`: so many finished rows of a
   * table stay in memory, where its rule wants that.
   */
  constructor(options: {
    disk: Disk;
    folder: string;
    rules: ArchiveRules;
    recentRows: number;
    snapshotAfterBytes: number;
    onFatal: OnFatal;
    onLeave: OnLeave;
  }) {
    this.#smallestLimitBytes = options.snapshotAfterBytes;
    this.#limitBytes = options.snapshotAfterBytes;
    this.#rules = options.rules;
    this.#recentRows = options.recentRows;
    this.archive = new Archive(options.disk, options.folder, options.rules);
    this.#disk = options.disk;
    this.#folder = options.folder;
    this.#onFatal = options.onFatal;
    this.#onLeave = options.onLeave;
  }

  /** Whether the journal has outgrown the snapshot. */
  get wantsSnapshot(): boolean {
    return this.#journal !== undefined && this.#journal.sizeBytes > this.#limitBytes;
  }

  /** Reads everything and opens the journal for appending. Damage is `storage_damaged`, and changes nothing. */
  async read(): Promise<Tables> {
    const names = await this.#disk.list(this.#folder);
    const { format, tables, packs, mark, sizeBytes } =
      (await this.#readSnapshot()) ?? (await this.#begin(names));
    this.#mark = mark;
    this.#limitBytes = Math.max(this.#smallestLimitBytes, sizeBytes);

    const all = names.filter((name) => JOURNAL.test(name)).sort();
    const first = all.findLastIndex((name) => startOf(name) <= mark.sequence + 1);
    if (first < 0) throw this.#damaged(`the journal from record ${mark.sequence + 1} on is missing`);
    const found = await Promise.all(all.slice(first).map((name) => this.#readJournal(name)));
    // An empty journal behind another was begun and not used: the one before it went on.
    const journals = found.filter(({ bytes }, i) => i === 0 || bytes.length > 0);
    for (const [i, journal] of journals.entries()) this.#replay(journal, i === journals.length - 1, tables);
    this.outdatedFormat = format !== FORMAT;
    this.#formatRead = format;
    if (this.outdatedFormat) await modernise(this.#disk, this.#folder, tables);
    await this.archive.open(packs);
    await this.#openLast(journals.at(-1) as JournalFile);

    this.#journals = journals.map(({ name }) => name);
    const needed = new Set([...this.#journals, ...packs.map(({ name }) => name)]);
    // What an earlier version wrote is needed until a snapshot of today is there.
    if (this.outdatedFormat) return tables;
    for (const name of names) if (isOurs(name) && !needed.has(name)) await this.#remove(name);
    return tables;
  }

  /**
   * Turns the folder into one of today's format, once it was read: what was there is copied under other names first, so
   * that an upgrade can be undone. Cut off at any moment, it is done again by the next start.
   */
  async upgrade(tables: Tables): Promise<void> {
    const names = await this.#disk.list(this.#folder);
    const prefix = `${KEPT}${this.#formatRead}-`;
    for (const name of names) if (name.startsWith(prefix)) await this.#remove(name);
    const former = names.filter((name) => JOURNAL.test(name) || FORMAT_1_FILE.test(name));
    // The snapshot last: with it, what is kept is whole.
    for (const name of [...former, SNAPSHOT]) {
      const bytes = await this.#disk.read(this.#path(name));
      if (bytes) await replaceFile(this.#disk, this.#folder, prefix + name, [bytes]);
    }
    await this.write(tables);
    for (const name of names) if (FORMAT_1_FILE.test(name)) await this.#remove(name);
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
    const { bytes, mark } = this.#encoder.encode(this.#mark, operations);
    try {
      if (bytes.length <= WRITTEN_AT_ONCE_BYTES) journal.file.writeNow(bytes, journal.sizeBytes);
      else await journal.file.write(bytes, journal.sizeBytes);
    } catch (error) {
      this.#untidy = true;
      await this.#cutBack(journal).catch((cause: unknown) => {
        // Tried again before the next record; until then the record may be there.
        const { message, code } = error as NodeJS.ErrnoException;
        const both = new Error(`${message}, and what was written could not be cut off`, { cause });
        throw Object.assign(both, { code });
      });
      throw error;
    }
    await this.#flush(journal.file);
    journal.sizeBytes += bytes.length;
    this.#mark = mark;
  }

  /**
   * Writes a snapshot of the rows as they are at the call; commits go on meanwhile, into a new journal. What has
   * finished leaves memory. `purge`: see {@link Archive.extended}.
   */
  async write(tables: Tables, { purge = false }: { purge?: boolean } = {}): Promise<void> {
    const copy = copyOf(tables);
    const mark = this.#mark;
    this.#turning = this.#turn(mark);
    await this.#turning;
    const current = this.#journal?.name as string;
    const leaving = await this.#takeFinished(copy, purge ? 0 : this.#recentRows);
    const packs = await this.archive.extended(leaving, { purge });
    let sizeBytes: number;
    try {
      const names = packs.map((pack) => pack.description);
      sizeBytes = await writeBeside(this.#disk, this.#folder, SNAPSHOT, snapshotPieces(copy, names, mark));
    } catch (error) {
      await this.archive.dismiss(packs);
      throw error;
    }
    try {
      await putInPlace(this.#disk, this.#folder, SNAPSHOT);
    } catch (error) {
      // The next start may find the old snapshot or the new one: what either needs stays.
      await this.archive.dismiss(packs, { keepFiles: true });
      throw error;
    }
    const gone = await this.archive.replace(packs);
    // Until a row has left it is in both places, and memory is asked first.
    const slices = new Slices();
    for (const { table, id, row } of leaving) {
      await slices.next();
      const rows = tables.get(table);
      if (!rows || rows.get(id) !== row) continue;
      rows.delete(id);
      this.#onLeave(table, id, row);
    }
    this.outdatedFormat = false;
    this.#limitBytes = Math.max(this.#smallestLimitBytes, sizeBytes);
    for (const name of this.#journals.filter((name) => name < current)) await this.#remove(name);
    this.#journals = this.#journals.filter((name) => name >= current);
    for (const name of gone) await this.#remove(name);
    if (purge) await this.#removeKept();
  }

  /** What an upgrade kept may hold what is to be gone. */
  async #removeKept(): Promise<void> {
    for (const name of await this.#disk.list(this.#folder))
      if (name.startsWith(KEPT)) await this.#remove(name);
    await this.#disk.syncFolder(this.#folder);
  }

  /** Writes the rows as they are at the call into another folder: a snapshot, an empty journal and copied packs. */
  async copyTo(folder: string, tables: Tables): Promise<void> {
    const copy = copyOf(tables);
    const mark = this.#mark;
    const { packs, release } = this.archive.lease();
    try {
      for (const pack of packs) await replaceFile(this.#disk, folder, pack.name, pack.bytes());
      await (await this.#disk.open(`${folder}/${journalName(mark.sequence + 1)}`, 'create')).close();
      const names = packs.map((pack) => pack.description).reverse();
      await replaceFile(this.#disk, folder, SNAPSHOT, snapshotPieces(copy, names, mark));
    } finally {
      await release();
    }
  }

  /** Takes out of the tables what goes into a pack: all that has finished, but for the last ones. */
  async #takeFinished(tables: Tables, recentRows: number): Promise<LeavingRow[]> {
    const leaving: LeavingRow[] = [];
    const slices = new Slices();
    for (const [table, { finished, keepsRecent }] of this.#rules) {
      const rows = tables.get(table) ?? new Map<string, unknown>();
      const over: LeavingRow[] = [];
      for (const [id, row] of rows) {
        await slices.next();
        if (row === null || finished(row)) over.push({ table, id, row });
      }
      over.splice(Math.max(0, over.length - (keepsRecent ? recentRows : 0)));
      for (const row of over) {
        await slices.next();
        rows.delete(row.id);
        leaving.push(row);
      }
    }
    return leaving;
  }

  /** Puts off the next snapshot: the last one failed. */
  postponeSnapshot(): void {
    this.#limitBytes *= 2;
  }

  async close(): Promise<void> {
    await this.archive.close();
    const journal = this.#journal;
    this.#journal = undefined;
    if (!journal) return;
    // The last chance: the next start would take what failed for written.
    if (this.#untidy) await this.#cutBack(journal).catch(() => {});
    await journal.file.close();
  }

  async #readSnapshot(): Promise<(SnapshotContent & { sizeBytes: number }) | undefined> {
    const bytes = await this.#disk.read(this.#path(SNAPSHOT));
    if (!bytes) return undefined;
    const snapshot = readSnapshot(bytes, READABLE_FORMATS);
    if (!snapshot) throw this.#damaged(`${SNAPSHOT} is incomplete or was altered`);
    if (!READABLE_FORMATS.includes(snapshot.format)) {
      throw new ScenepressError(
        'storage_damaged',
        `${this.#path(SNAPSHOT)} has format ${snapshot.format}; this version reads up to ${FORMAT}. ` +
          'Start the version of Scenepress that wrote it.',
      );
    }
    return { ...snapshot, sizeBytes: bytes.length };
  }

  /** Without a snapshot: a new folder. Makes an empty journal and a snapshot. */
  async #begin(names: string[]): Promise<SnapshotContent & { sizeBytes: number }> {
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
      snapshotPieces(tables, [], BEGINNING),
    );
    return { format: FORMAT, tables, packs: [], mark: BEGINNING, sizeBytes };
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
      for (const operation of operations) applyTo(tables, operation, this.#rules);
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
    try {
      await this.#disk.syncFolder(this.#folder);
    } catch (error) {
      await file.close();
      throw error;
    }
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

  #remove(name: string): Promise<void> {
    return this.#disk.remove(this.#path(name));
  }

  #damaged(what: string): ScenepressError {
    return new ScenepressError(
      'storage_damaged',
      `The data in ${this.#folder} is damaged: ${what}. Nothing was changed. ` +
        '`scenepress recover` says what can be saved.',
    );
  }

  #path(name: string): string {
    return `${this.#folder}/${name}`;
  }
}

function copyOf(tables: Tables): Tables {
  return new Map([...tables].map(([name, rows]) => [name, new Map(rows)]));
}

export function journalName(firstSequence: number): string {
  return `journal-${String(firstSequence).padStart(16, '0')}`;
}

export function startOf(name: string): number {
  return Number(JOURNAL.exec(name)?.[1]);
}
