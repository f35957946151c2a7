import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { ProgressLine } from '../../appliance/cli/progress-line.ts';
import { RenderEvents } from '../../appliance/cli/render-events.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { scenepress } from './command.ts';

t.test('what several files cannot share is incorrect usage, with what to do', async (t) => {
  const cwd = await temporaryFolder(t);
  for (const name of ['a.py', 'b.py']) await writeFile(join(cwd, name), '');
  const refused: [args: string[], message: RegExp][] = [
    [['--watch'], /--watch takes one file/],
    [['--list'], /--list takes one file/],
    [['-o', 'all.mp4'], /-o names a single file, but there are several. Name a folder.* -o all.mp4\//],
    [['--captions', 'all.vtt'], /--captions names a single file/],
    [['Intro'], /scenepress render a.py Intro/],
  ];
  for (const [args, message] of refused) {
    const ended = await scenepress(['render', 'a.py', 'b.py', ...args, '--json'], { cwd });
    t.match(ended, { code: 2, stdout: '', stderr: message }, args.join(' '));
  }
});

t.test('each file that cannot be tried is reported', async (t) => {
  const cwd = await temporaryFolder(t);
  const run = (...args: string[]) => scenepress(['render', 'a.py', 'b.py', '--no-folder', ...args], { cwd });
  const { code, stdout } = await run('--json');
  t.equal(code, 2);
  const events = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  t.match(events, [
    { event: 'finished', file: 'a.py', scene: null, status: 'skipped', error: /there is no file a.py/ },
    { event: 'finished', file: 'b.py', scene: null, status: 'skipped', error: /there is no file b.py/ },
  ]);
  t.match(await run(), { code: 2, stdout: '', stderr: /^a.py: The scene can't be read.*\nb.py: The scene/ });
});

t.test('progress is reported at once, and then at most once a second', async (t) => {
  const { args } = t.capture(process.stdout, 'write');
  const report = new RenderEvents({ json: true }, new ProgressLine()).started('a.py', 'Intro');
  for (let frames = 1; frames <= 3; frames++) report({ stage: 'rendering', frames, seconds: frames / 15 });
  const lines = args().map(([line]) => JSON.parse(String(line)));
  t.same(lines, [
    { event: 'started', file: 'a.py', scene: 'Intro' },
    { event: 'progress', file: 'a.py', scene: 'Intro', stage: 'rendering', frames: 1, videoSeconds: 1 / 15 },
  ]);
});
