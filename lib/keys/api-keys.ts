import { hash } from 'node:crypto';
import { ScenepressError } from '../base/errors.ts';
import { known } from '../base/known-options.ts';
import { allPages } from '../base/pages.ts';
import { type Random, systemRandom } from '../base/random.ts';
import { randomId } from '../model/ids.ts';
import { isWebhookUrl } from '../model/render-request.ts';
import { type Clock, systemClock } from '../time/clock.ts';
import { areScopes, KEY_SCOPES, type KeyScope } from './key-scopes.ts';
import type { KeyQuery, KeyRecord, KeyStore } from './key-store.ts';
import type { MasterKeys } from './master-keys.ts';

const LIVE_PREFIX = 'svc_live_';
const KEY_FORMAT = /^svc_live_[0-9a-f]{48}$/;
const PREFIX_LENGTH = 16;
/** Later times have five digits for the year. */
const LATEST_MS = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

/** Whether a key is accepted: `live`, or why not. Revoked keys that have also expired are `revoked`. */
export type KeyState = 'live' | 'revoked' | 'expired';

/** A new key, with the secrets that are shown exactly once. */
export interface MintedKey {
  /** What is stored of it. */
  record: KeyRecord;
  /** The full key, which is not stored. */
  key: string;
  /** Signs the webhooks of jobs made with this key. */
  webhookSecret: string;
}

/**
 * Creates, verifies and revokes API keys (contract §5).
 *
 * ```ts
 * const keys = new ApiKeys({ store: dataFolder.keyStore, masterKeys: await dataFolder.masterKeys() });
 * const { key } = await keys.mint({ accountId: 'ada', name: 'notebook' });
 * const record = await keys.verify(key);
 * ```
 */
export class ApiKeys {
  readonly #store: KeyStore;
  readonly #masterKeys: MasterKeys;
  readonly #clock: Clock;
  readonly #random: Random;

  constructor(options: { store: KeyStore; masterKeys: MasterKeys; clock?: Clock; random?: Random }) {
    known('ApiKeys', options, { store: true, masterKeys: true, clock: true, random: true });
    this.#store = options.store;
    this.#masterKeys = options.masterKeys;
    this.#clock = options.clock ?? systemClock;
    this.#random = options.random ?? systemRandom;
  }

  /**
   * Creates a key of an account. `webhookUrl`: the default of its jobs, `https://…` or null. `scopes`: what it may be used
   * for; default: everything. `expiresAtMs`: from when on it is rejected, in epoch milliseconds; default: null, never.
   * Error: `invalid_request`.
   */
  async mint(request: {
    accountId: string;
    name: string;
    webhookUrl?: string | null;
    scopes?: readonly KeyScope[];
    expiresAtMs?: number | null;
  }): Promise<MintedKey> {
    known('mint', request, {
      accountId: true,
      name: true,
      webhookUrl: true,
      scopes: true,
      expiresAtMs: true,
    });
    const key = LIVE_PREFIX + this.#random.bytes(24).toString('hex');
    const webhookSecret = this.#newSecret();
    const record: KeyRecord = {
      keyId: randomId('key', this.#random),
      accountId: request.accountId,
      name: request.name,
      prefix: key.slice(0, PREFIX_LENGTH),
      hash: hashOf(key),
      webhookUrl: checkedUrl(request.webhookUrl ?? null),
      webhookSecretSealed: this.#masterKeys.seal(webhookSecret),
      createdAtMs: this.#clock.now(),
      revokedAtMs: null,
      scopes: checkedScopes(request.scopes ?? KEY_SCOPES),
      expiresAtMs: this.#checkedExpiry(request.expiresAtMs ?? null),
    };
    await this.#store.insertKey(record);
    return { record, key, webhookSecret };
  }

  /** The live key of a token; null when the token is malformed, unknown, revoked or expired. */
  async verify(token: string): Promise<KeyRecord | null> {
    if (!KEY_FORMAT.test(token)) return null;
    // The lookup needs no constant time: the hash of 192 random bits leaks nothing useful.
    const record = await this.#store.findKeyByHash(hashOf(token));
    return record && this.stateOf(record) === 'live' ? record : null;
  }

  /** Whether a key is accepted now, or why not. */
  stateOf({ revokedAtMs, expiresAtMs }: KeyRecord): KeyState {
    if (revokedAtMs !== null) return 'revoked';
    return expiresAtMs !== null && expiresAtMs <= this.#clock.now() ? 'expired' : 'live';
  }

  /** Revokes a key permanently. Idempotent. */
  async revoke(keyId: string): Promise<KeyRecord> {
    return this.#store.changeKey(keyId, (record) => this.#revoked(record));
  }

  /** Revokes a key and erases its name and webhook URL. */
  async forget(keyId: string): Promise<KeyRecord> {
    return this.#store.changeKey(keyId, (record) => {
      const isForgotten = record.revokedAtMs !== null && record.name === '' && record.webhookUrl === null;
      return isForgotten ? record : { ...this.#revoked(record), name: '', webhookUrl: null };
    });
  }

