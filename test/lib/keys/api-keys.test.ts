import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { ApiKeys, DataFolder, MasterKey } from '../../../lib/index.ts';
import type { KeyStore } from '../../../lib/keys/key-store.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import { testFolder } from '../../fixtures/test-folder.ts';

const DAY_MS = 86_400_000;

async function openKeys(t: Test) {
  const path = testFolder(t);
  const folder = new DataFolder(path);
  await folder.start();
  t.teardown(() => folder.stop());
  const clock = new FakeClock('2026-11-21T10:00:00Z');
  const masterKeys = await folder.masterKeys();
  const keys = new ApiKeys({ store: folder.keyStore, masterKeys, clock });
  return { keys, path, folder, clock, masterKeys };
}

t.test('a minted key has the contract’s format and is valid', async (t) => {
  const { keys } = await openKeys(t);
  const { key, record, webhookSecret } = await keys.mint({ accountId: 'a', name: 'n' });
  t.match(key, /^svc_live_[0-9a-f]{48}$/);
  t.match(record.keyId, /^key_/);
  t.equal(record.prefix, key.slice(0, 16));
  t.match(webhookSecret, /^whsec_[0-9a-f]{48}$/);
  t.match(await keys.verify(key), { keyId: record.keyId, accountId: 'a', revokedAtMs: null });
});

t.test(
  'a revoked key is invalid immediately and forever, other keys of the account stay valid',
  async (t) => {
    const { keys, folder } = await openKeys(t);
    const [one, other] = [
      await keys.mint({ accountId: 'a', name: '1' }),
      await keys.mint({ accountId: 'a', name: '2' }),
    ];
    const revoked = await keys.revoke(one.record.keyId);
    t.same(await keys.revoke(one.record.keyId), revoked, 'revoking again changes nothing');
    t.equal(await keys.verify(one.key), null);
    t.match(await keys.verify(other.key), { keyId: other.record.keyId });
    await folder.stop();
    await folder.start();
    t.equal(await keys.verify(one.key), null);
  },
);

t.test('a key is for everything and forever, unless it was made for less', async (t) => {
  const { keys, clock } = await openKeys(t);
  const unlimited = await keys.mint({ accountId: 'a', name: 'n' });
  t.match(unlimited.record, { scopes: ['render', 'check', 'read'], expiresAtMs: null });
  clock.advance(100 * 365 * DAY_MS);
  t.match(await keys.verify(unlimited.key), { scopes: ['render', 'check', 'read'], expiresAtMs: null });
  const expiresAtMs = clock.now() + 1;
  const limited = await keys.mint({ accountId: 'a', name: 'n', scopes: ['read', 'check'], expiresAtMs });
  t.same((await keys.verify(limited.key))?.scopes, ['check', 'read'], 'in one order');
  t.match(await keys.verify(limited.key), { expiresAtMs });
});

t.test('an expired key is invalid from its time on, and signs the webhooks of its jobs', async (t) => {
  const { keys, clock } = await openKeys(t);
  const expiresAtMs = clock.now() + DAY_MS;
  const { key, record, webhookSecret } = await keys.mint({ accountId: 'a', name: 'n', expiresAtMs });
  const other = await keys.mint({ accountId: 'a', name: 'n' });
  const live = async () => (await keys.list({ live: true })).map(({ keyId }) => keyId);
  clock.advance(DAY_MS - 1);
  t.match(await keys.verify(key), { keyId: record.keyId });
  t.equal(keys.stateOf(record), 'live');
  t.same((await live()).toSorted(), [record.keyId, other.record.keyId].toSorted());
  clock.advance(1);
  t.equal(await keys.verify(key), null);
  t.equal(keys.stateOf(record), 'expired');
  t.same(await live(), [other.record.keyId]);
  t.equal((await keys.list({ live: false })).length, 2);
  t.equal(await keys.webhookSecretOf(record.keyId), webhookSecret);
  t.equal(keys.stateOf(await keys.revoke(record.keyId)), 'revoked');
});

