import { hash, randomBytes } from 'node:crypto';
import { type Clock, systemClock } from '../clock.ts';
import { ScenepressError } from '../errors.ts';
import { randomId } from '../ids.ts';
import type { Storage, Transaction } from '../storage/storage.ts';
import type { KeyRecord, KeyStore } from './key-store.ts';
import type { MasterKey } from './master-key.ts';

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
  readonly #storage: Storage;
  readonly #store: KeyStore;
  #masterKey: MasterKey;
  /** What secrets were sealed with before a rotation, for who read one just before it. */
  #formerMasterKey: MasterKey | undefined;
  readonly #clock: Clock;

  constructor(options: { storage: Storage; store: KeyStore; masterKey: MasterKey; clock?: Clock }) {
    this.#storage = options.storage;
    this.#store = options.store;
    this.#masterKey = options.masterKey;
    this.#clock = options.clock ?? systemClock;
  }

  /** A new key of an account. `webhookUrl`: default for its jobs, `https://` or null. */
  async mint(request: { accountId: string; name: string; webhookUrl?: string | null }): Promise<MintedKey> {
    const key = LIVE_PREFIX + randomBytes(24).toString('hex');
    const webhookSecret = newSecret();
    const record: Omit<KeyRecord, 'webhookSecretSealed'> = {
      keyId: randomId('key'),
      accountId: request.accountId,
      name: request.name,
      prefix: key.slice(0, PREFIX_LENGTH),
      hash: hashOf(key),
      webhookUrl: request.webhookUrl ?? null,
      createdAtMs: this.#clock.now(),
      revokedAtMs: null,
    };
    const sealed = await this.#storage.transaction(async (tx) => {
      // Inside, so that no rotation of the master key comes in between.
      const sealed = { ...record, webhookSecretSealed: this.#masterKey.seal(webhookSecret) };
      await this.#store.insertKey(tx, sealed);
      return sealed;
    });
    return { record: sealed, key, webhookSecret };
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
    return this.#change(keyId, (record) => ({
      ...record,
      revokedAtMs: record.revokedAtMs ?? this.#clock.now(),
    }));
  }

  /** Revokes it, and removes what its owner wrote: its name and its webhook. */
  async forget(keyId: string): Promise<KeyRecord> {
    await this.revoke(keyId);
    return this.#change(keyId, (record) => ({ ...record, name: '', webhookUrl: null }));
  }

  /** Replaces the webhook secret, at once: what is sent from now on is signed with the new one. The key stays. */
  async rotateSecret(keyId: string): Promise<{ record: KeyRecord; webhookSecret: string }> {
    const webhookSecret = newSecret();
    const record = await this.#change(keyId, (record) => ({
      ...record,
      webhookSecretSealed: this.#masterKey.seal(webhookSecret),
    }));
    return { record, webhookSecret };
  }

  /** Sets the default webhook of jobs to come: `https://…`, or null for none. */
  async setWebhookUrl(keyId: string, webhookUrl: string | null): Promise<KeyRecord> {
    return this.#change(keyId, (record) => ({ ...record, webhookUrl }));
  }

  /** The secret that webhooks of this key are signed with now, also when it is revoked; null without such a key. */
  async webhookSecretOf(keyId: string): Promise<string | null> {
    const record = await this.#store.getKey(keyId);
    if (!record) return null;
    const { webhookSecretSealed: sealed } = record;
    const former = this.#formerMasterKey;
    return former?.opens(sealed) ? former.open(sealed) : this.#masterKey.open(sealed);
  }

  /**
   * Seals the secrets of all keys with another master key, all or none; `also` is done in the same transaction. How many
   * there are.
   */
  async reseal(
    masterKey: MasterKey,
    { also = async () => {} }: { also?: (tx: Transaction) => Promise<void> } = {},
  ): Promise<number> {
    const former = this.#masterKey;
    try {
      return await this.#storage.transaction(async (tx) => {
        const records = await this.#store.listKeys(undefined, tx);
        for (const record of records) {
          const webhookSecretSealed = masterKey.seal(former.open(record.webhookSecretSealed));
          await this.#store.updateKey(tx, { ...record, webhookSecretSealed });
        }
        await also(tx);
        // Here, because the next transaction may begin before this one is on disk.
        [this.#masterKey, this.#formerMasterKey] = [masterKey, former];
        return records.length;
      });
    } catch (error) {
      [this.#masterKey, this.#formerMasterKey] = [former, undefined];
      throw error;
    }
  }

  /** Oldest first; of one account, or all. */
  list(accountId?: string): Promise<KeyRecord[]> {
    return this.#store.listKeys(accountId);
  }

  #change(keyId: string, change: (record: KeyRecord) => KeyRecord): Promise<KeyRecord> {
    return this.#storage.transaction(async (tx) => {
      const record = await this.#store.getKey(keyId, tx);
      if (!record) throw new ScenepressError('not_found', `There is no key ${keyId}.`);
      const changed = change(record);
      await this.#store.updateKey(tx, changed);
      return changed;
    });
  }
}

function newSecret(): string {
  return `whsec_${randomBytes(24).toString('hex')}`;
}

function hashOf(key: string): string {
  return hash('sha256', key);
}