  /** Replaces the webhook secret: later webhooks are signed with the new one. The key itself stays valid. */
  async rotateSecret(keyId: string): Promise<{ record: KeyRecord; webhookSecret: string }> {
    const webhookSecret = this.#newSecret();
    const record = await this.#store.changeKey(keyId, (record) => ({
      ...record,
      webhookSecretSealed: this.#masterKeys.seal(webhookSecret),
    }));
    return { record, webhookSecret };
  }

  /** Sets the default webhook of later jobs: `https://…`, or null for none. */
  async setWebhookUrl(keyId: string, webhookUrl: string | null): Promise<KeyRecord> {
    checkedUrl(webhookUrl);
    return this.#store.changeKey(keyId, (record) => ({ ...record, webhookUrl }));
  }

  /** The current webhook secret of a key, also of a revoked or expired one; null when there is no such key. */
  async webhookSecretOf(keyId: string): Promise<string | null> {
    const record = await this.#store.getKey(keyId);
    return record ? this.#masterKeys.decrypt(record.webhookSecretSealed) : null;
  }

  /** Re-encrypts secrets that are sealed with the previous master key. Returns their number. */
  reseal(): Promise<number> {
    return this.#store.resealSecrets((sealed) => this.#masterKeys.reseal(sealed));
  }

  /** The key, also a revoked one; undefined when there is none. */
  find(keyId: string): Promise<KeyRecord | undefined> {
    return this.#store.getKey(keyId);
  }

  /** Lists keys of one account, or all, oldest first. `live`: without revoked and expired ones. */
  async list(query: Omit<KeyQuery, 'liveAtMs'> & { live?: boolean } = {}): Promise<KeyRecord[]> {
    const { live, ...rest } = known('list', query, { limit: true, after: true, accountId: true, live: true });
    return this.#store.listKeys({ ...rest, ...(live && { liveAtMs: this.#clock.now() }) });
  }

  /** Iterates over all keys, oldest first. */
  all(query: Pick<KeyQuery, 'accountId'> = {}): AsyncGenerator<KeyRecord> {
    const { accountId } = known('all', query, { accountId: true });
    return allPages(
      (page) => this.#store.listKeys({ ...page, ...(accountId !== undefined && { accountId }) }),
      ({ keyId }) => keyId,
    );
  }

  #checkedExpiry(expiresAtMs: number | null): number | null {
    if (expiresAtMs === null) return null;
    if (Number.isInteger(expiresAtMs) && expiresAtMs > this.#clock.now() && expiresAtMs <= LATEST_MS)
      return expiresAtMs;
    throw new ScenepressError(
      'invalid_request',
      'expiresAtMs must be null, or a time in the future before the year 10000, in epoch milliseconds',
    );
  }

  #newSecret(): string {
    return `whsec_${this.#random.bytes(24).toString('hex')}`;
  }

  #revoked(record: KeyRecord): KeyRecord {
    return record.revokedAtMs === null ? { ...record, revokedAtMs: this.#clock.now() } : record;
  }
}

function hashOf(key: string): string {
  return hash('sha256', key);
}

/** In the order of {@link KEY_SCOPES}. */
function checkedScopes(scopes: readonly KeyScope[]): KeyScope[] {
  if (areScopes(scopes)) return KEY_SCOPES.filter((scope) => scopes.includes(scope));
  throw new ScenepressError(
    'invalid_request',
    `scopes must be a list of at least one of ${KEY_SCOPES.join(', ')}, each once`,
  );
}

function checkedUrl(webhookUrl: string | null): string | null {
  if (webhookUrl === null || isWebhookUrl(webhookUrl)) return webhookUrl;
  throw new ScenepressError('invalid_request', 'webhookUrl must be an https:// URL');
}
