import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { scenepress } from '../appliance/command.ts';
import { listeningAppliance } from '../appliance/listening-appliance.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';

const CONFIG = '[CLI]\npixel_width = 320\npixel_height = 160\nbackground_color = WHITE\nformat = gif\n';
const SCENES = `from manim import *


class Circles(Scene):
    def construct(self):
        self.play(Create(Circle()), run_time=0.2, subcaption="A circle")


class Missing(MovingCameraScene):
    def construct(self):
        import helpers
`;

const READS = `import os
from manim import *


class Reads(Scene):
    def construct(self):
        names = sorted({name.split(".")[0] for name in os.listdir() if name in ("data", "scene.py", "beside.csv")} | {"scene"})
        print(open("data/table.csv").read(), names, sep=", ")
        self.play(FadeIn(Dot()), run_time=0.1)
`;
const SEEDED = `import random
from manim import *


class Seeded(Scene):
    def construct(self):
        print("drew", random.random())
        self.play(FadeIn(Dot()), run_time=0.1)
`;
/** What Python's generator draws first. */
const RANDOM_OF_7 = /drew 0\.32383276483316237/;

t.test('render --server writes the files of a service elsewhere', async (t) => {
  const { url, key } = await listeningAppliance(t, { renders: true });
  const cwd = await temporaryFolder(t);
  await writeFile(join(cwd, 'scenes.py'), SCENES);
  const env = { SCENEPRESS_KEY: key, TMPDIR: await temporaryFolder(t) };
  const args = ['render', 'scenes.py', '--server', url, '-ql'];
  const { code, stdout, stderr } = await scenepress([...args, 'Circles', '-o', 'c.mp4'], { cwd, env });
  t.equal(code, 0, stderr);
  t.equal(stdout, `${join(cwd, 'c.mp4')}\n${join(cwd, 'c.vtt')}\n`);
  t.equal((await readFile(join(cwd, 'c.mp4'))).toString('latin1', 4, 8), 'ftyp');
  t.strictSame(await readdir(env.TMPDIR), []);

  const missing = await scenepress([...args, 'Missing'], { cwd, env });
  t.equal(missing.code, 1);
  t.match(missing.stderr, /No module named 'helpers'(.|\n)*A service has no files of this machine/);
  const told = JSON.parse((await scenepress([...args, 'Missing', '--json'], { cwd, env })).stdout);
  t.match(told, { failedBy: 'scene', diagnosis: { kind: 'scene:import', line: 11 }, usage: { workMs: {} } });
  const wrongKey = await scenepress([...args, 'Circles', '--key', `svc_live_${'0'.repeat(48)}`], {
    cwd,
    env,
  });
  t.equal(wrongKey.code, 1);
  t.match(wrongKey.stderr, /^scenepress: http\S+: 401: /m);
  t.notMatch(wrongKey.stderr, /svc_live|\n {4}at /);
});

t.test('files are given by their names, here and at a service', async (t) => {
  const { url, key, service } = await listeningAppliance(t, { renders: true });
  const cwd = await temporaryFolder(t);
  await writeFile(join(cwd, 'reads.py'), READS);
  await writeFile(join(cwd, 'today.csv'), 'from today');
  await writeFile(join(cwd, 'beside.csv'), 'of the folder');
  const args = ['render', 'reads.py', '-ql', '--file', 'data/table.csv=today.csv', '-o', 'made.mp4'];
  const env = { TMPDIR: await temporaryFolder(t) };
  for (const more of [
    ['--keep-warm', '0'],
    ['--server', url, '--key', key],
  ]) {
    const { code, stderr } = await scenepress([...args, ...more], { cwd, env });
    t.equal(code, 0, stderr);
    t.match(stderr, "from today, ['data', 'scene']");
    t.strictSame(await readdir(env.TMPDIR), [], 'nothing is left');
  }
  const [job] = await service.list({});
  t.match((await service.filesOf(job?.jobId ?? '')).files, [{ name: 'data/table.csv' }]);
  for (const [file, message] of [
    ['data.csv', /Expected name=path/],
    ['data.csv=none.csv', /There is no file none.csv/],
    ['../data.csv=today.csv', /no name of a file/],
    ['data.exe=today.csv', /no kind that scenes use/],
  ] as const)
    t.match(await scenepress(['render', 'reads.py', '--file', file], { cwd }), { code: 2, stderr: message });
  const both = ['render', 'reads.py', '--file', 'data.csv=today.csv', '--folder', '.'];
  t.match(await scenepress(both, { cwd }), { code: 2, stderr: /Leave out --folder/ });
});

t.test('render --server renders several files, with a seed, and tells where the time went', async (t) => {
  const { url, key } = await listeningAppliance(t, { renders: true });
  const cwd = await temporaryFolder(t);
  await writeFile(join(cwd, 'seeded.py'), SEEDED);
  await writeFile(join(cwd, 'broken.py'), SEEDED.replace('Seeded', 'Broken').replace('Dot()', 'Dott()'));
  const args = ['render', 'seeded.py', 'broken.py', '--server', url, '--key', key, '-ql', '--seed', '7'];
  const { code, stdout, stderr } = await scenepress([...args, '--json', '-o', 'made/'], { cwd });
  t.equal(code, 1);
  t.match(stderr, RANDOM_OF_7, 'what the scene prints is shown');
  const events = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  t.match(
    events.filter(({ event }) => event === 'finished'),
    [
      { file: 'seeded.py', status: 'completed', video: join(cwd, 'made/Seeded.mp4') },
      { file: 'broken.py', status: 'failed', diagnosis: { kind: 'scene:name', candidates: ['Dot'] } },
    ],
  );
  const timed = await scenepress(['render', 'seeded.py', '--server', url, '--key', key, '-ql', '--times'], {
    cwd,
  });
  t.match(timed, { code: 0, stderr: /Seeded: start \d/ });
});

t.test('render --server refuses what a service cannot do, and lists scenes by their text', async (t) => {
  const cwd = await temporaryFolder(t);
  await writeFile(join(cwd, 'scenes.py'), SCENES);
  const args = ['render', 'scenes.py', '--server', 'https://renders.example.org'];
  t.match((await scenepress(args, { cwd })).stderr, /--key KEY, or SCENEPRESS_KEY/);
  const gif = await scenepress([...args, '--key', 'k', 'Circles', '-o', 'x.gif'], { cwd });
  t.match(gif, { code: 2, stderr: /MP4 only/ });
  const config = await scenepress([...args, '--key', 'k', 'Circles', '-c', 'manim.cfg'], { cwd });
  t.match(config, { code: 2, stderr: /A service has no --config_file/ });
  const listed = await scenepress([...args, '--key', 'k', '--list'], { cwd });
  t.equal(listed.stdout, 'Circles\nMissing\n', listed.stderr);
});

t.test('render --server names what has no effect, and goes on', async (t) => {
  const cwd = await temporaryFolder(t);
  await writeFile(join(cwd, 'scenes.py'), SCENES);
  await writeFile(join(cwd, 'manim.cfg'), CONFIG);
  const args = ['render', 'scenes.py', '--server', 'https://renders.example.org', '--key', 'k', '--list'];
  const listed = await scenepress([...args, '--render-memory-mb', '512'], { cwd });
  t.match(listed, { code: 0, stdout: 'Circles\nMissing\n' });
  t.equal(
    listed.stderr,
    'manim.cfg has no effect with --server.\nNo effect on renders by a service: --render-memory-mb.\n',
  );
});
