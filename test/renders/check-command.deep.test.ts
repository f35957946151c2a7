import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { scenepress } from '../appliance/command.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';

const SCENES = `from manim import *
from colours import ACCENT


class Good(Scene):
    def construct(self):
        self.play(Create(Square(color=ACCENT)), run_time=0.2)


class Broken(Scene):
    def construct(self):
        if True:\tself.play(ShowCreation(Square()))
`;

async function folderWithScenes(t: Test): Promise<string> {
  const folder = await temporaryFolder(t);
  await chmod(folder, 0o755); // As root, scenes run as another user.
  await writeFile(join(folder, 'scenes.py'), SCENES);
  await writeFile(join(folder, 'colours.py'), 'ACCENT = "#58c4dd"\n');
  return folder;
}

t.test('findings are printed as compilers do, with the line, a mark and the advice', async (t) => {
  const cwd = await folderWithScenes(t);
  const { code, stdout, stderr } = await scenepress(['check', 'scenes.py'], { cwd });
  t.equal(code, 1, stderr);
  t.equal(
    stdout,
    [
      "scenes.py:12:28: error: NameError: name 'ShowCreation' is not defined [scene:name]",
      '            if True:\tself.play(ShowCreation(Square()))',
      '                    \t          ^^^^^^^^^^^^',
      '  Hint: Manim has no `ShowCreation`: use `Create`.',
      'Good: 1 play, 0.2 s',
      '',
    ].join('\n'),
  );
});

t.test('for programs, all is printed as JSON', async (t) => {
  const cwd = await folderWithScenes(t);
  const broken = await scenepress(['check', 'scenes.py', 'Broken', '--json'], { cwd });
  t.equal(broken.code, 1);
  t.match(JSON.parse(broken.stdout), {
    ...{ ok: false, scenes: [] },
    findings: [
      { kind: 'scene:name', severity: 'error', line: 12, column: 28, candidates: ['Create'], play: null },
    ],
  });
  const good = await scenepress(['check', 'scenes.py', 'Good', '-q', 'low', '--json'], { cwd });
  t.equal(good.code, 0);
  t.match(JSON.parse(good.stdout), { ok: true, findings: [], scenes: [{ className: 'Good', frames: 3 }] });
});

t.test('what could not be checked is told by the exit code', async (t) => {
  const cwd = await folderWithScenes(t);
  const missing = await scenepress(['check', 'none.py'], { cwd });
  t.match(missing, { code: 2, stdout: '', stderr: /can't be read/ });
  const wrong = await scenepress(['check', 'scenes.py', '-q', 'best'], { cwd });
  t.match(wrong, { code: 2, stderr: /Allowed choices/ });
  const none = await scenepress(['check', 'scenes.py', '--python', '/nonexistent'], { cwd });
  t.match(none, { code: 2, stdout: '' });
  const alone = await scenepress(['check', 'scenes.py', 'Good', '--no-folder'], { cwd });
  t.match(alone, { code: 1, stdout: /No module named 'colours'.*\[scene:import\]/ });
});

t.test('a renderer that is kept warm checks and renders', async (t) => {
  const cwd = await folderWithScenes(t);
  const env = { XDG_RUNTIME_DIR: await temporaryFolder(t), TMPDIR: await temporaryFolder(t) };
  const warm = ['scenes.py', 'Good', '-q', 'low', '--keep-warm', '1'];
  t.match(await scenepress(['check', ...warm], { cwd, env }), { code: 0, stdout: 'Good: 1 play, 0.2 s\n' });
  t.match(await scenepress(['render', ...warm], { cwd, env }), { code: 0, stdout: /Good\.mp4/ });
  t.match(await scenepress(['check', ...warm, '--json'], { cwd, env }), { code: 0, stdout: /"ok": true/ });
});

t.test('without a run, the code is only read', async (t) => {
  const cwd = await folderWithScenes(t);
  await writeFile(
    join(cwd, 'endless.py'),
    `${SCENES.split('class ')[0]}while True:
    pass


class Late(Scene):
    pass
`,
  );
  const both = SCENES.replace('Create(', 'Creat(');
  await writeFile(join(cwd, 'both.py'), both);
  const { code, stdout } = await scenepress(['check', 'both.py', '--no-run'], { cwd });
  t.equal(code, 1);
  t.same(stdout.match(/^both.*/gm), [
    "both.py:7:19: error: NameError: name 'Creat' is not defined [scene:name]",
    "both.py:12:28: error: NameError: name 'ShowCreation' is not defined [scene:name]",
  ]);
  const one = await scenepress(['check', 'both.py', 'Broken', '--no-run', '--json'], { cwd });
  t.match(JSON.parse(one.stdout), { ok: false, findings: [{ line: 12 }], scenes: [] });
  t.match(await scenepress(['check', 'endless.py', '--no-run'], { cwd }), { code: 0, stdout: '' });
  const off = { cwd, env: { SCENEPRESS_CHECK: 'off' } };
  t.match(await scenepress(['check', 'both.py', '--no-run'], off), { code: 2, stderr: /switched off/ });
});
