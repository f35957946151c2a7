import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { removeFolder } from '../../../lib/render/remove-folder.ts';

t.test('a folder whose owner may not look into it', async (t) => {
  const folder = join(t.testdir(), 'job');
  mkdirSync(join(folder, 'closed', 'deeper'), { recursive: true });
  writeFileSync(join(folder, 'closed', 'deeper', 'file'), '');
  chmodSync(join(folder, 'closed', 'deeper'), 0);
  chmodSync(join(folder, 'closed'), 0o300);
  chmodSync(folder, 0o500);
  await removeFolder(folder);
  t.notOk(existsSync(folder));
});

t.test('folders deeper than a path is long', async (t) => {
  const folder = join(t.testdir(), 'job');
  mkdirSync(folder);
  const code =
    "import os\nfor _ in range(60): os.mkdir('d' * 200); os.chdir('d' * 200)\nopen('f', 'w')\nos.chmod('.', 0)";
  t.equal(spawnSync('python3', ['-c', code], { cwd: folder }).status, 0);
  await removeFolder(folder);
  t.notOk(existsSync(folder));
});

t.test('links are removed, not followed', async (t) => {
  const root = t.testdir({ job: { closed: {} }, other: { kept: '' } });
  symlinkSync(join(root, 'other'), join(root, 'job', 'closed', 'link'));
  chmodSync(join(root, 'job', 'closed'), 0o500);
  await removeFolder(join(root, 'job'));
  t.ok(existsSync(join(root, 'other', 'kept')));
  t.notOk(existsSync(join(root, 'job')));
});

t.test('what is not there', async () => removeFolder('/nonexistent/folder'));
