import { chmod, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { scenepress } from '../appliance/command.ts';
import { jpegSize } from '../fixtures/jpeg.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';

const SCENES = `from manim import *
from colours import ACCENT


class Faulty(Scene):
    def construct(self):
        title = Text("On the left", color=ACCENT).shift(7 * LEFT)
        self.play(FadeIn(title), run_time=0.4)
        self.play(Create(Circle()), run_time=0.4)


class Broken(Scene):
    def construct(self):
        self.play(ShowCreation(Square()))
`;

async function folderWithScenes(t: Test): Promise<string> {
  const folder = await temporaryFolder(t);
  await chmod(folder, 0o755); // As root, scenes run as another user.
  await writeFile(join(folder, 'scenes.py'), SCENES);
  await writeFile(join(folder, 'colours.py'), 'ACCENT = "#58c4dd"\n');
  return folder;
}

t.test('a contact sheet is written, and what cannot be seen is printed', async (t) => {
  const cwd = await folderWithScenes(t);
  const { code, stdout, stderr } = await scenepress(['inspect', 'scenes.py', 'Faulty'], { cwd });
  t.equal(code, 0, stderr);
  t.match(stdout, /^scenes\.py:7: warning: `title` leaves the frame at the left\. \[layout:off-frame\]\n/);
  t.match(stdout, / {2}Hint: Move `title` right by [\d.]+/);
  t.match(stdout, /\nFaulty: 2 plays, 0\.8 s\nContact sheet: Faulty-sheet\.jpg\n$/);
  t.same(
    jpegSize(await readFile(join(cwd, 'Faulty-sheet.jpg'))),
    [480, 544],
    'two pictures, one below the other',
  );
});

t.test('for programs, all is printed as JSON, with the paths of the pictures', async (t) => {
  const cwd = await folderWithScenes(t);
  const args = ['inspect', 'scenes.py', '-q', 'low', '--json', '-o', 'out/', '--pictures', 'out/pictures'];
  const { code, stdout } = await scenepress(args, { cwd });
  t.equal(code, 1, 'one scene has an error');
  const { ok, findings, scenes } = JSON.parse(stdout);
  t.equal(ok, false);
  t.match(findings, [
    { kind: 'layout:off-frame', severity: 'warning', layout: { mobject: 'title' } },
    { kind: 'scene:name', severity: 'error', fix: { text: 'Create' } },
  ]);
  t.match(scenes, [
    {
      ...{ className: 'Faulty', sheet: 'out/Faulty-sheet.jpg', plays: [{}, {}] },
      pictures: [{ number: 1, play: 0, line: 8, path: 'out/pictures/Faulty-1.jpg' }],
    },
  ]);
  for (const { path } of scenes[0].pictures) t.same(jpegSize(await readFile(join(cwd, path))), [480, 270]);
});

t.test('a manim.cfg and the size that a scene sets itself are followed', async (t) => {
  const cwd = await folderWithScenes(t);
  await writeFile(join(cwd, 'manim.cfg'), '[CLI]\nbackground_color = WHITE\n');
  const tall = `from manim import *
config.pixel_width, config.pixel_height = 1080, 1920
config.frame_width, config.frame_height = 4.5, 8


class Tall(Scene):
    def construct(self):
        self.play(FadeIn(Text("pale", color="#f8f8f8")), run_time=0.4)
        self.wait()
`;
  await writeFile(join(cwd, 'tall.py'), tall);
  const args = ['inspect', 'tall.py', '-q', 'low', '--json', '--pictures', 'out'];
  const { code, stdout, stderr } = await scenepress(args, { cwd });
  t.equal(code, 0, stderr);
  const { findings, scenes } = JSON.parse(stdout);
  t.match(findings, [{ kind: 'layout:contrast', line: 8 }], 'it is white on white');
  const [first] = scenes[0].pictures;
  t.same(jpegSize(await readFile(join(cwd, first.path))), [270, 480]);
  const checked = await scenepress(['check', 'tall.py', '--json'], { cwd });
  t.match(JSON.parse(checked.stdout), { ok: true, scenes: [{ className: 'Tall', seconds: 1.4 }] });
});

t.test('a kept renderer inspects, too', async (t) => {
  const cwd = await folderWithScenes(t);
  const env = { ...process.env, XDG_RUNTIME_DIR: await temporaryFolder(t) };
  await chmod(env.XDG_RUNTIME_DIR, 0o700);
  const args = ['inspect', 'scenes.py', 'Faulty', '--keep-warm', '1', '--json'];
  for (const _ of [1, 2]) {
    const { code, stdout, stderr } = await scenepress(args, { cwd, env });
    t.equal(code, 0, stderr);
    t.match(JSON.parse(stdout), { ok: true, scenes: [{ sheet: 'Faulty-sheet.jpg' }] });
  }
  t.same(jpegSize(await readFile(join(cwd, 'Faulty-sheet.jpg'))), [480, 544]);
});

t.test('what could not be inspected ends with 2', async (t) => {
  const cwd = await folderWithScenes(t);
  for (const [args, message] of [
    [['none.py'], 'none.py'],
    [['scenes.py', 'Faulty', '--fps', '0'], 'fps'],
    [['scenes.py', 'Faulty', '-o', 'scenes.py/sheet.jpg'], "can't be written"],
  ] as const) {
    const { code, stderr } = await scenepress(['inspect', ...args], { cwd });
    t.match([code, stderr], [2, message]);
  }
});
