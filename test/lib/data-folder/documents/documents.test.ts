import { chmodSync, existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { alteredDisk } from '../../../fixtures/altered-disk.ts';
import { testFolder } from '../../../fixtures/test-folder.ts';
import { ADA, KEY, openedFolder as opened, usedFolder } from './used-folder.ts';

function edit(path: string, name: string, change: (text: string) => string): void {
  const before = readFileSync(join(path, name), 'utf8');
  const after = change(before);
  t.not(after, before);
  writeFileSync(join(path, name), after);
}

t.test('documents are formatted for people and readable only by their owner', async (t) => {
  const path = await usedFolder(t);
  t.equal(
    readFileSync(join(path, 'accounts.json'), 'utf8'),
    `{
  "format": 1,
  "accounts": [
    {
      "accountId": "acct_1",
      "email": "ada@example.org",
      "createdAt": "2023-11-14T22:13:20.000Z",
      "disabledAt": null,
      "deletedAt": null
    }
  ]
}
`,
  );
  t.same(JSON.parse(readFileSync(join(path, 'keys.json'), 'utf8')).keys[0].hash, KEY.hash);
  t.same(JSON.parse(readFileSync(join(path, 'settings.json'), 'utf8')), { format: 1, queuePausedAt: null });
  for (const name of ['accounts.json', 'keys.json', 'settings.json'])
    t.equal(statSync(join(path, name)).mode & 0o777, 0o600, name);
});

t.test('manual changes take effect at the next start', async (t) => {
  const path = await usedFolder(t);
  edit(path, 'accounts.json', (text) => text.replace('"disabledAt": null', '"disabledAt": "2026-11-22"'));
  edit(path, 'keys.json', (text) => `\ufeff${text.replace('"name": "n"', '"name": "übung \u2028"')}`);
  edit(path, 'settings.json', (text) => text.replace('null', '"2026-11-22T18:30+01:00"'));
  const folder = await opened(t, path);
  const disabledAtMs = Date.parse('2026-11-22T00:00:00Z');
  t.same(await folder.accountStore.getAccount('acct_1'), { ...ADA, disabledAtMs });
  t.same(await folder.keyStore.findKeyByHash(KEY.hash), { ...KEY, name: 'übung \u2028' });
  t.same(await folder.settings.getSettings(), { queuePausedAtMs: Date.parse('2026-11-22T17:30:00Z') });
});

t.test('a file of an earlier version has keys for everything, and is written as before', async (t) => {
  const path = await usedFolder(t);
  const before = readFileSync(join(path, 'keys.json'), 'utf8');
  t.notMatch(before, /scopes|expires/);
  const folder = await opened(t, path);
  t.same(await folder.keyStore.getKey('key_1'), KEY);
  const limited = { scopes: ['check'], expiresAtMs: Date.parse('2027-02-01T00:00:00Z') } as const;
  await folder.keyStore.changeKey('key_1', (key) => ({ ...key, ...limited }));
  await folder.stop();
  const [written] = JSON.parse(readFileSync(join(path, 'keys.json'), 'utf8')).keys;
  t.match(written, { scopes: ['check'], expiresAt: '2027-02-01T00:00:00.000Z' });
  await folder.start();
  t.same(await folder.keyStore.getKey('key_1'), { ...KEY, ...limited });
  await folder.keyStore.changeKey('key_1', () => KEY);
  await folder.stop();
  t.equal(readFileSync(join(path, 'keys.json'), 'utf8'), before);
});

const SECOND = `{ "accountId": "acct_2", "email": "eve@example.org", "createdAt": "2026-11-22" }`;
const add = (entry: string) => (text: string) => text.replace('    }\n  ]', `    }, ${entry}\n  ]`);

const flaws: [file: string, change: (text: string) => string, message: RegExp][] = [
  ['accounts.json', (text) => text.replace('org",', 'org"'), /not valid JSON from line 7, column 7 on/],
  ['accounts.json', (text) => text.slice(0, -3), /not valid JSON from line 11, column 4 on/],
  ['accounts.json', () => '[]', /must be an object/],
  [
    'accounts.json',
    (text) => text.replace('"format": 1', '"format": 2'),
    /later version of Scenepress wrote: use that version/,
  ],
  ['accounts.json', (text) => text.replace('"format": 1,', ''), /"format" must be 1/],
  ['accounts.json', (text) => text.replace('"accounts"', '"acounts"'), /"accounts" must be a list/],
  ['accounts.json', (text) => text.replace('1,', '1, "note": 1,'), /"note" is not a known field/],
  [
    'accounts.json',
    (text) => text.replace('"disabledAt": null', '"disabledAt": "tomorrow"'),
    /entry 1 \(acct_1\): "disabledAt" must be null, or a time such as "2026-/,
  ],
  [
    'accounts.json',
    (text) => text.replace('disabledAt', 'disabeldAt'),
    /entry 1 .* "disabeldAt" is not a known field/,
  ],
  ['accounts.json', (text) => text.replace('ada@', 'ada'), /entry 1 .* "email" must be an e-mail address/],
  [
    'accounts.json',
    (text) => text.replace(/ +"createdAt".*\n/, ''),
    /"createdAt" is missing: it must be a time/,
  ],
  ['accounts.json', add('null'), /entry 2: it must be an object/],
  [
    'accounts.json',
    add(SECOND.replace('eve', 'ADA')),
    /entry 2 \(acct_2\): "email" is already used by entry 1/,
  ],
  [
    'accounts.json',
    add(SECOND.replace('acct_2', 'acct_1')),
    /entry 2 .*"accountId" is already used by entry 1/,
  ],
  ['keys.json', (text) => text.replace('"webhookUrl": null', '"webhookUrl": "http://a.test/"'), /https:/],
  [
    'keys.json',
    (text) => text.replace('"revokedAt": null', '"revokedAt": null, "scopes": ["render", "write"]'),
    /entry 1 \(key_1\): "scopes" must be null, or a list of at least one of "render", "check", "read", each once/,
  ],
  [
    'keys.json',
    (text) => text.replace('"revokedAt": null', '"revokedAt": null, "scopes": []'),
    /"scopes" must/,
  ],
  [
    'keys.json',
    (text) => text.replace('"revokedAt": null', '"revokedAt": null, "expiresAt": "never"'),
    /"expiresAt" must be null, or a time such as/,
  ],
  ['keys.json', (text) => text.replace('abab', 'xyzw'), /entry 1 \(key_1\): "hash" must be 64 hexadecimal/],
  ['settings.json', (text) => text.replace('null', '5'), /"queuePausedAt" must be null, or a time/],
];

for (const [file, change, message] of flaws) {
  t.test(`an error in ${file} stops the start and is located: ${message.source}`, async (t) => {
    const path = await usedFolder(t);
    edit(path, file, change);
    const before = readFileSync(join(path, file));
    const error = await opened(t, path).catch((error: Error) => error);
    t.match(error, { code: 'storage_damaged', message });
    t.match((error as Error).message, `${join(path, file)} can't be used: `);
    t.match(
      (error as Error).message,
      /Nothing was changed. Correct it with an editor or take it from a backup/,
    );
    t.ok(readFileSync(join(path, file)).equals(before));
    t.notMatch((error as Error).message, 'ada@example.org');
  });
}

t.test('invalid UTF-8 stops the start', async (t) => {
  const path = await usedFolder(t);
  const file = join(path, 'keys.json');
  const bytes = readFileSync(file);
  bytes[bytes.indexOf('"n"') + 1] = 0xff;
  writeFileSync(file, bytes);
  await t.rejects(opened(t, path), { code: 'storage_damaged', message: /not valid UTF-8/ });
});

t.test('a missing document stops the start if the others exist', async (t) => {
  for (const name of ['accounts.json', 'keys.json']) {
    const path = await usedFolder(t);
    const kept = readFileSync(join(path, name));
    rmSync(join(path, name));
    const refused = { code: 'storage_damaged', message: /is missing.*Put the file back.*scenepress recover/ };
    await t.rejects(opened(t, path), refused, name);
    t.notOk(existsSync(join(path, name)));
    writeFileSync(join(path, name), kept);
    await t.resolves(opened(t, path));
  }
});

t.test('documents without a database stop the start', async (t) => {
  const path = await usedFolder(t);
  for (const name of readdirSync(path)) if (/^database/.test(name)) rmSync(join(path, name));
  await t.rejects(opened(t, path), { code: 'storage_damaged', message: /accounts\.json is there/ });
});

t.test('manual changes during a run are not overwritten', async (t) => {
  const path = await usedFolder(t);
  const folder = await opened(t, path);
  const disable = () => folder.accountStore.changeAccount('acct_1', (ada) => ({ ...ada, disabledAtMs: 5 }));
  edit(path, 'accounts.json', (text) => text.replace('ada@', 'eve@'));
  const byHand = readFileSync(join(path, 'accounts.json'), 'utf8');
  for (let times = 0; times < 2; times += 1) {
    await t.rejects(disable(), {
      code: 'conflict',
      message: /^Nothing was changed: .*accounts\.json was changed by another program.*Restart/,
    });
    t.equal(readFileSync(join(path, 'accounts.json'), 'utf8'), byHand);
    t.same(await folder.accountStore.getAccount('acct_1'), ADA, 'memory is not changed either');
    t.notOk(existsSync(join(path, 'accounts.json.new')));
  }
  await folder.keyStore.changeKey('key_1', (key) => ({ ...key, name: 'other' }));
  await folder.stop();
  await folder.start();
  t.match(await disable(), { email: 'eve@example.org', disabledAtMs: 5 });
  rmSync(join(path, 'accounts.json'));
  await t.rejects(disable().then(disable), { code: 'conflict' }, 'a file that was removed');
});

t.test('a document is written normally after its mode was changed', async (t) => {
  const path = await usedFolder(t);
  const folder = await opened(t, path);
  const file = join(path, 'accounts.json');
  chmodSync(file, 0o644);
  readFileSync(file);
  await folder.accountStore.changeAccount('acct_1', (ada) => ({ ...ada, disabledAtMs: 5 }));
  t.equal(statSync(file).mode & 0o777, 0o600);
});

t.test('concurrent changes share a write', async (t) => {
  let writes = 0;
  const disk = alteredDisk((file) => ({
    sync() {
      writes += 1;
      return file.sync();
    },
  }));
  const folder = await opened(t, join(testFolder(t), 'data'), { disk });
  writes = 0;
  const insert = (number: number) =>
    folder.accountStore.insertAccount({
      ...ADA,
      accountId: `acct_${number}`,
      email: `${number}@example.org`,
    });
  await Promise.all(Array.from({ length: 100 }, (_, number) => insert(number)));
  t.equal(writes, 1);
  await folder.stop();
  await folder.start();
  t.equal((await folder.accountStore.listAccounts({ limit: 1000 })).length, 100);
});

t.test('a start removes partial files of a killed write, and a stop waits for writes', async (t) => {
  const path = await usedFolder(t);
  writeFileSync(join(path, 'keys.json.new'), 'half');
  const folder = await opened(t, path);
  t.notOk(existsSync(join(path, 'keys.json.new')));
  const changing = folder.keyStore.changeKey('key_1', (key) => ({ ...key, name: 'other' }));
  await folder.stop();
  t.match(await changing, { name: 'other' });
  await t.rejects(
    folder.keyStore.changeKey('key_1', (key) => key),
    { code: 'not_running' },
  );
  await folder.start();
  t.match(await folder.keyStore.getKey('key_1'), { name: 'other' });
});
