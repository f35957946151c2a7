import type { Page } from '../base/pages.ts';
import type { KeyScope } from './key-scopes.ts';

/** A stored API key, without the key itself. */
export interface KeyRecord {
  /** Identifies it; not secret. */
  keyId: string;
  /** The account that it belongs to. */
  accountId: string;
  /** Given by its account, to tell keys apart. */
  name: string;
  /** The first 16 characters of the key; safe to show. */
  prefix: string;
  /** SHA-256 of the key, hexadecimal. */
  hash: string;
  /** The default webhook URL of its jobs; null: none. */
  webhookUrl: string | null;
  /** The webhook secret, encrypted with the master key. */
  webhookSecretSealed: string;
  /** Epoch milliseconds. */
  createdAtMs: number;
  /** When it was revoked; null while live. */
  revokedAtMs: number | null;
  /** What it may be used for: at least one, each once. Keys from before there were scopes have all. */
  scopes: readonly KeyScope[];
  /** From when on it is rejected, in epoch milliseconds; null: never. */
  expiresAtMs: number | null;
}

/** A query for keys. */
export interface KeyQuery extends Page {
  /** Default: all accounts. */
  accountId?: string;
  /** Leaves out keys that are revoked, or have expired at this time (epoch milliseconds). */
  liveAtMs?: number;
}

/** The store of API keys. The rules of {@link AccountStore} apply. */
export interface KeyStore {
  /** Adds a key. A `keyId` and a `hash` must not be reused. */
  insertKey(key: KeyRecord): Promise<void>;
  /**
   * Atomically replaces a key by the result of `change`, which may be called more than once and must not change
   * `keyId`, `accountId`, `hash` or `createdAtMs`. Nothing is written when it returns its argument. Error:
   * `not_found`.
   */
  changeKey(keyId: string, change: (key: KeyRecord) => KeyRecord): Promise<KeyRecord>;
  /** Undefined if there is none. */
  getKey(keyId: string): Promise<KeyRecord | undefined>;
  /** Called on every request, so a revocation takes effect immediately. */
  findKeyByHash(hash: string): Promise<KeyRecord | undefined>;
  /** Lists keys, oldest first. Error: `not_found` when the key `after` does not exist. */
  listKeys(query?: KeyQuery): Promise<KeyRecord[]>;
  /**
   * Replaces each webhook secret by the result of `reseal`, in any number of steps; can be repeated after an
   * interruption. Covers writes in progress at the call. Secrets that `reseal` returns unchanged are not written.
   * Returns the number replaced.
   */
  resealSecrets(reseal: (sealed: string) => string): Promise<number>;
}
