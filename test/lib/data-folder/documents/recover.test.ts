import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { Accounts, ApiKeys, DataFolder } from '../../../../lib/index.ts';
import { recover } from '../../../../lib/operations.ts';
import { testFolder } from '../../../fixtures/test-folder.ts';

/** A closed folder with three accounts and a key for each. */
async function usedFolder(t: Test): Promise<{ path: string; ids: string[]; keyIds: string[] }> {
  const path = join(testFolder(t), 'data');
  const folder = new DataFolder(path);
  await folder.start();
  const accounts = new Accounts({ store: folder.accountStore });
  const keys = new ApiKeys({ store: folder.keyStore, masterKeys: await folder.masterKeys() });
  const ids: string[] = [];
  const keyIds: string[] = [];
  for (const name of ['ada', 'bob', 'eve']) {
    const { accountId } = await accounts.create(`${name}@example.org`);
    ids.push(accountId);
    keyIds.push((await keys.mint({ accountId, name })).record.keyId);
  }
  await folder.settings.changeSettings((settings) => ({ ...settings, queuePausedAtMs: 5 }));
  await folder.stop();
  return { path, ids, keyIds };
}

async function idsIn(
  path: string,
): Promise<{ accounts: string[]; keys: string[]; pausedAtMs: number | null }> {
  const folder = new DataFolder(path);
  await folder.start();
  try {
    return {
      accounts: (await folder.accountStore.listAccounts()).map(({ accountId }) => accountId),
      keys: (await folder.keyStore.listKeys()).map(({ keyId }) => keyId),
      pausedAtMs: (await folder.settings.getSettings()).queuePausedAtMs,
    };
  } finally {
    await folder.stop();
  }
}

function edit(path: string, name: string, change: (text: string) => string): void {
  writeFileSync(join(path, name), change(readFileSync(join(path, name), 'utf8')));
}

t.test('recovery keeps what limits a key, and drops a key with unreadable limits', async (t) => {
  const { path, keyIds } = await usedFolder(t);
  const [kept = '', dropped = '', harmed = ''] = keyIds;
  const limit = (keyId: string, limits: string) =>
    edit(path, 'keys.json', (text) => text.replace(`"${keyId}",`, `"${keyId}", ${limits},`));
  limit(kept, '"scopes": ["read"], "expiresAt": "9000-01-31"');
  limit(dropped, '"scopes": ["all"]');
  limit(harmed, '"expiresAt": "later"');
  const { faults, lost } = await recover(path, { apply: true });
  t.match(faults, [/^keys\.json: entry 2 .*"scopes" must be null, or a list/]);
  t.same(lost.map(({ key }) => key).toSorted(), [dropped, harmed].toSorted());
  const folder = new DataFolder(path);
  await folder.start();
  t.teardown(() => folder.stop());
  const limits = { scopes: ['read'], expiresAtMs: Date.parse('9000-01-31') };
  t.match(await folder.keyStore.listKeys(), [{ keyId: kept, ...limits }]);
});

t.test('recovery finds no damage in valid documents', async (t) => {
  const { path } = await usedFolder(t);
  t.match(await recover(path), { faults: [], lost: [] });
});

for (const [what, change] of [
  ['an invalid entry', (text: string) => text.replace('bob@example.org', 'bob')],
  ['a partly overwritten entry', (text: string) => text.replace('"bob@example.org"', '\0\0\0')],
  ['an entry with the address of another', (text: string) => text.replace('bob@', 'ADA@')],
] as const) {
  t.test(`recovery drops ${what} and keeps the others`, async (t) => {
    const { path, ids, keyIds } = await usedFolder(t);
    edit(path, 'accounts.json', change);
    const harmed = readFileSync(join(path, 'accounts.json'));
    const plan = await recover(path);
    t.match(plan, { faults: [/^accounts\.json: /], lost: [{ table: 'accounts', key: ids[1] }] });
    t.equal(plan.lost.length, 1);
    t.ok(readFileSync(join(path, 'accounts.json')).equals(harmed), 'nothing is changed without apply');

    const { originalsFolder, audit } = await recover(path, { apply: true });
    t.ok(readFileSync(join(originalsFolder as string, 'accounts.json')).equals(harmed));
    t.same(audit?.problems, []);
    t.same(await idsIn(path), { accounts: [ids[0], ids[2]], keys: keyIds, pausedAtMs: 5 });
    t.match(await recover(path), { faults: [], lost: [] });
  });
}

t.test('recovery creates a missing document and resets damaged settings', async (t) => {
  const { path, ids } = await usedFolder(t);
  rmSync(join(path, 'keys.json'));
  writeFileSync(join(path, 'settings.json'), 'nonsense');
  const { faults } = await recover(path, { apply: true });
  t.same(
    faults.map((fault) => fault.split(':')[0]),
    ['keys.json', 'settings.json'],
  );
  t.same(await idsIn(path), { accounts: ids, keys: [], pausedAtMs: null });
});

t.test('a document of a later version is not changed', async (t) => {
  const { path } = await usedFolder(t);
  edit(path, 'keys.json', (text) => text.replace('"format": 1', '"format": 2'));
  await t.rejects(recover(path, { apply: true }), { code: 'storage_damaged', message: /later version/ });
});
