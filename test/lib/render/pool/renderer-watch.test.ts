import { EventEmitter } from 'node:events';
import t, { type Test } from 'tap';
import type { RenderResult, RenderTask, StopReason } from '../../../../lib/model/render-task.ts';
import type { RenderEvents, RenderPool } from '../../../../lib/render/pool/render-pool.ts';
import { RendererWatch } from '../../../../lib/render/pool/renderer-watch.ts';
import { FakeClock } from '../../../fixtures/fake-clock.ts';
import { settled } from '../../../simulator/settled.ts';

const SECOND = 1_000;
const IDLE_MS = 10 * 60 * SECOND;
const RENDERED: RenderResult = {
  kind: 'rendered',
  durationMs: 1,
  frames: 1,
  seconds: 1,
  files: [],
  plays: [],
  folder: '/nonexistent/probe',
};
const FAILED: RenderResult = { kind: 'failed', durationMs: 1, error: 'ImportError', failedBy: 'scene' };
const DIED: RenderResult = { kind: 'died', durationMs: 1, message: 'it was killed' };

/** A pool whose renders end as they are told to: in order, or when a test ends them. */
class ScriptedPool extends EventEmitter {
  hasIdleWorker = true;
  readonly tasks: Omit<RenderTask, 'port'>[] = [];
  readonly stops: StopReason[] = [];
  readonly script: RenderResult[] = [];
  end: (result: RenderResult) => void = () => {};

  render(task: Omit<RenderTask, 'port'>, events: RenderEvents) {
    this.tasks.push(task);
    const { promise, resolve } = Promise.withResolvers<RenderResult>();
    this.end = resolve;
    const next = this.script.shift();
    events.onStarted();
    if (next) resolve(next);
    const result = promise.then((result) => {
      if (result.kind === 'rendered' || result.kind === 'died') this.emit('result', result.kind);
      return result;
    });
    const stop = (reason: StopReason) => {
      this.stops.push(reason);
      resolve({ kind: 'stopped', durationMs: 1, reason });
    };
    return { result, stop };
  }
}

function open(t: Test) {
  const clock = new FakeClock('2026-11-21T10:00:00Z');
  const pool = new ScriptedPool();
  const spareSpace = { isShort: false, check: async () => {} };
  const place = { problem: null as string | null, isUsable: true, canBeUsed: async () => place.isUsable };
  const logged: string[] = [];
  const note = (_: object, message: string) => void logged.push(message);
  const watch = new RendererWatch({
    pool: pool as unknown as RenderPool,
    probe: 'the probe',
    clock,
    logger: { debug: note, info: note, warn: note, error: note },
    idleMs: IDLE_MS,
    spareSpace,
    place: place as never,
  });
  watch.start();
  t.teardown(() => watch.stop());
  let recoveries = 0;
  watch.on('recovered', () => {
    recoveries += 1;
  });
  /** Lets time pass; resolves with the number of probes so far. */
  const pass = async (ms: number) => {
    clock.advance(ms);
    await settled();
    return pool.tasks.length;
  };
  /** Makes the watch find the renderer broken. */
  const breakIt = async () => {
    pool.script.push(FAILED, FAILED);
    pool.emit('result', 'died');
    await pass(SECOND);
    t.equal(watch.problem, 'ImportError');
    return pool.tasks.length;
  };
  return { clock, pool, spareSpace, place, logged, watch, pass, breakIt, recoveries: () => recoveries };
}

t.test('after the death of a renderer process, a scene is rendered at the next check', async (t) => {
  const { pool, pass, watch } = open(t);
  pool.script.push(RENDERED);
  t.equal(await pass(5 * SECOND), 0);
  pool.emit('result', 'died');
  t.equal(await pass(SECOND - 1), 0);
  t.equal(await pass(1), 1);
  t.match(pool.tasks, [{ jobId: 'probe', code: 'the probe', className: 'Probe' }]);
  t.equal(watch.problem, null);
  t.equal(await pass(60 * SECOND), 1, 'once');
});

t.test('a finished video makes a requested probe unnecessary', async (t) => {
  const { pool, pass } = open(t);
  pool.emit('result', 'died');
  pool.emit('result', 'rendered');
  t.equal(await pass(60 * SECOND), 0);
});

t.test('without a video for a while an idle worker renders a probe', async (t) => {
  const { pool, pass } = open(t);
  pool.script.push(RENDERED);
  await pass(IDLE_MS / 2);
  pool.emit('result', 'rendered');
  t.equal(await pass(IDLE_MS - SECOND), 0, 'counted from the last video');
  pool.hasIdleWorker = false;
  t.equal(await pass(10 * SECOND), 0, 'not while all workers render');
  pool.hasIdleWorker = true;
  t.equal(await pass(SECOND), 1);
});

