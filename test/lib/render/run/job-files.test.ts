import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { removeFolder } from '../../../../lib/render/end/remove-folder.ts';
import { linkFiles } from '../../../../lib/render/run/job-files.ts';
import { smallDisk } from '../../../fixtures/small-disk.ts';
import { testFolder } from '../../../fixtures/test-folder.ts';

const NAMES = [
  'new\nline',
  `quote'"`,
  '-rf',
  ' ',
  '数学.csv',
  '...',
  '\u001b[31m',
  'é'.repeat(127),
  'n'.repeat(255),
];

t.test('the files are linked, with their names and modes', async (t) => {
  const folder = testFolder(t);
  const from = join(folder, 'from');
  for (const name of NAMES) {
    mkdirSync(join(from, 'nested', name), { recursive: true });
    for (const place of [from, join(from, 'nested', name)]) {
      writeFileSync(join(place, name), name);
      chmodSync(join(place, name), 0o444);
    }
  }
  const to = join(folder, '1.files');
  const umask = process.umask(0o077);
  await linkFiles(from, to).finally(() => process.umask(umask));
  const all = readdirSync(from, { recursive: true, encoding: 'utf8' }).toSorted();
  t.same(readdirSync(to, { recursive: true, encoding: 'utf8' }).toSorted(), all);
  for (const name of all) {
    const [original, link] = [statSync(join(from, name)), statSync(join(to, name))];
    if (original.isFile()) t.equal(link.ino, original.ino);
    t.equal(link.mode & 0o777, original.isFile() ? 0o444 : 0o755);
  }
  t.equal(statSync(to).mode & 0o777, 0o755);
});

t.test('only files and folders are linked', async (t) => {
  const folder = testFolder(t, { secret: 'secret', from: { file: 'text' } });
  const from = join(folder, 'from');
  symlinkSync('../secret', join(from, 'out'));
  symlinkSync('..', join(from, 'up'));
  t.equal(spawnSync('mkfifo', [join(from, 'pipe')]).status, 0);
  await linkFiles(from, join(folder, '1.files'));
  t.same(readdirSync(join(folder, '1.files')), ['file']);
});

t.test('files on another file system are copied', async (t) => {
  const folder = testFolder(t);
  const from = mkdtempSync('/dev/shm/scenepress-files-');
  t.teardown(() => rmSync(from, { recursive: true }));
  writeFileSync(join(from, 'file'), 'text', { mode: 0o444 });
  const to = join(folder, '1.files');
  await linkFiles(from, to);
  t.equal(readFileSync(join(to, 'file'), 'utf8'), 'text');
  t.equal(lstatSync(join(to, 'file')).mode & 0o777, 0o444);
});

t.test('what an ended worker has left is replaced, and what it was linked to is kept', async (t) => {
  const folder = testFolder(t, { earlier: { file: 'of another job', other: 'x' }, from: { file: 'text' } });
  const to = join(folder, '1.files');
  await linkFiles(join(folder, 'earlier'), to);
  await linkFiles(join(folder, 'from'), to);
  t.same(readdirSync(to), ['file']);
  t.equal(readFileSync(join(to, 'file'), 'utf8'), 'text');
  t.equal(readFileSync(join(folder, 'earlier/file'), 'utf8'), 'of another job');
});

t.test('a folder that is gone is an error', async (t) => {
  const folder = testFolder(t);
  await t.rejects(linkFiles(join(folder, 'gone'), join(folder, '1.files')), { code: 'ENOENT' });
});

t.test('a full disk is an error, after which nothing more is linked', async (t) => {
  const disk = smallDisk(t, 1, 8);
  if (disk === undefined) return;
  const from = join(testFolder(t, { from: {} }), 'from');
  for (let number = 0; number < 40; number += 1) writeFileSync(join(from, `${number}`), '');
  const to = join(disk, '1.files');
  await t.rejects(linkFiles(from, to), { code: 'ENOSPC' });
  await removeFolder(to);
  t.same(readdirSync(disk), []);
});
