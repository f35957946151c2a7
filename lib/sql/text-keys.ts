import { createSecretKey, type KeyObject } from 'node:crypto';
import type { Random } from '../base/random.ts';
import { KEY_BYTES } from '../keys/sealing.ts';
import type { SqlTransaction } from '../storage/sql.ts';

/**
 * The key that encrypts the user content of one row, stored in the table `text_keys`. A database leaves copies of
 * rows in unused parts of pages, old row versions and its log. Overwriting the key in place makes all copies
 * unreadable (crypto-shredding).
 */
export interface TextKey {
  id: number;
  key: KeyObject;
}

const BLANK = new Uint8Array(KEY_BYTES);

/** Generates and stores a key. */
export async function addTextKey(tx: SqlTransaction, random: Random): Promise<TextKey> {
  const key = random.bytes(KEY_BYTES);
  const id = await tx.insert('text_keys', 'text_key_id', { content: key });
  return { id, key: createSecretKey(key) };
}

/** Overwrites a key with zeros. Texts encrypted with the returned key are not protected. */
export function blankTextKey(tx: SqlTransaction, { id }: TextKey): TextKey {
  tx.write('UPDATE text_keys SET content = ? WHERE text_key_id = ?', BLANK, id);
  return { id, key: createSecretKey(BLANK) };
}
