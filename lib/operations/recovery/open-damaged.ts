import { isScenepressError, ScenepressError } from '../../base/errors.ts';
import { reasonOf } from '../../data-folder/documents/lost-row.ts';
import { Connection, damaged, explainedAtOpening } from '../../databases/sqlite/connection.ts';
import { damagedFrame } from '../../databases/sqlite/log-frames.ts';
import { makeDatabase } from '../../databases/sqlite/make-database.ts';
import { type Schema, schemaOf } from '../../databases/sqlite/migrated-schema.ts';
import { openToRead } from '../../files/file-reader.ts';

/** The damage of a log, because of which SQLite ignores the commits after it. */
export async function logFaults(path: string): Promise<string[]> {
  const log = await openToRead(path);
  try {
    const frame = log && (await damagedFrame(log));
    if (frame === undefined) return [];
    return [`the write-ahead log is damaged in page ${frame}; later commits are lost`];
  } finally {
    await log?.close();
  }
}

/**
 * Opens a copy of a database as a service does. If it can't, repairs the texts of the schema, and leaves the rest as it
 * is. Errors: `conflict` when another version made the data, and damage prevents a migration; `storage_damaged` when SQLite
 * can't read the tables.
 */
export async function openDamaged(
  path: string,
  schema: Schema,
): Promise<{ source: Connection; faults: string[] }> {
  try {
    return { source: await makeDatabase(path, schema), faults: [] };
  } catch (error) {
    if (!isScenepressError(error, 'storage_damaged')) throw error;
    return { source: openTolerantly(path, schema), faults: [reasonOf(error)] };
  }
}

function openTolerantly(path: string, schema: Schema): Connection {
  const source = Connection.open(path, { defensive: false });
  try {
    // Tolerates an inconsistent schema, and a file that is too short.
    source.exec('PRAGMA writable_schema = ON');
    const version = schema.numberIn(source);
    if (version !== schema.version) throw schema.otherVersion(source);
    repairSchema(source, schema);
    return source;
  } catch (error) {
    source.close();
    const cause = explainedAtOpening(error, path);
    if (!isScenepressError(cause, 'storage_damaged')) throw cause;
    const message =
      `The header or the schema of the database is damaged, so no row can be read (${reasonOf(error)}). Nothing was ` +
      'changed. Restore a backup.';
    throw new ScenepressError('storage_damaged', message, { cause });
  }
}

function repairSchema(source: Connection, schema: Schema): void {
  const rows = schema.rowsOf(schema.version);
  const set = 'UPDATE sqlite_schema SET type = ?, name = ?, tbl_name = ?, sql = ? WHERE rowid = ?';
  const found = schemaOf(source);
  for (const { type, name, tbl_name, sql } of rows) {
    const row = found.find((other) => other.name === name || other.sql === sql);
    const isSame = row?.type === type && row.name === name && row.tbl_name === tbl_name && row.sql === sql;
    if (row && !isSame) source.run(set, [type, name, tbl_name, sql, row.rowid]);
  }
  source.exec('PRAGMA writable_schema = RESET; PRAGMA writable_schema = ON');
  const texts = new Set(schemaOf(source).map(({ sql }) => sql));
  const missing = rows.find(({ type, sql }) => type === 'table' && !texts.has(sql));
  if (missing) throw damaged(source.path, `it has no table ${missing.name}`);
}
