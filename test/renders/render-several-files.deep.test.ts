import { chmod, mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { scenepress } from '../appliance/command.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';

const scene = (name: string, line: string) => `from manim import *


class ${name}(Scene):
    def construct(self):
        ${line}
`;

/** A folder with scenes: one that reads its own path, one that fails, and one in a folder below. */
async function folderWithScenes(t: Test): Promise<string> {
  const folder = await temporaryFolder(t);
  await chmod(folder, 0o755); // As root, scenes run as another user.
  await mkdir(join(folder, 'more'));
  await writeFile(join(folder, 'intro.py'), scene('Intro', 'print(__file__.split("/")[-1], __name__)'));
  await writeFile(join(folder, 'broken.py'), scene('Broken', 'self.play(undefined_name)'));
  await writeFile(join(folder, 'shared.py'), 'TIME = 0.2\n');
  const playing = 'self.play(Create(Square()), run_time=TIME)';
  await writeFile(join(folder, 'proof.py'), `from shared import TIME\n${scene('Proof', playing)}`);
  await writeFile(join(folder, 'more', 'outro.py'), scene('Outro', 'self.add(Dot())'));
  return folder;
}

t.test('several files are rendered in turn, with a line of JSON for each event', async (t) => {
  const cwd = await folderWithScenes(t);
  const files = ['intro.py', 'missing.py', 'broken.py', 'proof.py', 'more/outro.py', 'more/../intro.py'];
  const args = ['render', ...files, '-q', 'low', '-o', 'videos/', '--json'];
  const { code, stdout, stderr } = await scenepress(args, { cwd });
  t.equal(code, 2, stderr);
  const events = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  const video = (name: string) => join(cwd, 'videos', `${name}.mp4`);
  t.match(
    events.filter(({ event }) => event === 'finished'),
    [
      { file: 'intro.py', scene: 'Intro', status: 'completed', video: video('Intro'), error: null },
      { file: 'missing.py', scene: null, status: 'skipped', video: null, error: /there is no file/ },
      {
        ...{ file: 'broken.py', scene: 'Broken', status: 'failed', video: null, failedBy: 'scene' },
        error: /NameError/,
        diagnosis: { kind: 'scene:name', line: 6, calls: [{ file: 'broken.py', line: 6 }] },
      },
      { file: 'proof.py', scene: 'Proof', status: 'completed', video: video('Proof'), seconds: Number },
      { file: 'more/outro.py', scene: 'Outro', status: 'completed', video: video('Outro') },
      { file: 'more/../intro.py', scene: 'Intro', status: 'skipped', error: /is that of intro.py/ },
    ],
  );
  const started = events.filter(({ event }) => event === 'started').map(({ scene }) => scene);
  t.strictSame(started, ['Intro', 'Broken', 'Proof', 'Outro']);
  const progress = events.filter(({ event }) => event === 'progress');
  t.match(progress.at(0), { file: 'intro.py', scene: 'Intro', stage: String, videoSeconds: Number });
  t.match(stderr, /^intro.py intro$/m, 'a scene is that of its own file');
  t.strictSame((await readdir(join(cwd, 'videos'))).sort(), ['Intro.mp4', 'Outro.mp4', 'Proof.mp4']);
});

t.test('with --all, every scene of each file is rendered', async (t) => {
  const cwd = await folderWithScenes(t);
  await writeFile(join(cwd, 'two.py'), `${scene('One', 'self.wait()')}\n${scene('Two', 'self.wait()')}`);
  const args = ['render', 'two.py', 'intro.py', '-q', 'low', '-s'];
  t.match(await scenepress(args, { cwd }), { code: 2, stderr: /^two.py: two.py defines 2 scenes/m });
  const { code, stdout, stderr } = await scenepress([...args, '--all'], { cwd });
  t.equal(code, 0, stderr);
  const pictures = ['One.png', 'Two.png', 'Intro.png'].map((name) => join(cwd, name));
  t.strictSame(stdout.trim().split('\n').sort(), pictures.sort());
});
