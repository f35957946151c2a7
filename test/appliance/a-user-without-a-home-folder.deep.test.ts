import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { scenepress, serve } from './command.ts';

/** As a user whom /etc/passwd lacks, without `HOME`, as in many containers. */
const users = join(await temporaryFolder(t), 'passwd');
await writeFile(users, 'root:x:0:0:root:/root:/bin/bash\n');
const launcher = [
  ...`bwrap --dev-bind / / --unshare-user --uid 12345 --gid 12345 --ro-bind ${users} /etc/passwd`.split(' '),
  ...'--unsetenv HOME --unsetenv XDG_CACHE_HOME --die-with-parent --'.split(' '),
];

t.test('a user without a home folder can render', async (t) => {
  const cwd = await temporaryFolder(t);
  const code =
    'from manim import *\nclass Main(Scene):\n    def construct(self):\n        self.add(Tex("x"))\n';
  await writeFile(join(cwd, 'scene.py'), code);
  const ended = await scenepress(['render', 'scene.py', '-s', '--insecure-no-sandbox'], { cwd, launcher });
  t.equal(ended.code, 0, ended.stderr);
  t.equal((await readFile(join(cwd, 'Main.png'))).toString('latin1', 1, 4), 'PNG');
});

t.test('a user without a home folder can start a service', async (t) => {
  const cwd = await temporaryFolder(t);
  const service = await serve(t, ['--data-dir', join(cwd, 'data')], { cwd, launcher });
  t.equal((await fetch(`http://127.0.0.1:${service.port}/health/live`)).status, 200);
});

t.test('where a home folder is needed, a message says what to name instead', async (t) => {
  const cwd = await temporaryFolder(t);
  const module = JSON.stringify(join(import.meta.dirname, '../../lib/internal.ts'));
  const program = [process.execPath, '--input-type=module', '-e'];
  const ended = await scenepress([`import { rendererFolder } from ${module}; rendererFolder();`], {
    cwd,
    launcher,
    program,
  });
  t.match(
    ended.stderr,
    /no home folder\. Name a folder for it \(SCENEPRESS_RENDERER_DIR\), or one for caches/,
  );
});
