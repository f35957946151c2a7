import { createCipheriv, createDecipheriv, type KeyObject } from 'node:crypto';
import type { Random } from '../base/random.ts';

const CIPHER = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** The size of a key. */
export const KEY_BYTES = 32;

/**
 * Encrypts a text (AES-256-GCM): nonce, ciphertext and tag. The key is a KeyObject: with plain bytes, encryption takes
 * four times as long. `random`: the source of the nonce.
 */
export function seal(text: string, key: KeyObject, random: Random): Buffer {
  const nonce = random.bytes(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, key, nonce);
  const sealed = cipher.update(text, 'utf8');
  cipher.final();
  return Buffer.concat([nonce, sealed, cipher.getAuthTag()]);
}

/** Decrypts. Throws when the data was altered, or was sealed with another key. */
export function decrypt(sealed: Uint8Array, key: KeyObject): string {
  const nonce = sealed.subarray(0, NONCE_BYTES);
  const decipher = createDecipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES });
  decipher.setAuthTag(sealed.subarray(-TAG_BYTES));
  const text = decipher.update(sealed.subarray(NONCE_BYTES, -TAG_BYTES));
  decipher.final();
  return text.toString('utf8');
}
