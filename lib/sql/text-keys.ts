import { randomBytes } from '../random.ts';
import { KEY_BYTES } from '../sealing.ts';
import type { SqlTransaction } from '../storage/sql.ts';

/**
 * What the owner of a row wrote is encrypted with a key of the row's own, kept in the table `text_keys`. A database
 * leaves copies of rows where nothing erases them: in the unused space of pages, in old versions of rows, in its log.
 * A key is overwritten in its place, and all copies of the text are unreadable.
 */
export interface TextKey {
  id: number;
  key: Uint8Array;
}

const BLANK = new Uint8Array(KEY_BYTES);

/** Makes a key and keeps it. */
export async function addTextKey(tx: SqlTransaction): Promise<TextKey> {
  const key = randomBytes(KEY_BYTES);
  const row = await tx.get<{ text_key_id: number }>(
    'INSERT INTO text_keys (content) VALUES (?) RETURNING text_key_id',
    key,
  );
  return { id: row?.text_key_id as number, key };
}

/** Overwrites a key. What is encrypted with what it is then, is as good as not encrypted. */
export async function blankTextKey(tx: SqlTransaction, { id }: TextKey): Promise<TextKey> {
  await tx.run('UPDATE text_keys SET content = ? WHERE text_key_id = ?', BLANK, id);
  return { id, key: BLANK };
}
