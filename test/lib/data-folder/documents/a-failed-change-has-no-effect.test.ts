import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { type Disk, realDisk } from '../../../../lib/files/disk.ts';
import { alteredDisk } from '../../../fixtures/altered-disk.ts';
import { ADA, KEY, openedFolder as opened, usedFolder } from './used-folder.ts';

/** The real disk, of which one call can be made to fail. */
function failingDisk(): Disk & {
  fails: 'write' | 'sync' | 'rename' | 'syncFolder' | undefined;
  code: string;
} {
  const fail = (call: string) => {
    if (disk.fails === call) throw Object.assign(new Error(`${disk.code}: ${call}`), { code: disk.code });
  };
  const altered = alteredDisk((file) => ({
    async write(bytes, position) {
      fail('write');
      await file.write(bytes, position);
    },
    async sync() {
      fail('sync');
      await file.sync();
    },
  }));
  const disk: ReturnType<typeof failingDisk> = {
    ...altered,
    fails: undefined,
    code: 'EIO',
    async rename(from, to) {
      fail('rename');
      await realDisk.rename(from, to);
    },
    async syncFolder(path) {
      fail('syncFolder');
      await realDisk.syncFolder(path);
    },
  };
  return disk;
}

for (const [call, errno, code] of [
  ['write', 'EIO', 'storage_failed'],
  ['write', 'ENOSPC', 'storage_full'],
  ['sync', 'EDQUOT', 'storage_full'],
  ['rename', 'EIO', 'storage_failed'],
] as const) {
  t.test(`a change whose ${call} fails with ${errno} has no effect`, async (t) => {
    const path = await usedFolder(t);
    const disk = failingDisk();
    const folder = await opened(t, path, { disk });
    const before = readFileSync(join(path, 'accounts.json'), 'utf8');
    const disable = () => folder.accountStore.changeAccount('acct_1', (ada) => ({ ...ada, disabledAtMs: 5 }));
    Object.assign(disk, { fails: call, code: errno });
    const both = await Promise.allSettled([
      disable(),
      folder.accountStore.insertAccount({ ...ADA, accountId: 'acct_2', email: 'eve@example.org' }),
    ]);
    for (const outcome of both)
      t.match(outcome, { reason: { code, message: /^Nothing was changed: writing/ } });
    t.same(await folder.accountStore.listAccounts(), [ADA]);
    t.equal(await folder.accountStore.findAccountByEmail('eve@example.org'), undefined);
    t.equal(readFileSync(join(path, 'accounts.json'), 'utf8'), before);
    t.notOk(existsSync(join(path, 'accounts.json.new')));
    disk.fails = undefined;
    t.match(await disable(), { disabledAtMs: 5 });
  });
}

t.test('after a change with unknown on-disk state, changes are rejected until a restart', async (t) => {
  const path = await usedFolder(t);
  const disk = failingDisk();
  const folder = await opened(t, path, { disk });
  const rename = (name: string) => folder.keyStore.changeKey('key_1', (key) => ({ ...key, name }));
  disk.fails = 'syncFolder';
  await t.rejects(rename('one'), { code: 'storage_failed', message: /is unknown.*Restart Scenepress/ });
  disk.fails = undefined;
  await t.rejects(rename('two'), { code: 'storage_failed', message: /is unknown.*Restart Scenepress/ });
  t.same(await folder.keyStore.getKey('key_1'), KEY);
  await folder.stop();
  await folder.start();
  t.match(await rename('three'), { name: 'three' });
});