t.test('a requested probe waits for no idle worker', async (t) => {
  const { pool, pass, watch } = open(t);
  pool.hasIdleWorker = false;
  pool.script.push(RENDERED);
  watch.requestProbe();
  t.equal(await pass(SECOND), 1);
});

t.test('one failed probe of two is no problem, two are', async (t) => {
  const { pool, pass, watch, logged, breakIt } = open(t);
  pool.script.push(DIED, RENDERED);
  watch.requestProbe();
  t.equal(await pass(SECOND), 2);
  t.equal(watch.problem, null);
  t.equal(await breakIt(), 4);
  t.same(logged, ['The renderer has stopped working.']);
});

t.test('a finished video of any job ends the problem', async (t) => {
  const { pool, watch, breakIt, recoveries, logged } = open(t);
  await breakIt();
  pool.emit('result', 'rendered');
  t.equal(watch.problem, null);
  t.equal(recoveries(), 1);
  t.equal(logged.at(-1), 'The renderer works again.');
  pool.emit('result', 'rendered');
  t.equal(recoveries(), 1);
});

t.test('a broken renderer is probed again after 10, 20, 40 and then every 60 seconds', async (t) => {
  const { pool, pass, watch, breakIt, recoveries, logged } = open(t);
  let probes = await breakIt();
  for (const seconds of [10, 20, 40, 60, 60]) {
    pool.script.push(FAILED, FAILED);
    t.equal(await pass((seconds - 1) * SECOND), probes, `not before ${seconds} s`);
    probes += 2;
    t.equal(await pass(SECOND), probes, `after ${seconds} s`);
  }
  t.equal(logged.length, 1, 'it is logged once');
  pool.script.push(RENDERED);
  await pass(60 * SECOND);
  t.equal(watch.problem, null);
  t.equal(recoveries(), 1);
  probes = await breakIt();
  pool.script.push(FAILED, FAILED);
  t.equal(await pass(10 * SECOND), probes + 2, 'the delays begin again');
});

t.test('a request ends the delay of a broken renderer', async (t) => {
  const { pool, pass, watch, breakIt } = open(t);
  const probes = await breakIt();
  pool.script.push(RENDERED);
  watch.requestProbe();
  t.equal(await pass(SECOND), probes + 1);
  t.equal(watch.problem, null);
});

t.test('no probe is rendered on a full disk or in an unusable work folder', async (t) => {
  const { pool, pass, spareSpace, place, watch } = open(t);
  watch.requestProbe();
  spareSpace.isShort = true;
  t.equal(await pass(5 * SECOND), 0);
  spareSpace.isShort = false;
  place.problem = 'gone';
  t.equal(await pass(5 * SECOND), 0);
  place.problem = null;
  pool.script.push(RENDERED);
  t.equal(await pass(SECOND), 1);
});

t.test('a probe that failed for want of a work folder does not blame the renderer', async (t) => {
  const { pool, pass, place, watch } = open(t);
  place.isUsable = false;
  pool.script.push(FAILED, FAILED);
  watch.requestProbe();
  t.equal(await pass(SECOND), 2);
  t.equal(watch.problem, null);
});

t.test('a probe that failed for want of space on the disk does not blame the renderer', async (t) => {
  const { pool, pass, spareSpace, watch } = open(t);
  spareSpace.check = async () => {
    spareSpace.isShort = true;
  };
  pool.script.push({ kind: 'disk_full', durationMs: 0 });
  watch.requestProbe();
  t.equal(await pass(SECOND), 1);
  t.equal(watch.problem, null);
});

t.test('a probe that takes longer than a minute is stopped', async (t) => {
  const { pool, pass, watch } = open(t);
  watch.requestProbe();
  t.equal(await pass(SECOND), 1);
  await pass(60 * SECOND - 1);
  t.same(pool.stops, []);
  t.equal(await pass(1), 2, 'and tried once more');
  await pass(60 * SECOND);
  t.same(pool.stops, ['canceled', 'canceled']);
  t.equal(watch.problem, 'it took longer than 60 seconds');
});

t.test('only one probe is rendered at a time', async (t) => {
  const { pool, pass, watch } = open(t);
  watch.requestProbe();
  await pass(SECOND);
  watch.requestProbe();
  t.equal(await pass(10 * SECOND), 1);
  pool.end(RENDERED);
  await settled();
});

t.test('a stop ends the probe and finds no problem', async (t) => {
  const { pool, pass, watch } = open(t);
  watch.requestProbe();
  await pass(SECOND);
  await watch.stop();
  t.same(pool.stops, ['shutdown']);
  t.equal(watch.problem, null);
  pool.emit('result', 'died');
  t.equal(await pass(60 * SECOND), 1, 'nothing is rendered after it');
});

t.test('a clock that is set back delays no probe', async (t) => {
  const { clock, pool, pass } = open(t);
  clock.set('2026-11-21T08:00:00Z');
  await pass(SECOND);
  pool.script.push(RENDERED);
  t.equal(await pass(IDLE_MS), 1);
});
