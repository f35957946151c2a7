import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import type { KeyQuery, KeyRecord, KeyStore } from '../keys/key-store.ts';
import { type Behaviour, behaviours, countOf, type Opened, type SuiteOptions } from './suite.ts';

const AT_FIRST = {
  holds: 'an empty store of keys',
  flaw: async (store: KeyStore) => countOf('keys', await store.listKeys({ limit: 1 })),
};

/**
 * Behaviors of a {@link KeyStore}. `open` returns a new, empty one.
 *
 * ```ts
 * const open = async () => ({ subject: new MyKeys(), close: async () => {} });
 * for (const { title, run } of keyStoreSuite(open)) test(title, run);
 * ```
 */
export function keyStoreSuite(
  open: () => Promise<Opened<KeyStore>>,
  options: SuiteOptions = {},
): Behaviour[] {
  const suite = { name: 'keyStoreSuite', open, options, ...AT_FIRST };
  return behaviours(suite, {
    async 'stores a key and finds it by id and by hash'(store) {
      const key = keyRecord('1', {
        name: 'Ünïcode \u2028 \ud800',
        webhookUrl: 'https://example.org/',
        revokedAtMs: 5,
      });
      await store.insertKey(key);
      assert.deepEqual(await store.getKey('1'), key);
      assert.deepEqual(await store.findKeyByHash(key.hash), key);
      assert.equal(await store.getKey('2'), undefined);
      assert.equal(await store.findKeyByHash(hashOf('2')), undefined);
    },

    async 'rejects a second key with the same id or hash'(store) {
      await store.insertKey(keyRecord('1'));
      await assert.rejects(store.insertKey(keyRecord('1', { hash: hashOf('2') })));
      await assert.rejects(store.insertKey(keyRecord('2', { hash: hashOf('1') })));
      assert.deepEqual(await store.listKeys(), [keyRecord('1')]);
    },

    async 'loses no concurrent change'(store) {
      await store.insertKey(keyRecord('1', { name: '' }));
      const append = () => store.changeKey('1', (key) => ({ ...key, name: `${key.name}x` }));
      await Promise.all(Array.from({ length: 30 }, append));
      assert.equal((await store.getKey('1'))?.name, 'x'.repeat(30));
    },

    async 'shows a key as revoked once the revocation is acknowledged'(store) {
      await store.insertKey(keyRecord('1'));
      const revoked = await store.changeKey('1', (key) => ({ ...key, revokedAtMs: 5 }));
      assert.deepEqual(revoked, keyRecord('1', { revokedAtMs: 5 }));
      assert.deepEqual(await store.findKeyByHash(hashOf('1')), revoked);
      assert.deepEqual(await store.changeKey('1', (key) => key), revoked);
    },

    async 'stores nothing if a change throws or the key does not exist'(store) {
      await store.insertKey(keyRecord('1'));
      const failing = store.changeKey('1', () => {
        throw new Error('no');
      });
      await assert.rejects(failing, { message: 'no' });
      await assert.rejects(
        store.changeKey('2', (key) => ({ ...key })),
        { code: 'not_found' },
      );
      assert.deepEqual(await store.listKeys(), [keyRecord('1')]);
    },

    async 'lists keys of one account or of all, oldest first, in pages'(store) {
      for (const [id, createdAtMs] of Object.entries({ c: 1000, a: 2000, b: 2000, e: 500, d: 3000 })) {
        await store.insertKey(keyRecord(id, { createdAtMs, accountId: id === 'a' ? 'eve' : 'ada' }));
      }
      const list = async (query?: KeyQuery) => (await store.listKeys(query)).map(({ keyId }) => keyId);
      assert.deepEqual(await list(), ['e', 'c', 'a', 'b', 'd']);
      assert.deepEqual(await list({ accountId: 'ada' }), ['e', 'c', 'b', 'd']);
      assert.deepEqual(await list({ accountId: 'ada', limit: 2 }), ['e', 'c']);
      assert.deepEqual(await list({ accountId: 'ada', limit: 2, after: 'c' }), ['b', 'd']);
      assert.deepEqual(await list({ limit: 2, after: 'c' }), ['a', 'b']);
      assert.deepEqual(await list({ accountId: 'none' }), []);
      await assert.rejects(store.listKeys({ after: 'x' }), { code: 'not_found' });
    },

    async 'lists live keys, in pages'(store) {
      for (const [id, revokedAtMs] of Object.entries({ a: null, b: 5, c: null, d: null }))
        await store.insertKey(keyRecord(id, { revokedAtMs, accountId: id === 'd' ? 'eve' : 'ada' }));
      const list = async (query: KeyQuery) => (await store.listKeys(query)).map(({ keyId }) => keyId);
      assert.deepEqual(await list({ live: true }), ['a', 'c', 'd']);
      assert.deepEqual(await list({ live: true, limit: 1, after: 'a' }), ['c']);
      assert.deepEqual(await list({ live: true, accountId: 'ada' }), ['a', 'c']);
      assert.deepEqual(await list({ live: false, limit: 2 }), ['a', 'b']);
    },

    async 'lists 50 keys by default'(store) {
      const ids = Array.from({ length: 51 }, (_, number) => String(number));
      await Promise.all(ids.map((id) => store.insertKey(keyRecord(id))));
      assert.equal((await store.listKeys()).length, 50);
      assert.equal((await store.listKeys({ limit: 100 })).length, 51);
    },

    async 'replaces webhook secrets, also of keys that are being written'(store) {
      await store.insertKey(keyRecord('1', { webhookSecretSealed: 'old-1', revokedAtMs: 5 }));
      await store.insertKey(keyRecord('2', { webhookSecretSealed: 'new-2' }));
      const inserting = store.insertKey(keyRecord('3', { webhookSecretSealed: 'old-3' }));
      const reseal = (sealed: string) => sealed.replace('old', 'new');
      assert.equal(await store.resealSecrets(reseal), 2);
      await inserting;
      const secrets = (await store.listKeys()).map(({ webhookSecretSealed }) => webhookSecretSealed);
      assert.deepEqual(secrets, ['new-1', 'new-2', 'new-3']);
      assert.equal(await store.resealSecrets(reseal), 0);
    },

    async 'does not share records with the caller'(store) {
      const key = keyRecord('1');
      await store.insertKey(key);
      key.revokedAtMs = 5;
      assert.equal((await store.getKey('1'))?.revokedAtMs, null);
    },
  });
}

function keyRecord(keyId: string, change: Partial<KeyRecord> = {}): KeyRecord {
  return {
    keyId,
    accountId: 'ada',
    name: 'n',
    prefix: 'svc_live_1234567',
    hash: hashOf(keyId),
    webhookUrl: null,
    webhookSecretSealed: 'sealed',
    createdAtMs: 1000,
    revokedAtMs: null,
    ...change,
  };
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
