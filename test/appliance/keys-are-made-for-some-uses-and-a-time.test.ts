import t from 'tap';
import { expiryOf } from '../../appliance/admin/key-expiry.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { scenepress } from './command.ts';
import { listeningAppliance } from './listening-appliance.ts';

const EMAIL = 'ada@example.org';
const NOW = Date.parse('2026-11-21T10:00:00Z');

t.test('an expiry is the end of a day of UTC, or a time from now', async (t) => {
  for (const [text, expected] of [
    ['2027-01-31', '2027-01-31T23:59:59.999Z'],
    ['2026-11-21', '2026-11-21T23:59:59.999Z'],
    ['2028-02-29', '2028-02-29T23:59:59.999Z'],
    ['9999-12-31', '9999-12-31T23:59:59.999Z'],
    ['12h', '2026-11-21T22:00:00.000Z'],
    ['90d', '2027-02-19T10:00:00.000Z'],
    ['4w', '2026-12-19T10:00:00.000Z'],
  ] as const)
    t.equal(new Date(expiryOf(text, NOW)).toISOString(), expected, text);
  const refused = {
    code: 'invalid_request',
    message: /not past, such as 2027-01-31 \(UTC\), .* 12h, 90d or 4w\.$/,
  };
  for (const text of [
    '2026-11-20',
    '2027-02-29',
    '2027-13-01',
    '2027-1-1',
    '10000-01-01',
    '2027-01-31T10:00:00Z',
    '31.01.2027',
    '0d',
    '-1d',
    '1.5d',
    '90',
    '90 d',
    '90m',
    '100000d',
    'tomorrow',
    '',
  ])
    t.throws(() => expiryOf(text, NOW), refused, text);
});

t.test('the administration makes, shows and counts keys with limits', async (t) => {
  const { installation } = await listeningAppliance(t);
  const { keys } = installation.administration;
  const account = EMAIL;
  const full = await keys.create({ account, name: 'Full' });
  t.match(full, { scopes: ['render', 'check', 'read'], expiresAt: null, state: 'live' });
  const made = await keys.create({ account, name: 'Some', scopes: ['read', 'check'], expires: '9000-01-31' });
  t.match(made, { scopes: ['check', 'read'], expiresAt: '9000-01-31T23:59:59.999Z', state: 'live' });
  const { key: _, webhookSecret: _secret, ...info } = made;
  t.same(await keys.show({ keyId: made.keyId }), info);
  for (const scopes of [[], ['write'], ['read', 'read']])
    await t.rejects(keys.create({ account, name: 'n', scopes }), {
      code: 'invalid_request',
      message: 'A key needs at least one of the scopes render, check, read, each once.',
    });
  await t.rejects(keys.create({ account, name: 'n', expires: '2020-01-01' }), { code: 'invalid_request' });
  await t.rejects(keys.create({ account, name: 'n', expires: 5 as never }), { message: /must be a text/ });

  const { accountId } = await installation.accounts.find(EMAIL);
  const { keyStore } = installation.place;
  const record = await installation.keys.find(full.keyId);
  if (!record) throw new Error('the key is stored');
  // More than an account may have at once.
  for (let count = 0; count < 100; count += 1) {
    const hash = String(count).padStart(64, '0');
    await keyStore.insertKey({
      ...record,
      keyId: `key_${count}`,
      hash,
      accountId,
      expiresAtMs: Date.now() - 1,
    });
  }
  t.match(await keys.show({ keyId: 'key_7' }), { state: 'expired', revokedAt: null });
  await keys.create({ account, name: 'Further' });
  const live = await keys.list({ account, live: true, limit: 200 });
  t.same(live.keys.map(({ name }) => name).toSorted(), ['Full', 'Further', 'Some', 'Test']);
  t.equal((await keys.list({ account, limit: 200 })).keys.length, 104);
});

t.test('commands make and show keys with limits', async (t) => {
  const dataDir = await temporaryFolder(t);
  const run = (...args: string[]) => scenepress([...args, '--data-dir', dataDir]);
  await run('account', 'create', EMAIL);
  const create = (...args: string[]) => run('key', 'create', '--account', EMAIL, '--name', 'Site', ...args);
  const { stdout } = await create('--scopes', 'check, render', '--expires', '9000-01-31');
  t.match(
    stdout,
    /^Key key_\w+ \("Site"\) of ada@example\.org, for render and check only, until 9000-01-31 23:59:59Z\. /,
  );
  const [, keyId = ''] = /(key_\w+)/.exec(stdout) ?? [];
  const full = await create();
  t.match(full.stdout, /^Key key_\w+ \("Site"\) of ada@example\.org\. These values/);
  const shown = await run('key', 'show', keyId);
  t.match(shown.stdout, /^Scopes +render, check$/m);
  t.match(shown.stdout, /^Expires +9000-01-31 23:59:59Z$/m);
  t.match(JSON.parse((await run('key', 'show', keyId, '--json')).stdout), {
    scopes: ['render', 'check'],
    expiresAt: '9000-01-31T23:59:59.999Z',
    state: 'live',
  });
  const list = await run('key', 'list');
  t.match(list.stdout, /^KEY ID +KEY +NAME +ACCOUNT +SCOPES +CREATED +EXPIRES +REVOKED$/m);
  t.match(list.stdout, new RegExp(`^${keyId} .* render,check +\\S+ \\S+ +9000-01-31 23:59:59Z +-$`, 'm'));
  t.match(list.stdout, /render,check,read +\S+ \S+ +- +-$/m);
  const inDays = JSON.parse((await create('--expires', '90d', '--json')).stdout);
  t.ok(Math.abs(Date.parse(inDays.expiresAt) - Date.now() - 90 * 86_400_000) < 60_000);
  t.match(await create('--scopes', 'write'), {
    code: 2,
    stderr: /Give one or several of render, check, read/,
  });
  t.match(await create('--expires', '2020-01-01'), { code: 1, stderr: /the end of a day that is not past/ });
});
