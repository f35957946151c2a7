import { cpSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import { FolderInstallation } from '../../../lib/data-folder/folder-installation.ts';
import { realDisk } from '../../../lib/files/disk.ts';

const placeOf = (folder: string) => new FolderInstallation(folder, realDisk).here();

t.test('the place of a folder is the same just after its creation and later', async (t) => {
  for (let round = 0; round < 10; round++) {
    const folder = join(t.testdir(), 'data');
    mkdirSync(folder);
    const place = await placeOf(folder);
    await delay(15);
    writeFileSync(join(folder, 'file'), '');
    t.equal(await placeOf(folder), place);
  }
});

t.test('the place follows a new name, and a copy has another', async (t) => {
  const parent = t.testdir({ data: { file: '' } });
  const [folder, renamed, copy] = ['data', 'renamed', 'copy'].map((name) => join(parent, name)) as [
    string,
    string,
    string,
  ];
  const place = await placeOf(folder);
  renameSync(folder, renamed);
  cpSync(renamed, copy, { recursive: true });
  t.equal(await placeOf(renamed), place);
  t.not(await placeOf(copy), place);
});
