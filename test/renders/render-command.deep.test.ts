import { chmod, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { interrupted, reacting, scenepress } from '../appliance/command.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';

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

t.test('a scene becomes a video with its name, and no other files are left', async (t) => {
  const cwd = await folderWithScenes(t);
  const TMPDIR = await temporaryFolder(t);
  const args = ['render', 'scenes.py', 'Plain', '-q', 'low', '--times'];
  const { code, stdout, stderr } = await scenepress(args, { cwd, env: { TMPDIR } });
  t.equal(code, 0, stderr);
  t.equal(stdout, `${join(cwd, 'Plain.mp4')}\n`);
  t.match(stderr, /Rendering/);
  t.match(stderr, /^Plain: start [\d.]+ s, scene [\d.]+ s, .* collect [\d.]+ s$/m);
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

t.test('a failing scene prints its error, exits with code 1 and leaves no file', async (t) => {
  const cwd = await folderWithScenes(t);
  const { code, stdout, stderr } = await scenepress(['render', 'scenes.py', 'Failing', '-q', 'low'], { cwd });
  t.equal(code, 1);
  t.equal(stdout, '');
  t.match(stderr, /NameError: name 'undefined_name' is not defined/);
  t.match(stderr, /line 16/);
  t.strictSame(await readdir(cwd), ['scenes.py']);
});

t.test('a video that cannot be written is reported in one line, before rendering', async (t) => {
  const cwd = await folderWithScenes(t);
  const args = ['render', 'scenes.py', 'Plain', '-q', 'low', '-o', 'scenes.py/video.mp4'];
  const { code, stderr } = await scenepress(args, { cwd });
  t.equal(code, 2);
  t.match(stderr, /Files can't be written to/);
  t.notMatch(stderr, /Loading/);
  t.notMatch(stderr, /\n {4}at /);
});

const ONE_SCENE = `from manim import *

class Base:
    pass

Drawing = Scene

class Only(Base, Drawing):
    def construct(self):
        self.play(Create(Square()), run_time=0.2)
`;

t.test('without a name the scenes are listed, or the only one is rendered, as with manim', async (t) => {
  const cwd = await folderWithScenes(t);
  t.match(await scenepress(['render', 'scenes.py', '--list'], { cwd }), {
    code: 0,
    stdout: 'Captioned\nFailing\nPlain\n',
  });
  const several = await scenepress(['render', 'scenes.py'], { cwd });
  t.equal(several.code, 2);
  t.match(several.stderr, /defines 3 scenes.*\n {2}Captioned\n {2}Failing\n {2}Plain\n/);

  const args = ['render', '-', '-ql', '-o', 'only.mp4', '--thumbnail', 'only.jpg', '--json'];
  const only = await scenepress(args, { cwd, stdin: ONE_SCENE });
  t.equal(only.code, 0, only.stderr);
  t.match(JSON.parse(only.stdout), { scene: 'Only', status: 'completed', thumbnail: join(cwd, 'only.jpg') });
  t.equal((await readFile(join(cwd, 'only.jpg'))).toString('hex', 0, 2), 'ffd8');
  t.strictSame((await readdir(cwd)).sort(), ['only.jpg', 'only.mp4', 'scenes.py']);
});

t.test('--all renders all scenes of a file, also those after a failing one', async (t) => {
  const cwd = await folderWithScenes(t);
  const { code, stdout, stderr } = await scenepress(['render', 'scenes.py', '--all', '-ql'], { cwd });
  t.equal(code, 1);
  // In the order in which they end.
  t.same(
    stdout.trimEnd().split('\n').sort(),
    ['Captioned.mp4', 'Captioned.vtt', 'Plain.mp4'].map((name) => join(cwd, name)),
  );
  t.match(
    stderr,
    /^Failing: NameError: name 'undefined_name' is not defined\nline 16: self\.play\(undefined_name\)$/m,
  );
});

t.test('--all renders several scenes at the same time', async (t) => {
  const cwd = await temporaryFolder(t);
  await mkdir(join(cwd, 'gate'));
  await chmod(cwd, 0o755); // Scenes of root run as another user.
  const scene = (name: string) => `class ${name}(Scene):
    def construct(self):
        print("${name} began")
        self.wait(1)  # Text is reported with the next frames.
        while not os.path.exists("gate/open"): time.sleep(0.05)
        self.wait(0.1)
`;
  await writeFile(join(cwd, 'two.py'), `import os, time\nfrom manim import *\n${scene('A')}${scene('B')}`);
  // A scene that waited for the end of the other one would never begin.
  const both = /A began.*B began|B began.*A began/s;
  const rendered = await reacting(['render', 'two.py', '--all', '-ql'], {
    when: both,
    react: () => void writeFile(join(cwd, 'gate/open'), ''),
    options: { cwd },
  });
  t.equal(rendered.code, 0, rendered.stderr);
  t.match(rendered.stderr, both);
});

t.test('Python decides about the encoding of a file, and about the names of its classes', async (t) => {
  const cwd = await temporaryFolder(t);
  const source = `from manim import *\nclass Größe(Scene):\n    def construct(self):\n        self.add(Text("Größe"))\n`;
  await writeFile(join(cwd, 'utf8.py'), source);
  await writeFile(join(cwd, 'declared.py'), Buffer.from(`# -*- coding: latin-1 -*-\n${source}`, 'latin1'));
  await writeFile(join(cwd, 'undeclared.py'), Buffer.from(source, 'latin1'));
  for (const file of ['utf8.py', 'declared.py']) {
    const args = ['render', file, 'Größe', '-q', 'low', '-s', '-o', `${file}.png`];
    const { code, stderr } = await scenepress(args, { cwd });
    t.equal(code, 0, stderr);
  }
  t.ok((await readFile(join(cwd, 'utf8.py.png'))).equals(await readFile(join(cwd, 'declared.py.png'))));
  const listed = await scenepress(['render', 'declared.py', '--list'], { cwd });
  t.equal(listed.stdout, 'Größe\n', listed.stderr);
  const failed = await scenepress(['render', 'undeclared.py', 'Größe'], { cwd });
  t.match(failed, { code: 1, stderr: /^Größe: SyntaxError: .*can't decode byte 0xf6/m });
  const remote = ['render', 'undeclared.py', 'Größe', '--server', 'http://127.0.0.1:9', '--key', 'k'];
  t.match(await scenepress(remote, { cwd }), { code: 2, stderr: /The file is not UTF-8\. Convert it/ });
});

t.test('a syntax error is located, and --out needs a single scene', async (t) => {
  const cwd = await temporaryFolder(t);
  const broken = await scenepress(['render', '-'], { cwd, stdin: 'from manim import *\nclass A(Scene\n' });
  t.equal(broken.code, 1);
  t.match(broken.stderr, /SyntaxError: '\(' was never closed\nline 2: class A\(Scene\n/);
  const two = await scenepress(['render', '-', 'A', 'B', '-o', 'x.mp4'], { cwd });
  t.equal(two.code, 2);
  t.match(two.stderr, /--out names a single file/);
});

t.test('Ctrl-C leaves no files, folders or processes', async (t) => {
  const cwd = await temporaryFolder(t);
  const TMPDIR = await temporaryFolder(t);
  const endless = join(cwd, 'endless.py');
  await writeFile(
    endless,
    'from manim import *\nclass Endless(Scene):\n    def construct(self):\n        while True: self.wait(1)\n',
  );
  const args = ['render', 'endless.py', 'Endless', '-ql'];
  const { code, stdout, stderr } = await interrupted(args, /^Rendering/m, { cwd, env: { TMPDIR } });
  t.equal(code, 130);
  t.equal(stdout, '');
  t.match(stderr, /scenepress: Interrupted\.\n$/);
  t.strictSame(await readdir(cwd), ['endless.py']);
  t.strictSame(await readdir(TMPDIR), []);
  t.strictSame(await processesNaming(TMPDIR), []);
});

t.test('a temporary folder that cannot be created is reported with a remedy', async (t) => {
  const TMPDIR = join(await temporaryFolder(t), 'file');
  await writeFile(TMPDIR, '');
  const { code, stderr } = await scenepress(['render', '-'], { stdin: 'class A: pass', env: { TMPDIR } });
  t.equal(code, 1);
  t.match(stderr, /^scenepress: Cannot create a temporary folder in \S+file \(E\w+\)\..*TMPDIR.*\n$/);
});

/** The command lines of running processes that contain the path of a folder. */
async function processesNaming(folder: string): Promise<string[]> {
  const ids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const lines = ids.map((id) => readFile(`/proc/${id}/cmdline`, 'utf8').catch(() => ''));
  return (await Promise.all(lines)).filter((line) => line.includes(folder));
}
