import type { Page } from '../pages.ts';

/** An API key as it is stored: the key itself is not kept. */
export interface KeyRecord {
  keyId: string;
  accountId: string;
  name: string;
  /** The first 16 characters of the key; safe to show. */
  prefix: string;
  /** SHA-256 of the key, hexadecimal. */
  hash: string;
  /** Where outcomes go when a request doesn't say; null: nowhere. */
  webhookUrl: string | null;
  /** The webhook secret, encrypted with the master key. */
  webhookSecretSealed: string;
  createdAtMs: number;
  /** When it was revoked, for good; null while live. */
  revokedAtMs: number | null;
}

/** Which keys to list. */
export interface KeyQuery extends Page {
  /** Default: all accounts. */
  accountId?: string;
}

/** Where API keys live. The rules of {@link AccountStore} hold here too. */
export interface KeyStore {
  /** Adds a key. A `keyId` and a `hash` are used once only. */
  insertKey(key: KeyRecord): Promise<void>;
  /**
   * Replaces a key by what `change` makes of it, whatever else changes it at the same time. `change` may be called more
   * than once, and changes neither `keyId`, `accountId`, `hash` nor `createdAtMs`. Nothing is written when it returns its
   * argument. Error: `not_found`.
   */
  changeKey(keyId: string, change: (key: KeyRecord) => KeyRecord): Promise<KeyRecord>;
  getKey(keyId: string): Promise<KeyRecord | undefined>;
  /** Looked up on every request, so that a revocation holds at once. */
  findKeyByHash(hash: string): Promise<KeyRecord | undefined>;
  /** Oldest first. `not_found` when there is no key `after`. */
  listKeys(query?: KeyQuery): Promise<KeyRecord[]>;
  /**
   * Replaces each webhook secret by what `reseal` makes of it, in as many steps as it likes: cut off, it can be repeated.
   * What is being written at the call is among them. A secret that `reseal` returns as it is needs no write. How many were
   * replaced.
   */
  resealSecrets(reseal: (sealed: string) => string): Promise<number>;
}
