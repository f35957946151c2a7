// What a job's scene sees of its files, through a pool with real renderer processes.
import { readdirSync, statSync, writeFileSync } from 'node:fs';
import { mkdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { silentLogger } from '../../../lib/base/logger.ts';
import { systemRandom } from '../../../lib/base/random.ts';
import { DEFAULT_LIMITS } from '../../../lib/model/limits.ts';
import type { RenderTask } from '../../../lib/model/render-task.ts';
import { type RenderEvents, RenderPool } from '../../../lib/render/pool/render-pool.ts';
import { SceneReader } from '../../../lib/render/reading/scene-reader.ts';
import { findLauncher } from '../../../lib/render/start/launcher.ts';
import { systemProcesses } from '../../../lib/render/start/processes.ts';
import { systemClock } from '../../../lib/time/clock.ts';
import { scene } from '../../fixtures/renders.ts';
import { testFolder } from '../../fixtures/test-folder.ts';

const EVENTS: RenderEvents = { onStarted: () => {}, onProgress: () => {}, onPreview: () => {} };
const SIZE = { widthPx: 64, heightPx: 36, fps: 10 } as const;
const SVG = '<svg xmlns="http://www.w3.org/2000/svg"><rect width="4" height="2"/></svg>';
const READS = `from helper import square
${scene(
  'self.add(square(), SVGMobject("pictures/mark.svg"))',
  'assert open("data.csv").read() == "1,2"',
  'open("new.txt", "w").write("new")',
  'self.wait(0.1)',
)}`;

function task(code: string, options: Partial<RenderTask> = {}): Omit<RenderTask, 'port'> {
  const ofAll = { jobId: 'a', className: 'Main', previewIntervalMs: 0, background: false };
  return { code, ...ofAll, ...SIZE, ...options };
}

/** A pool of two workers, and a folder with the files of two accounts in its work folder. */
async function open(t: Test) {
  const workFolder = join(testFolder(t), 'work');
  const launcher = await findLauncher({}, undefined, [workFolder]);
  const settings = { launcher, limits: DEFAULT_LIMITS, workFolder, clock: systemClock, logger: silentLogger };
  const pool = new RenderPool({ size: 2, random: systemRandom, ...settings });
  t.teardown(() => pool.stop());
  await pool.start(new AbortController().signal);
  const files = join(workFolder, 'files', 'ours');
  await mkdir(join(files, 'pictures'), { recursive: true });
  await mkdir(join(workFolder, 'files', 'theirs'));
  writeFileSync(join(files, '..', 'theirs', 'secret'), 'secret', { mode: 0o444 });
  writeFileSync(join(files, 'data.csv'), '1,2', { mode: 0o444 });
  writeFileSync(join(files, 'helper.py'), 'from manim import Square\ndef square(): return Square()\n');
  writeFileSync(join(files, 'pictures', 'mark.svg'), SVG, { mode: 0o444 });
  await symlink('../theirs/secret', join(files, 'out'));
  return { pool, workFolder, files, settings };
}

t.test('the files of jobs', async (t) => {
  const { pool, workFolder, files, settings } = await open(t);
  t.test('renders, stills, pictures, checks and lists read the files', async (t) => {
    const render = (options: Partial<RenderTask>) => pool.render(task(READS, options), EVENTS).result;
    t.match(await render({ files }), { kind: 'rendered', frames: 1 });
    t.match(await render({ files, widthPx: 36, heightPx: 64 }), { kind: 'rendered', frames: 1 });
    t.match(await render({ files, still: { at: 'last', value: 0 } }), { kind: 'rendered' });
    t.match(await render({ files, inspect: 144 }), { kind: 'rendered', inspection: { frames: 1 } });
    const check = { checkSceneOf: READS, className: 'Main', ...SIZE, background: false };
    t.match(await pool.check({ ...check, files }), { kind: 'checked', frames: 1 });
    t.match(await pool.listScenes(READS, { background: false, files }), { kind: 'listed', scenes: ['Main'] });
    const gone = "ModuleNotFoundError: No module named 'helper'";
    t.match(await render({}), { kind: 'failed', finding: { message: new RegExp(gone) } });
    t.match(await pool.check(check), { kind: 'failed', finding: { message: new RegExp(gone) } });

    const reader = new SceneReader({ index: 2, processes: systemProcesses, ...settings });
    t.teardown(() => reader.stop());
    t.match(await reader.read({ code: READS, files }), { findings: [] });
    t.match(await reader.read({ code: READS }), { findings: [{ message: new RegExp(gone) }] });
    t.same(
      ['w0', 'w1', 'reader'].flatMap((name) =>
        readdirSync(join(workFolder, name)).filter((left) => left.endsWith('.files')),
      ),
      [],
      'no links are left',
    );
    t.equal(statSync(join(files, 'data.csv')).nlink, 1);
  });

  t.test('a scene reaches neither the files of others nor its own at their real place', async (t) => {
    const looks = scene(
      'found = []',
      `places = ["out", "data.csv", "/scenepress/files/data.csv", "/scenepress/files/../theirs/secret"]`,
      `places += [${JSON.stringify(workFolder)} + end for end in ("", "/files", "/files/theirs/secret", "/files/ours/data.csv")]`,
      'places += [f"/scenepress/work/{name}" for name in ("", "1.files", "2.files", "../w0/1.files/data.csv")]',
      'for place in places:',
      '    try: os.listdir(place) if os.path.isdir(place) else open(place).close()',
      '    except OSError: continue',
      '    found.append(place)',
      'print(found)',
      'self.wait(2 if os.path.exists("data.csv") else 0.1)',
    );
    const [ours, theirs] = await Promise.all([
      pool.render(task(looks, { files }), EVENTS).result,
      pool.render(task(looks), EVENTS).result,
    ]);
    t.match(ours, { kind: 'rendered', output: "['data.csv', '/scenepress/files/data.csv']\n" });
    t.match(theirs, { kind: 'rendered', output: '[]\n' });
  });

  t.test('a job whose files are gone waits for another attempt', async (t) => {
    const gone = { files: join(files, 'gone') };
    t.match(await pool.render(task(READS, gone), EVENTS).result, { kind: 'unavailable', message: /ENOENT/ });
    t.match(await pool.render(task(READS, { files }), EVENTS).result, { kind: 'rendered' });
  });
});
