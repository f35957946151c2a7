import assert from 'node:assert/strict';
import { openToRead } from '../../files/file-reader.ts';
import type { Connection } from './connection.ts';

const PAGE_BYTES = 4096;
const FIRST_TRUNK_AT = 32;
const MOST_LEAVES = PAGE_BYTES / 4 - 2;
/** SQLite allocates from the first trunk pages. */
const MOST_TRUNKS = 4;
/** Checks the freelist, too; the check of other tables does not. */
const CHECK = 'PRAGMA integrity_check(sqlite_schema)';

/**
 * Checks the freelist of a database: SQLite overwrites free pages without reading them, so a flipped bit in the list
 * would destroy a page in use. Free pages must be zeroed (`secure_delete`), and the log must be empty.
 */
export async function freePagesFault(connection: Connection): Promise<string | undefined> {
  const result = connection.get<{ integrity_check: string }>(CHECK, [])?.integrity_check;
  if (result !== 'ok') return result;
  const file = await openToRead(connection.path);
  assert(file, 'the database exists');
  const read = (page: number) => file.read((page - 1) * PAGE_BYTES, PAGE_BYTES);
  try {
    let trunk = (await file.read(FIRST_TRUNK_AT, 4)).readUInt32BE();
    for (let trunks = 0; trunk !== 0 && trunks < MOST_TRUNKS; trunks++) {
      const list = await read(trunk);
      for (let leaf = 0; leaf < Math.min(list.readUInt32BE(4), MOST_LEAVES); leaf++) {
        const page = list.readUInt32BE(8 + 4 * leaf);
        // A flipped bit in a free page does no harm.
        if ((await read(page)).filter((byte) => byte !== 0).length > 1)
          return `its page ${page} is listed as free`;
      }
      trunk = list.readUInt32BE(0);
    }
    return undefined;
  } finally {
    await file.close();
  }
}
