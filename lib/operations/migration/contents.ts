import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { DocumentContents } from '../../data-folder/documents/documents.ts';
import type { SqlReader, SqlValue } from '../../storage/sql.ts';
import { COPIED_TABLES, pagesOf } from './copy-rows.ts';

/** What an installation contains, to compare two: the rows of its tables, and the records that fit in memory. */
export interface Contents {
  tables: Record<string, { rows: number; digest: string }>;
  documents: DocumentContents;
}

const DIGEST_BYTES = 16;

/** Reads keys and checksums of all rows. */
export async function contentsOf(
  reader: SqlReader,
  documents: DocumentContents,
  signal: AbortSignal | undefined,
): Promise<Contents> {
  const tables: Contents['tables'] = {};
  for (const { name, key, identity } of COPIED_TABLES) {
    let [rows, sum] = [0, 0n];
    for await (const page of pagesOf(reader, { name, key }, [...key, ...identity])) {
      signal?.throwIfAborted();
      rows += page.length;
      for (const row of page) sum += digestOf(Object.values(row));
    }
    tables[name] = { rows, digest: BigInt.asUintN(DIGEST_BYTES * 8, sum).toString(16) };
  }
  return { tables, documents: sorted(documents) };
}

/** The names of what is not the same. */
export function differences(one: Contents, other: Contents): string[] {
  const names = COPIED_TABLES.map(({ name }) => name).filter(
    (name) => !isDeepStrictEqual(one.tables[name], other.tables[name]),
  );
  return isDeepStrictEqual(one.documents, other.documents) ? names : [...names, 'accounts, keys or settings'];
}

export function rowsOf({ tables }: Contents): Record<string, number> {
  return Object.fromEntries(Object.entries(tables).map(([name, { rows }]) => [name, rows]));
}

/** The digests of rows are added up, because the databases sort texts differently. */
function digestOf(values: SqlValue[]): bigint {
  const hash = createHash('sha256');
  for (const value of values)
    hash
      .update(typeof value === 'string' || value instanceof Uint8Array ? value : String(value))
      .update('\0');
  return BigInt(`0x${hash.digest('hex').slice(0, 2 * DIGEST_BYTES)}`);
}

function sorted({ accounts, keys, settings }: DocumentContents): DocumentContents {
  return {
    accounts: accounts.toSorted((a, b) => (a.accountId < b.accountId ? -1 : 1)),
    keys: keys.toSorted((a, b) => (a.keyId < b.keyId ? -1 : 1)),
    settings,
  };
}
