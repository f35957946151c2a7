import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { scenepress } from '../appliance/command.ts';
import { temporaryFolder } from '../appliance/listening-appliance.ts';

const SCENES = `from manim import *


class Plain(Scene):
    def construct(self):
        self.play(Create(Square()), run_time=0.2)


class Captioned(Scene):
    def construct(self):
        self.play(Create(Square()), run_time=0.2, subcaption="A square")


class Failing(Scene):
    def construct(self):
        self.play(undefined_name)
`;

async function folderWithScenes(t: Test): Promise<string> {
  const folder = await temporaryFolder(t);
  await writeFile(join(folder, 'scenes.py'), SCENES);
  return folder;
}

t.test('a scene becomes a video of its name, and nothing else is left', async (t) => {
  const cwd = await folderWithScenes(t);
  const TMPDIR = await temporaryFolder(t);
  const args = ['render', 'scenes.py', 'Plain', '-q', 'low'];
  const { code, stdout, stderr } = await scenepress(args, { cwd, env: { TMPDIR } });
  t.equal(code, 0, stderr);
  t.equal(stdout, `${join(cwd, 'Plain.mp4')}\n`);
  t.match(stderr, /Rendering/);
  t.equal((await readFile(join(cwd, 'Plain.mp4'))).toString('latin1', 4, 8), 'ftyp');
  t.strictSame((await readdir(cwd)).sort(), ['Plain.mp4', 'scenes.py']);
  t.strictSame(await readdir(TMPDIR), []);
});

t.test('captions are written beside the video', async (t) => {
  const cwd = await folderWithScenes(t);
  const args = [
    'render',
    'scenes.py',
    'Captioned',
    '-q',
    'low',
    '--aspect',
    '9:16',
    '--fps',
    '5',
    '-o',
    'a.b.mp4',
  ];
  const { code, stdout, stderr } = await scenepress([...args, '--json'], { cwd });
  t.equal(code, 0, stderr);
  t.match(JSON.parse(stdout), {
    status: 'completed',
    video: join(cwd, 'a.b.mp4'),
    captions: join(cwd, 'a.b.vtt'),
    durationMs: Number,
    error: null,
  });
  t.match(await readFile(join(cwd, 'a.b.vtt'), 'utf8'), /^WEBVTT\n.*A square/s);
});

t.test('a scene that fails is exit code 1 with its error, and no file', async (t) => {
  const cwd = await folderWithScenes(t);
  const { code, stdout, stderr } = await scenepress(['render', 'scenes.py', 'Failing', '-q', 'low'], { cwd });
  t.equal(code, 1);
  t.equal(stdout, '');
  t.match(stderr, /NameError: name 'undefined_name' is not defined/);
  t.match(stderr, /line 16/);
  t.strictSame(await readdir(cwd), ['scenes.py']);
});

t.test('a video that cannot be written is said in one line', async (t) => {
  const cwd = await folderWithScenes(t);
  const args = ['render', 'scenes.py', 'Plain', '-q', 'low', '-o', 'nowhere/video.mp4'];
  const { code, stderr } = await scenepress(args, { cwd });
  t.equal(code, 1);
  t.match(stderr, /can't be written/);
  t.notMatch(stderr, /\n {4}at /);
});