t.test('scopes must be known, and each once', async (t) => {
  const { keys } = await openKeys(t);
  const message = 'scopes must be a list of at least one of render, check, read, each once';
  for (const scopes of [[], ['write'], ['render', 'render'], ['Render'], 'render', [['render']], [null], {}])
    await t.rejects(
      keys.mint({ accountId: 'a', name: 'n', scopes: scopes as never }),
      { code: 'invalid_request', message },
      JSON.stringify(scopes),
    );
  t.same(await keys.list(), []);
});

t.test('the expiry must be in the future', async (t) => {
  const { keys, clock } = await openKeys(t);
  const now = clock.now();
  for (const expiresAtMs of [
    now,
    now - 1,
    0,
    now + 0.5,
    Number.NaN,
    Date.UTC(10_000, 0),
    Infinity,
    '9e12',
    {},
  ])
    await t.rejects(
      keys.mint({ accountId: 'a', name: 'n', expiresAtMs: expiresAtMs as never }),
      { code: 'invalid_request', message: /^expiresAtMs must be null, or a time in the future/ },
      String(expiresAtMs),
    );
  t.same(await keys.list(), []);
  const expiresAtMs = Date.UTC(10_000, 0) - 1;
  const { key } = await keys.mint({ accountId: 'a', name: 'n', expiresAtMs });
  t.match(await keys.verify(key), { expiresAtMs });
});

t.test('malformed and unknown keys are invalid', async (t) => {
  const { keys } = await openKeys(t);
  const { key } = await keys.mint({ accountId: 'a', name: 'n' });
  const tokens = [
    '',
    'x',
    key.slice(0, -1),
    `${key}0`,
    key.toUpperCase(),
    `${key}\n`,
    key.replace('live', 'test'),
  ];
  for (const token of [...tokens, `svc_live_${'0'.repeat(48)}`])
    t.equal(await keys.verify(token), null, token);
});

t.test('malformed tokens are not looked up', async (t) => {
  const { folder, masterKeys } = await openKeys(t);
  const store: KeyStore = Object.create(folder.keyStore, {
    findKeyByHash: { value: async () => t.fail('it is looked up') },
  });
  const key = `svc_live_${'0'.repeat(48)}`;
  for (const token of ['', `x${key}`, `${key}x`, key.slice(1), key.slice(0, -1)])
    t.equal(await new ApiKeys({ store, masterKeys }).verify(token), null);
});

t.test('neither the key nor the webhook secret is stored in plain text', async (t) => {
  const { keys, path, folder } = await openKeys(t);
  const { key, webhookSecret } = await keys.mint({ accountId: 'a', name: 'n' });
  await folder.stop();
  const stored = readFileSync(join(path, 'keys.json'), 'utf8');
  t.notOk(stored.includes(key.slice(16)));
  t.notOk(stored.includes(webhookSecret.slice(6)));
  t.ok(stored.includes(key.slice(0, 16)), 'the prefix is stored');
});

t.test('a rotated webhook secret replaces the old one immediately, and the key stays valid', async (t) => {
  const { keys, folder } = await openKeys(t);
  const { key, record, webhookSecret } = await keys.mint({ accountId: 'a', name: 'n' });
  t.equal(await keys.webhookSecretOf(record.keyId), webhookSecret);
  const rotated = await keys.rotateSecret(record.keyId);
  t.match(rotated.webhookSecret, /^whsec_[0-9a-f]{48}$/);
  t.not(rotated.webhookSecret, webhookSecret);
  t.equal(await keys.webhookSecretOf(record.keyId), rotated.webhookSecret);
  t.match(await keys.verify(key), { keyId: record.keyId });
  await keys.revoke(record.keyId);
  await folder.stop();
  await folder.start();
  t.equal(await keys.webhookSecretOf(record.keyId), rotated.webhookSecret, 'also for a revoked key');
  t.equal(await keys.webhookSecretOf('key_x'), null);
});

