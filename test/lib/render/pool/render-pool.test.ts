import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import t, { type Test } from 'tap';
import { systemRandom } from '../../../../lib/base/random.ts';
import { DEFAULT_LIMITS } from '../../../../lib/model/limits.ts';
import type { RenderTask } from '../../../../lib/model/render-task.ts';
import { type RenderEvents, RenderPool } from '../../../../lib/render/pool/render-pool.ts';
import { findLauncher } from '../../../../lib/render/start/launcher.ts';
import { systemClock } from '../../../../lib/time/clock.ts';
import { testFolder } from '../../../fixtures/test-folder.ts';
import { until } from '../../../fixtures/until.ts';

/** Zygotes that do what the code of a scene says; see there. */
const PYTHON = join(import.meta.dirname, '../../../fixtures/instant-renderer/bin/python');
const never = new AbortController().signal;

const EVENTS: RenderEvents = { onStarted: () => {}, onProgress: () => {}, onPreview: () => {} };

function task(code: string): Omit<RenderTask, 'port'> {
  const size = { widthPx: 64, heightPx: 36, fps: 1 };
  return { jobId: 'a', code, className: 'A', ...size, previewIntervalMs: 0, background: false };
}

async function open(t: Test, { size = 1, python = PYTHON, workFolder = join(testFolder(t), 'work') } = {}) {
  const launcher = await findLauncher({ python, insecureNoSandbox: true }, undefined, [workFolder]);
  const logged: string[] = [];
  const note = (_: object, message: string) => void logged.push(message);
  const pool = new RenderPool({
    size,
    launcher,
    limits: DEFAULT_LIMITS,
    workFolder,
    clock: systemClock,
    random: systemRandom,
    logger: { debug: note, info: note, warn: note, error: note },
  });
  const results: string[] = [];
  pool.on('result', (result) => void results.push(result));
  t.teardown(() => pool.stop());
  const render = (code: string, events: Partial<RenderEvents> = {}) =>
    pool.render(task(code), { ...EVENTS, ...events });
  /** Lets scenes that linger end. */
  const letGo = (worker = 'w0') => writeFileSync(join(workFolder, worker, 'go'), '');
  return { pool, workFolder, logged, results, render, letGo };
}

t.test('a start resolves when a worker is warm, and the others follow', async (t) => {
  const { pool } = await open(t, { size: 2 });
  t.same([pool.warmWorkers, pool.versions], [0, null]);
  await pool.start(never);
  t.ok(pool.warmWorkers >= 1);
  t.same(pool.versions, { manim: 'none', python: 'none' });
  t.match(pool.sandbox, { level: String });
  await until(() => pool.warmWorkers === 2);
});

t.test('a render resolves with its files, and counts as a result', async (t) => {
  const { pool, render, results } = await open(t);
  await pool.start(never);
  let starts = 0;
  const onStarted = () => {
    starts += 1;
  };
  const result = await render('', { onStarted }).result;
  t.match(result, { kind: 'rendered', files: [{ name: 'video.mp4' }, { name: 'thumbnail.jpg' }] });
  t.equal(starts, 1);
  t.same(results, ['rendered']);
  t.match(await render('fail: no luck').result, { kind: 'failed', error: 'no luck' });
  t.same(results, ['rendered'], 'a scene that fails proves nothing about the renderer');
});

t.test('a worker is idle unless it renders', async (t) => {
  const { pool, render, letGo } = await open(t);
  await pool.start(never);
  t.ok(pool.hasIdleWorker);
  const lingering = render('linger');
  t.notOk(pool.hasIdleWorker);
  letGo();
  await lingering.result;
  t.ok(pool.hasIdleWorker);
});

t.test('a render can be stopped', async (t) => {
  const { pool, render } = await open(t);
  await pool.start(never);
  const started = Promise.withResolvers<void>();
  const lingering = render('linger', { onStarted: started.resolve });
  await started.promise;
  lingering.stop('canceled');
  t.match(await lingering.result, { kind: 'stopped', reason: 'canceled' });
});

t.test('the scenes of a source are listed', async (t) => {
  const { pool } = await open(t);
  await pool.start(never);
  const listed = await pool.listScenes('class A(Scene): pass\nclass B(Scene): pass');
  t.match(listed, { kind: 'listed', scenes: ['A', 'B'], durationMs: Number });
});

t.test('a renderer process that dies is counted and replaced', async (t) => {
  const { pool, render, results } = await open(t);
  await pool.start(never);
  t.match(await render('die').result, { kind: 'died' });
  await until(() => pool.rendererDeaths === 1);
  t.ok(results.includes('died'));
  await until(() => pool.warmWorkers === 1);
  t.match(await render('').result, { kind: 'rendered' });
});

t.test('a renderer that cannot be started rejects the start, with the reason', async (t) => {
  const bin = { python: '#!/bin/sh\necho no Manim here >&2\nexit 3\n' };
  const folder = testFolder(t, { environment: { bin, 'pyvenv.cfg': '' }, data: {} });
  const python = join(folder, 'environment', 'bin', 'python');
  chmodSync(python, 0o755);
  const { pool, results } = await open(t, { python, workFolder: join(folder, 'data', 'work') });
  await t.rejects(pool.start(never), { code: 'renderer_unavailable', message: /no Manim here/ });
  t.same(results, ['died']);
  t.equal(pool.rendererDeaths, 1);
});

t.test('an aborted start rejects with the reason', async (t) => {
  const { pool } = await open(t);
  const reason = new Error('no longer wanted');
  await t.rejects(pool.start(AbortSignal.abort(reason)), reason);
});

t.test('without a start and after a stop there are no renders', async (t) => {
  const { pool, render } = await open(t);
  t.throws(() => render(''), { code: 'not_running' });
  await pool.start(never);
  await pool.stop();
  t.throws(() => render(''), { code: 'not_running' });
  await t.rejects(pool.listScenes(''), { code: 'not_running' });
});

t.test('a stop ends renders, removes the work folder, and the pool can be started again', async (t) => {
  const { pool, render, workFolder } = await open(t);
  await pool.start(never);
  const started = Promise.withResolvers<void>();
  const lingering = render('linger', { onStarted: started.resolve });
  await started.promise;
  await pool.stop();
  t.not((await lingering.result).kind, 'rendered');
  t.notOk(existsSync(workFolder));
  t.same([pool.warmWorkers, pool.versions, pool.sandbox], [0, null, null]);
  await pool.start(never);
  t.match(await render('').result, { kind: 'rendered' });
});

t.test('a start removes the work folders of killed services', async (t) => {
  const workFolder = join(testFolder(t), 'work');
  mkdirSync(join(workFolder, 'w0', 'left'), { recursive: true });
  const { pool } = await open(t, { workFolder });
  await pool.start(never);
  t.notOk(existsSync(join(workFolder, 'w0', 'left')));
  await pool.stop();
  t.same(readdirSync(dirname(workFolder)), []);
});

t.test('a work folder that was removed is made again', async (t) => {
  const { pool, render, workFolder } = await open(t);
  await pool.start(never);
  t.equal(await pool.checkWorkFolder({ write: true }), false);
  rmSync(workFolder, { recursive: true });
  t.equal(await pool.checkWorkFolder({ write: true }), true);
  t.match(await render('').result, { kind: 'rendered' });
});
