import { createSecretKey, hash, hkdfSync, type KeyObject } from 'node:crypto';
import { ScenepressError } from '../base/errors.ts';
import { type Random, systemRandom } from '../base/random.ts';
import { decrypt, KEY_BYTES, seal } from './sealing.ts';

const ID_DIGITS = 8;

/**
 * Encrypts small secrets (AES-256-GCM), so a copy of the data without the key does not reveal them.
 *
 * ```ts
 * const key = MasterKey.random();
 * const sealed = key.seal('whsec_…');
 * MasterKey.fromHex(key.toHex()).decrypt(sealed); // whsec_…
 * ```
 */
export class MasterKey {
  /** An id of eight hexadecimal digits, stored with each sealed text. Does not reveal the key. */
  readonly id: string;
  readonly #key: KeyObject;

  /** `key`: 32 bytes. */
  constructor(key: Uint8Array) {
    if (key.length !== KEY_BYTES) {
      throw new ScenepressError(
        'master_key',
        `A master key is ${KEY_BYTES} bytes, as 64 hexadecimal digits.`,
      );
    }
    this.#key = createSecretKey(key);
    this.id = hash('sha256', Buffer.concat([Buffer.from('scenepress master key '), key])).slice(0, ID_DIGITS);
  }

  /** From 64 hexadecimal digits. Error: `master_key` for any other text. */
  static fromHex(text: string): MasterKey {
    return new MasterKey(Buffer.from(/^[0-9a-fA-F]*$/.test(text.trim()) ? text.trim() : '', 'hex'));
  }

  /** Generates a key. */
  static random(random: Random = systemRandom): MasterKey {
    return new MasterKey(random.bytes(KEY_BYTES));
  }

  /** The raw key, for its file only. */
  toHex(): string {
    return this.#key.export().toString('hex');
  }

  /** A key for another purpose, in hexadecimal; it does not reveal this one. */
  derive(purpose: string): string {
    return Buffer.from(hkdfSync('sha256', this.#key, '', `scenepress ${purpose}`, KEY_BYTES)).toString('hex');
  }

  /** Encrypts a text to `<id>.<base64url of nonce, ciphertext and tag>`. */
  seal(text: string, random: Random = systemRandom): string {
    return `${this.id}.${seal(text, this.#key, random).toString('base64url')}`;
  }

  /** Whether the key decrypts the text, or one of the texts. */
  decrypts(sealed: string | string[]): boolean {
    return [sealed].flat().some((text) => {
      try {
        this.decrypt(text);
        return true;
      } catch {
        return false;
      }
    });
  }

  /** Decrypts. Error: `master_key` when the text was sealed with another key or altered. */
  decrypt(sealed: string): string {
    const id = masterKeyIdOf(sealed);
    try {
      if (id !== this.id) throw new Error(`sealed with the master key ${id}`);
      return decrypt(Buffer.from(sealed.slice(id.length + 1), 'base64url'), this.#key);
    } catch (cause) {
      throw new ScenepressError('master_key', 'The secrets were encrypted with another master key.', {
        cause,
      });
    }
  }
}

/** The id of the master key that sealed a text. */
export function masterKeyIdOf(sealed: string): string {
  return sealed.slice(0, sealed.indexOf('.'));
}
