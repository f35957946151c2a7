import { hash, randomBytes } from 'node:crypto';
import { type Clock, systemClock } from '../clock.ts';
import { ScenepressError } from '../errors.ts';
import { randomId } from '../ids.ts';
import { isWebhookUrl } from '../jobs/render-request.ts';
import { allPages } from '../pages.ts';
import type { KeyQuery, KeyRecord, KeyStore } from './key-store.ts';
import type { MasterKeys } from './master-keys.ts';

const LIVE_PREFIX = 'svc_live_';
const KEY_FORMAT = /^svc_live_[0-9a-f]{48}$/;
const PREFIX_LENGTH = 16;

/** A new key with what is shown exactly once. */
export interface MintedKey {
  record: KeyRecord;
  /** The full key. Stored nowhere. */
  key: string;
  /** Signs the webhooks of jobs made with this key. */
  webhookSecret: string;
}

/** Makes, checks and revokes API keys (contract §5). */
export class ApiKeys {
  readonly #store: KeyStore;
  readonly #masterKeys: MasterKeys;
  readonly #clock: Clock;

  constructor(options: { store: KeyStore; masterKeys: MasterKeys; clock?: Clock }) {
    this.#store = options.store;
    this.#masterKeys = options.masterKeys;
    this.#clock = options.clock ?? systemClock;
  }

  /** A new key of an account. `webhookUrl`: default for its jobs, `https://` or null. */
  async mint(request: { accountId: string; name: string; webhookUrl?: string | null }): Promise<MintedKey> {
    const key = LIVE_PREFIX + randomBytes(24).toString('hex');
    const webhookSecret = newSecret();
    const record: KeyRecord = {
      keyId: randomId('key'),
      accountId: request.accountId,
      name: request.name,
      prefix: key.slice(0, PREFIX_LENGTH),
      hash: hashOf(key),
      webhookUrl: checkedUrl(request.webhookUrl ?? null),
      webhookSecretSealed: this.#masterKeys.seal(webhookSecret),
      createdAtMs: this.#clock.now(),
      revokedAtMs: null,
    };
    await this.#store.insertKey(record);
    return { record, key, webhookSecret };
  }

  /** The live key behind a token; null when it is malformed, unknown or revoked. */
  async verify(token: string): Promise<KeyRecord | null> {
    if (!KEY_FORMAT.test(token)) return null;
    // Looking up a hash of 192 random bits tells an attacker nothing by its timing.
    const record = await this.#store.findKeyByHash(hashOf(token));
    return record && record.revokedAtMs === null ? record : null;
  }

  /** Revokes a key, for good; doing so again changes nothing. */
  async revoke(keyId: string): Promise<KeyRecord> {
    return this.#store.changeKey(keyId, (record) => this.#revoked(record));
  }

  /** Revokes it, and removes what its owner wrote: its name and its webhook. */
  async forget(keyId: string): Promise<KeyRecord> {
    return this.#store.changeKey(keyId, (record) => {
      const isForgotten = record.revokedAtMs !== null && record.name === '' && record.webhookUrl === null;
      return isForgotten ? record : { ...this.#revoked(record), name: '', webhookUrl: null };
    });
  }

  /** Replaces the webhook secret, at once: what is sent from now on is signed with the new one. The key stays. */
  async rotateSecret(keyId: string): Promise<{ record: KeyRecord; webhookSecret: string }> {
    const webhookSecret = newSecret();
    const record = await this.#store.changeKey(keyId, (record) => ({
      ...record,
      webhookSecretSealed: this.#masterKeys.seal(webhookSecret),
    }));
    return { record, webhookSecret };
  }

  /** Sets the default webhook of jobs to come: `https://…`, or null for none. */
  async setWebhookUrl(keyId: string, webhookUrl: string | null): Promise<KeyRecord> {
    checkedUrl(webhookUrl);
    return this.#store.changeKey(keyId, (record) => ({ ...record, webhookUrl }));
  }

  /** The secret that webhooks of this key are signed with now, also when it is revoked; null without such a key. */
  async webhookSecretOf(keyId: string): Promise<string | null> {
    const record = await this.#store.getKey(keyId);
    return record ? this.#masterKeys.open(record.webhookSecretSealed) : null;
  }

  /** Seals with the current master key what is sealed with the one before. How many secrets that were. */
  reseal(): Promise<number> {
    return this.#store.resealSecrets((sealed) => this.#masterKeys.reseal(sealed));
  }

  /** Oldest first; of one account, or all. */
  list(query?: KeyQuery): Promise<KeyRecord[]> {
    return this.#store.listKeys(query);
  }

  /** The same, all of them. */
  all({ accountId }: Pick<KeyQuery, 'accountId'> = {}): AsyncGenerator<KeyRecord> {
    return allPages(
      (page) => this.#store.listKeys({ ...page, ...(accountId !== undefined && { accountId }) }),
      ({ keyId }) => keyId,
    );
  }

  #revoked(record: KeyRecord): KeyRecord {
    return record.revokedAtMs === null ? { ...record, revokedAtMs: this.#clock.now() } : record;
  }
}

function newSecret(): string {
  return `whsec_${randomBytes(24).toString('hex')}`;
}

function hashOf(key: string): string {
  return hash('sha256', key);
}

function checkedUrl(webhookUrl: string | null): string | null {
  if (webhookUrl === null || isWebhookUrl(webhookUrl)) return webhookUrl;
  throw new ScenepressError('invalid_request', 'webhookUrl must be an https:// URL');
}
