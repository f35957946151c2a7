import assert from 'node:assert/strict';
import { type FileReader, openToRead } from '../../file-reader.ts';

const PAGE_BYTES = 4096;
const BLANK = Buffer.alloc(PAGE_BYTES);
const FIRST_TRUNK_AT = 32;
const FREE_PAGES_AT = 36;
const HEADER_BYTES = 100;
const MOST_LEAVES = PAGE_BYTES / 4 - 2;
/** SQLite allocates from the first trunk pages; the full integrity check covers the others. */
const MOST_TRUNKS = 4;

/**
 * Checks the freelist of a database: SQLite overwrites free pages without reading them, so a flipped bit in the list
 * would destroy a page in use. Free pages must be zeroed (`secure_delete`), and the log must be empty.
 */
export async function freePagesFault(path: string): Promise<string | undefined> {
  const file = await openToRead(path);
  assert(file, 'the database exists');
  try {
    const header = await file.read(0, HEADER_BYTES);
    const pages = file.sizeBytes / PAGE_BYTES;
    const seen = new Set<number>();
    const isNew = (page: number) => page > 1 && page <= pages && !seen.has(page) && seen.add(page);
    let trunk = header.readUInt32BE(FIRST_TRUNK_AT);
    for (let trunks = 0; trunk !== 0; trunks++) {
      if (trunks === MOST_TRUNKS) return undefined;
      if (!isNew(trunk)) return 'its list of free pages is invalid';
      const list = await readPage(file, trunk);
      const leaves = list.readUInt32BE(4);
      if (leaves > MOST_LEAVES) return 'its list of free pages is invalid';
      for (let leaf = 0; leaf < leaves; leaf++) {
        const page = list.readUInt32BE(8 + 4 * leaf);
        if (!isNew(page) || !isBlank(await readPage(file, page))) return `its page ${page} is listed as free`;
      }
      trunk = list.readUInt32BE(0);
    }
    return seen.size === header.readUInt32BE(FREE_PAGES_AT)
      ? undefined
      : 'its list of free pages has another length';
  } finally {
    await file.close();
  }
}

/** Tolerates one non-zero byte: a flipped bit in a free page does no harm. */
function isBlank(page: Buffer): boolean {
  return page.equals(BLANK) || page.reduce((count, byte) => count + Math.sign(byte), 0) <= 1;
}

function readPage(file: FileReader, page: number): Promise<Buffer> {
  return file.read((page - 1) * PAGE_BYTES, PAGE_BYTES);
}
