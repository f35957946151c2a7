import { createCipheriv, createDecipheriv, createSecretKey, randomBytes } from 'node:crypto';
import type { SqlTransaction } from './sql.ts';

/**
 * What the owner of a row wrote is encrypted with a key of the row's own, kept in the table `text_keys`. A database
 * leaves copies of rows where nothing erases them: in the unused space of pages, in old versions of rows, in its log.
 * A key is overwritten in its place, and all copies of the text are unreadable.
 */
export interface TextKey {
  id: number;
  key: Uint8Array;
}

const CIPHER = 'aes-256-gcm';
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
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

/**
 * `place`: the table and the key of the row; in another one the text can't be opened.
 *
 * Keys are passed to Node as key objects: with plain bytes the same takes four times as long.
 */
export function sealText(text: string, { key }: TextKey, place: string): Uint8Array {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, createSecretKey(key), nonce).setAAD(Buffer.from(place));
  const sealed = cipher.update(text, 'utf8');
  cipher.final();
  return Buffer.concat([nonce, sealed, cipher.getAuthTag()]);
}

/** Throws when the text isn't as it was sealed, with this key and in this place. */
export function openText(sealed: Uint8Array, { key }: TextKey, place: string): string {
  const nonce = sealed.subarray(0, NONCE_BYTES);
  const decipher = createDecipheriv(CIPHER, createSecretKey(key), nonce, { authTagLength: TAG_BYTES });
  decipher.setAAD(Buffer.from(place)).setAuthTag(sealed.subarray(-TAG_BYTES));
  const text = decipher.update(sealed.subarray(NONCE_BYTES, -TAG_BYTES));
  decipher.final();
  return text.toString('utf8');
}