t.test('the default webhook of a key can be set and removed', async (t) => {
  const { keys } = await openKeys(t);
  const { key, record } = await keys.mint({ accountId: 'a', name: 'n' });
  for (const webhookUrl of ['https://example.org/', null]) {
    await keys.setWebhookUrl(record.keyId, webhookUrl);
    t.match(await keys.verify(key), { webhookUrl });
  }
});

t.test('an invalid default webhook is rejected', async (t) => {
  const { keys } = await openKeys(t);
  const refused = { code: 'invalid_request', message: 'webhookUrl must be an https:// URL' };
  await t.rejects(keys.mint({ accountId: 'a', name: 'n', webhookUrl: 'http://example.org/' }), refused);
  const { record } = await keys.mint({ accountId: 'a', name: 'n' });
  await t.rejects(keys.setWebhookUrl(record.keyId, 'https://user:password@example.org/'), refused);
});

t.test('revoking an unknown key rejects with not_found', async (t) => {
  const { keys } = await openKeys(t);
  await t.rejects(keys.revoke('key_x'), { code: 'not_found', message: 'There is no key key_x.' });
});

t.test('a forgotten key has no name and no webhook, and stays revoked since it was', async (t) => {
  const { keys, clock, path } = await openKeys(t);
  const { key, record } = await keys.mint({ accountId: 'a', name: 'n', webhookUrl: 'https://example.org/' });
  t.match(record, { createdAtMs: clock.now(), webhookUrl: 'https://example.org/' });
  clock.advance(1000);
  await keys.revoke(record.keyId);
  clock.advance(1000);
  const forgotten = { ...record, revokedAtMs: record.createdAtMs + 1000, name: '', webhookUrl: null };
  t.same(await keys.forget(record.keyId), forgotten);
  const file = () => statSync(join(path, 'keys.json')).ino;
  const before = file();
  t.same(await keys.forget(record.keyId), forgotten);
  t.equal(file(), before, 'a second time nothing is written');
  t.equal(await keys.verify(key), null);
  // Those that have only one or two of the three are not yet forgotten.
  for (const [name, webhookUrl] of [
    ['', null],
    ['', 'https://example.org/'],
    ['n', null],
  ] as const) {
    const { record } = await keys.mint({ accountId: 'a', name, webhookUrl });
    if (name !== '' || webhookUrl !== null) await keys.revoke(record.keyId);
    t.match(await keys.forget(record.keyId), { name: '', webhookUrl: null, revokedAtMs: clock.now() });
  }
});

t.test('keys are listed for one account or for all, oldest first', async (t) => {
  const { keys, clock } = await openKeys(t);
  const minted: string[] = [];
  for (const accountId of ['a', 'b', 'a']) {
    minted.push((await keys.mint({ accountId, name: 'n' })).record.keyId);
    clock.advance(1);
  }
  const idsOf = (records: { keyId: string }[]) => records.map(({ keyId }) => keyId);
  t.same(idsOf(await keys.list()), minted);
  t.same(idsOf(await keys.list({ accountId: 'b' })), [minted[1]]);
  t.same(idsOf(await Array.fromAsync(keys.all())), minted);
  t.same(idsOf(await Array.fromAsync(keys.all({ accountId: 'a' }))), [minted[0], minted[2]]);
});

t.test('secrets of the former master key are sealed again, once', async (t) => {
  const { keys, masterKeys } = await openKeys(t);
  const { record, webhookSecret } = await keys.mint({ accountId: 'a', name: 'n' });
  t.equal(await keys.reseal(), 0);
  masterKeys.change(MasterKey.random());
  t.equal(await keys.reseal(), 1);
  t.equal(await keys.reseal(), 0);
  t.equal(await keys.webhookSecretOf(record.keyId), webhookSecret);
});
