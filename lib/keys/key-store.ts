import type { Transaction } from '../storage/storage.ts';

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

export interface KeyStore {
  insertKey(tx: Transaction, key: KeyRecord): Promise<void>;
  updateKey(tx: Transaction, key: KeyRecord): Promise<void>;
  getKey(keyId: string, tx?: Transaction): Promise<KeyRecord | undefined>;
  /** Looked up on every request, so that a revocation holds at once. */
  findKeyByHash(hash: string): Promise<KeyRecord | undefined>;
  /** Oldest first; of one account, or all. With `tx`, what transactions before it wrote is among them. */
  listKeys(accountId?: string, tx?: Transaction): Promise<KeyRecord[]>;
}
