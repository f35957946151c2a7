import { open, rename, writeFile } from 'node:fs/promises';
import { isScenepressError } from '../errors.ts';
import { openToRead } from '../file-reader.ts';
import { Connection } from '../storage/sqlite/connection.ts';
import { freePagesFault } from '../storage/sqlite/free-pages.ts';
import { damageOf } from '../storage/sqlite/log-frames.ts';
import { markIn, type Schema, type SchemaRow, schemaOf } from '../storage/sqlite/schema.ts';
import { resealed } from './reseal-log.ts';
import { restoreSchemaPages } from './schema-pages.ts';

const HEADER_BYTES = 100;
const PAGE_BYTES = 4096;
/** Constants in the header of our databases: SQLite's file format, section 1.3. */
const HEADER: [name: string, at: number, bytes: Buffer][] = [
  ['the file format', 0, Buffer.from('SQLite format 3\0', 'latin1')],
  ['the page size', 16, Buffer.from([PAGE_BYTES >> 8, 0])],
  ['the format versions for writing and reading', 18, Buffer.from([2, 2])],
  ['the payload fractions', 20, Buffer.from([0, 64, 32, 32])],
  ['the schema format', 44, Buffer.from([0, 0, 0, 4])],
  ['the largest root page', 52, Buffer.alloc(4)],
  ['the text encoding', 56, Buffer.from([0, 0, 0, 1])],
  ['the incremental-vacuum flag', 64, Buffer.alloc(4)],
  ['the reserved bytes', 72, Buffer.alloc(20)],
];
const PAGE_COUNT_AT = 28;

/**
 * Repairs known content in a copy of a damaged database: constants of the header, the schema, and the checksums of a
 * log whose pages are intact; migrates it. Returns the faults found. Error: `conflict` when the schema is that of another
 * version.
 */
export async function mend(
  path: string,
  schema: Schema,
): Promise<{ faults: string[]; laterLog: string | undefined }> {
  const { fault, laterLog } = await mendLog(`${path}-wal`);
  const headerFaults = await mendHeader(path);
  refuseOtherVersion(path, schema, headerFaults.length > 0);
  const faults = [
    ...(fault === undefined ? [] : [fault]),
    ...headerFaults,
    ...(await restoreSchemaPages(path, schema)),
    ...mendSchema(path, schema),
  ];
  // At this point the readable part of the log is in the database.
  const freeFault = await freePagesFault(path);
  return { faults: freeFault === undefined ? faults : [...faults, freeFault], laterLog };
}

/** `laterLog`: a log including the readable commits after the damage; some of its pages may be stale. */
async function mendLog(path: string): Promise<{ fault?: string; laterLog?: string }> {
  const log = await openToRead(path);
  if (!log) return {};
  try {
    const damage = await damageOf(log);
    if (!damage) return {};
    const laterLog = `${path}-resealed`;
    await writeFile(laterLog, resealed(log));
    const place = damage.frame === 0 ? 'header' : `page ${damage.frame} of ${damage.frames}`;
    const fault = `the write-ahead log is damaged in its ${place}`;
    if (!damage.hasItsPage) return { fault: `${fault}; later commits are lost`, laterLog };
    await rename(laterLog, path);
    return { fault };
  } finally {
    await log.close();
  }
}

async function mendHeader(path: string): Promise<string[]> {
  const file = await open(path, 'r+');
  try {
    const header = Buffer.alloc(HEADER_BYTES);
    const { size } = await file.stat();
    if (size < HEADER_BYTES) return [];
    await file.read(header, 0, HEADER_BYTES, 0);
    const faults: string[] = [];
    for (const [name, at, bytes] of HEADER) {
      if (bytes.equals(header.subarray(at, at + bytes.length))) continue;
      faults.push(`the file header has a wrong value for ${name}`);
      bytes.copy(header, at);
    }
    const pages = Math.floor(size / PAGE_BYTES);
    // With a smaller count, SQLite would reject pages in use; with a larger one, the whole file. The log may contain
    // a newer header.
    if (header.readUInt32BE(PAGE_COUNT_AT) !== pages) {
      if (header.readUInt32BE(PAGE_COUNT_AT) > pages)
        faults.push('the file header counts more pages than the file has');
      header.writeUInt32BE(pages, PAGE_COUNT_AT);
    }
    await file.write(header, 0, HEADER_BYTES, 0);
    return faults;
  } finally {
    await file.close();
  }
}

/** Before anything is repaired: with few differences, another schema would be made into ours. */
function refuseOtherVersion(path: string, schema: Schema, isHeaderDamaged: boolean): void {
  ifReadable(path, {}, (connection) => {
    if (schema.numberIn(connection) !== undefined) return;
    if (isHeaderDamaged && schema.hasRowsOf(schema.version, connection)) return;
    throw schema.otherVersion(connection);
  });
}

/** Leaves an unreadable schema unchanged. */
function mendSchema(path: string, schema: Schema): string[] {
  const faults: string[] = [];
  ifReadable(path, { defensive: false }, (connection) => {
    // Allows reading an inconsistent schema.
    connection.exec('PRAGMA writable_schema = ON');
    const version = schema.numberIn(connection) ?? schema.version;
    mendRows(connection, schema.rowsOf(version), faults);
    if (schema.hasRowsOf(version, connection)) {
      if (markIn(connection).version !== version)
        faults.push('the file header has another version of the schema');
      schema.writeMark(connection, version);
    }
    if (version < schema.version) migrate(connection, schema);
  });
  return faults;
}

/** Error: `conflict` when damage prevents it: the version that made the data can recover it. */
function migrate(connection: Connection, schema: Schema): void {
  try {
    connection.exec('PRAGMA writable_schema = RESET');
    schema.migrate(connection);
  } catch (cause) {
    if (connection.isInTransaction) connection.exec('ROLLBACK');
    throw schema.otherVersion(connection, { cause });
  }
}

function ifReadable(
  path: string,
  options: { defensive?: boolean },
  work: (connection: Connection) => void,
): void {
  const connection = Connection.open(path, options);
  try {
    work(connection);
  } catch (error) {
    if (!isScenepressError(error, 'storage_damaged')) throw error;
  } finally {
    connection.close();
  }
}

function mendRows(connection: Connection, expected: SchemaRow[], faults: string[]): void {
  const found = schemaOf(connection);
  const unknown = found.filter((row) => !expected.some((other) => isSame(row, other)));
  const missing = expected.filter((row) => !found.some((other) => isSame(row, other)));
  for (const row of missing) {
    const alike = unknown.find(({ name, sql }) => name === row.name || sql === row.sql);
    const place = alike ?? (missing.length === 1 && unknown.length === 1 ? unknown[0] : undefined);
    if (!place) continue;
    const { type, name, tbl_name, sql } = row;
    const set = 'UPDATE sqlite_schema SET type = ?, name = ?, tbl_name = ?, sql = ? WHERE rowid = ?';
    connection.run(set, [type, name, tbl_name, sql, place.rowid]);
    faults.push(`the schema has another ${type} ${name}`);
  }
}

function isSame(a: SchemaRow, b: SchemaRow): boolean {
  return a.type === b.type && a.name === b.name && a.tbl_name === b.tbl_name && a.sql === b.sql;
}
