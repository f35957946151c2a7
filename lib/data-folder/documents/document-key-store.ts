import assert from 'node:assert/strict';
import Joi from 'joi';
import { ScenepressError } from '../../base/errors.ts';
import { allPages } from '../../base/pages.ts';
import { DATA_FILES } from '../../files/data-files.ts';
import { areScopes, KEY_SCOPES, type KeyScope } from '../../keys/key-scopes.ts';
import type { KeyQuery, KeyRecord, KeyStore } from '../../keys/key-store.ts';
import { isWebhookUrl } from '../../model/render-request.ts';
import { turn } from '../../time/clock.ts';
import { Document } from './document.ts';
import type { DocumentPlace } from './document-file.ts';
import { DocumentFile } from './document-file.ts';
import { type Field, Fields, orElse, orNull, text, time } from './fields.ts';
import { type ListFormat, listFormat } from './format.ts';
import { type Draft, Table, type UniqueValues } from './table.ts';

const isThere = (value: string): boolean => value !== '';

const scopes: Field<readonly KeyScope[]> = {
  rule: `a list of at least one of ${KEY_SCOPES.map((scope) => `"${scope}"`).join(', ')}, each once`,
  schema: Joi.any().custom((value: unknown, { error }) => (areScopes(value) ? value : error('any.invalid'))),
  write: (value) => value,
};

const FIELDS = new Fields<KeyRecord>({
  keyId: ['keyId', text('the id of a key', isThere)],
  accountId: ['accountId', text('the id of an account', isThere)],
  name: ['name', text('a text')],
  prefix: ['prefix', text('the first characters of the key', isThere)],
  hash: ['hash', text('64 hexadecimal digits', (hash) => /^[0-9a-f]{64}$/.test(hash))],
  webhookUrl: ['webhookUrl', orNull(text('an https:// URL', isWebhookUrl))],
  webhookSecretSealed: ['webhookSecretSealed', text('an encrypted secret', isThere)],
  createdAt: ['createdAtMs', time],
  revokedAt: ['revokedAtMs', orNull(time)],
  scopes: ['scopes', orElse(scopes, KEY_SCOPES)],
  expiresAt: ['expiresAtMs', orElse<number | null>(time, null)],
});

const HASH = 'hash';
const UNIQUE: UniqueValues<KeyRecord> = { [HASH]: ({ hash }) => hash };

export const KEYS_FORMAT: ListFormat<KeyRecord> = listFormat('keys', {
  fields: FIELDS,
  id: 'keyId',
  unique: UNIQUE,
});

/** Secrets re-encrypted before yielding to the event loop. */
const RESEALED_AT_ONCE = 200;

/** API keys in `keys.json`, held in memory. */
export class DocumentKeyStore implements KeyStore {
  readonly document: Document<KeyRecord[], Draft<KeyRecord>>;
  readonly #table = new Table<KeyRecord>({
    noun: 'key',
    idOf: ({ keyId }) => keyId,
    unique: UNIQUE,
  });

  constructor({ disk, folder, onFullDisk }: DocumentPlace) {
    const file = new DocumentFile({ disk, folder, name: DATA_FILES.keys, format: KEYS_FORMAT });
    this.document = new Document({ file, content: this.#table, onFullDisk });
  }

  all(): KeyRecord[] {
    return this.#table.all();
  }

  async insertKey(key: KeyRecord): Promise<void> {
    await this.document.change((draft) => {
      assert(draft.get(key.keyId) === undefined, 'a keyId is used once');
      assert(draft.find(HASH, key.hash) === undefined, 'a hash is used once');
      put(draft, key);
    });
  }

  changeKey(keyId: string, change: (key: KeyRecord) => KeyRecord): Promise<KeyRecord> {
    return this.document.change((draft) => {
      const key = draft.get(keyId);
      if (!key) throw new ScenepressError('not_found', `There is no key ${keyId.slice(0, 80)}.`);
      const changed = change(key);
      if (changed === key) return key;
      assert(changed.keyId === keyId && changed.accountId === key.accountId && changed.hash === key.hash);
      assert.equal(changed.createdAtMs, key.createdAtMs);
      put(draft, changed);
      return changed;
    });
  }

  async getKey(keyId: string): Promise<KeyRecord | undefined> {
    return this.#table.get(keyId);
  }

  async findKeyByHash(hash: string): Promise<KeyRecord | undefined> {
    return this.#table.find(HASH, hash);
  }

  async listKeys({ accountId, liveAtMs, ...page }: KeyQuery = {}): Promise<KeyRecord[]> {
    return this.#table.list(
      page,
      (key) =>
        (accountId === undefined || key.accountId === accountId) &&
        (liveAtMs === undefined || isLive(key, liveAtMs)),
    );
  }

  /** Encrypts in batches first, then writes all at once; secrets that changed meanwhile are left unchanged. */
  async resealSecrets(reseal: (sealed: string) => string): Promise<number> {
    await this.document.change(() => {}); // Waits for writes in progress, so they are covered.
    const replaced = new Map<string, { before: string; after: string }>();
    let looked = 0;
    for await (const { keyId, webhookSecretSealed: before } of this.#everyKey()) {
      const after = reseal(before);
      if (after !== before) replaced.set(keyId, { before, after });
      looked += 1;
      if (looked % RESEALED_AT_ONCE === 0) await turn();
    }
    return this.document.change((draft) => {
      let count = 0;
      for (const [keyId, { before, after }] of replaced) {
        const key = draft.get(keyId);
        if (key?.webhookSecretSealed !== before) continue;
        draft.put({ ...key, webhookSecretSealed: after });
        count += 1;
      }
      return count;
    });
  }

  #everyKey(): AsyncGenerator<KeyRecord> {
    return allPages(
      (page) => this.listKeys(page),
      ({ keyId }) => keyId,
    );
  }
}

function isLive({ revokedAtMs, expiresAtMs }: KeyRecord, nowMs: number): boolean {
  return revokedAtMs === null && (expiresAtMs === null || expiresAtMs > nowMs);
}

function put(draft: Draft<KeyRecord>, key: KeyRecord): void {
  FIELDS.assert(key);
  draft.put(key);
}
