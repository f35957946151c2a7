import { chmod, open } from 'node:fs/promises';
import { Connection, explainedAtOpening } from './connection.ts';
import type { Schema } from './migrated-schema.ts';

const OWNERS_ALONE = 0o600;
const WRITER = `
  PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 0; PRAGMA foreign_keys = ON;
  PRAGMA secure_delete = ON; PRAGMA temp_store = MEMORY; PRAGMA cache_size = -16384`;

/** Opens a database for writing; creates it with its tables when missing. */
export async function makeDatabase(path: string, schema: Schema): Promise<Connection> {
  await assertOpens(path);
  const connection = Connection.open(path);
  try {
    await chmod(path, OWNERS_ALONE);
    connection.exec(WRITER);
    schema.migrate(connection);
    return connection;
  } catch (error) {
    connection.close();
    throw explainedAtOpening(error, path);
  }
}

/** Rejects with the system error, which SQLite does not report. */
async function assertOpens(path: string): Promise<void> {
  const file = await open(path, 'r+').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  await file?.close();
}
