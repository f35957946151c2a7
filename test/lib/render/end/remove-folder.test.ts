import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { removeFolder } from '../../../../lib/render/end/remove-folder.ts';
import { testFolder } from '../../../fixtures/test-folder.ts';

t.test('a folder without read permission is removed', async (t) => {
  const folder = join(testFolder(t), 'job');
  mkdirSync(join(folder, 'closed', 'deeper'), { recursive: true });
  writeFileSync(join(folder, 'closed', 'deeper', 'file'), '');
  chmodSync(join(folder, 'closed', 'deeper'), 0);
  chmodSync(join(folder, 'closed'), 0o300);
  chmodSync(folder, 0o500);
  await removeFolder(folder);
  t.notOk(existsSync(folder));
});

t.test('folders deeper than PATH_MAX are removed', async (t) => {
  const folder = join(testFolder(t), 'job');
  mkdirSync(folder);
  const code =
    "import os\nfor _ in range(60): os.mkdir('d' * 200); os.chdir('d' * 200)\nopen('f', 'w')\nos.chmod('.', 0)";
  t.equal(spawnSync('python3', ['-c', code], { cwd: folder }).status, 0);
  await removeFolder(folder);
  t.notOk(existsSync(folder));
});

t.test('names that are not UTF-8 are removed, also in closed folders and below PATH_MAX', async (t) => {
  const folder = join(testFolder(t), 'job');
  mkdirSync(folder);
  const code = [
    'import os',
    "os.mkdir(b'\\xff\\xfd'); open(b'\\xff\\xfd/\\xe9', 'w'); os.chmod(b'\\xff\\xfd', 0)",
    "for _ in range(30): os.mkdir('d' * 200); os.chdir('d' * 200)",
    "os.mkdir(b'\\xff'); open(b'\\xff/\\xe9', 'w'); os.mkdir(b'\\xff/\\xe8'); os.chmod(b'\\xff', 0)",
  ];
  t.equal(spawnSync('python3', ['-c', code.join('\n')], { cwd: folder }).status, 0);
  await removeFolder(folder);
  t.notOk(existsSync(folder));
});

t.test('links are removed, not followed', async (t) => {
  const root = testFolder(t, { job: { closed: {} }, other: { kept: '' } });
  symlinkSync(join(root, 'other'), join(root, 'job', 'closed', 'link'));
  chmodSync(join(root, 'job', 'closed'), 0o500);
  await removeFolder(join(root, 'job'));
  t.ok(existsSync(join(root, 'other', 'kept')));
  t.notOk(existsSync(join(root, 'job')));
});

t.test('a link instead of the folder is not followed', async (t) => {
  const root = testFolder(t, { other: { kept: '' } });
  symlinkSync(join(root, 'other'), join(root, 'job'));
  await t.rejects(removeFolder(join(root, 'job')), { code: 'ENOTDIR' });
  t.ok(existsSync(join(root, 'other', 'kept')));
});

t.test('a missing folder is not an error', async () => removeFolder('/nonexistent/folder'));
