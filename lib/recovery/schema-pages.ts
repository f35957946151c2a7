import { open, readFile, rm } from 'node:fs/promises';
import { makeDatabase } from '../storage/sqlite/make-database.ts';
import type { Schema } from '../storage/sqlite/schema.ts';

const PAGE_BYTES = 4096;
/** Page 1 begins with the header of the file. */
const FILE_HEADER_BYTES = 100;
const INTERIOR_PAGE = 5;
const INTERIOR_HEADER_BYTES = 12;
/** Greater damage, or another layout: the places of tables differ after a migration and in a backup. */
const MOST_BYTES = 4;

/**
 * Restores a few damaged bytes of the pages that hold the schema. With one of them wrong, SQLite may find no table at
 * all. In a new database these pages are always the same. Returns the faults.
 */
export async function restoreSchemaPages(path: string, schema: Schema): Promise<string[]> {
  const pages = await newSchemaPages(`${path}-new`, schema);
  const file = await open(path, 'r+');
  try {
    const different: { page: number; at: number; byte: number }[] = [];
    for (const [page, content] of pages) {
      const found = Buffer.alloc(PAGE_BYTES);
      await file.read(found, 0, PAGE_BYTES, (page - 1) * PAGE_BYTES);
      for (let at = page === 1 ? FILE_HEADER_BYTES : 0; at < PAGE_BYTES; at++) {
        if (found[at] !== content[at]) different.push({ page, at, byte: content[at] as number });
      }
    }
    if (different.length > MOST_BYTES) return [];
    for (const { page, at, byte } of different)
      await file.write(Buffer.from([byte]), 0, 1, (page - 1) * PAGE_BYTES + at);
    return [...new Set(different.map(({ page }) => page))].map(
      (page) => `page ${page} of the schema is damaged`,
    );
  } finally {
    await file.close();
  }
}

/** The pages of `sqlite_schema` in a new database, by number. */
async function newSchemaPages(path: string, schema: Schema): Promise<Map<number, Buffer>> {
  const database = await makeDatabase(path, schema);
  database.close();
  const bytes = await readFile(path);
  await rm(path);
  const pageOf = (page: number) => bytes.subarray((page - 1) * PAGE_BYTES, page * PAGE_BYTES);
  const first = pageOf(1);
  const pages = new Map([[1, first]]);
  if (first[FILE_HEADER_BYTES] !== INTERIOR_PAGE) return pages;
  // The format of interior pages: section 1.6 of SQLite's file format. Two levels are enough for the schema.
  const cells = first.readUInt16BE(FILE_HEADER_BYTES + 3);
  const children = [first.readUInt32BE(FILE_HEADER_BYTES + 8)];
  for (let i = 0; i < cells; i++) {
    const cell = first.readUInt16BE(FILE_HEADER_BYTES + INTERIOR_HEADER_BYTES + 2 * i);
    children.push(first.readUInt32BE(cell));
  }
  for (const page of children) pages.set(page, pageOf(page));
  return pages;
}
