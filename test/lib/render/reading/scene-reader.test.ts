import { existsSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { silentLogger } from '../../../../lib/base/logger.ts';
import { DEFAULT_LIMITS } from '../../../../lib/model/limits.ts';
import { SceneReader } from '../../../../lib/render/reading/scene-reader.ts';
import type { Processes, RendererProcess } from '../../../../lib/render/start/processes.ts';
import { FakeClock } from '../../../fixtures/fake-clock.ts';
import { testFolder } from '../../../fixtures/test-folder.ts';
import { settled } from '../../../simulator/settled.ts';
import { LAUNCHER } from '../../../simulator/simulated-pool.ts';
import { SimulatedPython } from '../../../simulator/simulated-python.ts';

const PATIENCE_MS = 120_000;

/** A reader whose process is simulated. */
function openReader(t: Test, { spawn = true } = {}) {
  const clock = new FakeClock('2026-11-28T10:00:00Z');
  const python = new SimulatedPython({ clock, seed: 1 });
  python.isFaulty = false;
  const started: RendererProcess[] = [];
  const processes: Processes = {
    spawn: (line) => {
      if (!spawn) throw new Error('no more processes');
      t.ok(line.args.includes('--reader'));
      const child = python.spawn(line);
      started.push(child);
      return child;
    },
    killTree: (pid) => python.killTree(pid),
    killSession: () => {},
    accept: python.accept,
  };
  const workFolder = testFolder(t);
  const reader = new SceneReader({
    ...{ index: 2, launcher: LAUNCHER, limits: DEFAULT_LIMITS, clock, processes },
    ...{ workFolder, logger: silentLogger },
  });
  /** Lets time pass until something is done. */
  const done = async <T>(something: Promise<T>): Promise<T> => {
    let isDone = false;
    const note = () => {
      isDone = true;
    };
    something.then(note, note);
    const untilMs = clock.uptimeMs() + PATIENCE_MS;
    for (await settled(); !isDone && clock.uptimeMs() < untilMs; await settled())
      clock.advance(clock.nextInMs ?? 1);
    if (!isDone) throw new Error('not in time');
    return something;
  };
  const read = async (code: string) =>
    (await done(reader.read({ code })))?.findings.map(({ message }) => message);
  t.teardown(() => done(reader.stop()));
  return { reader, clock, python, started, done, read, folder: join(workFolder, 'reader') };
}

t.test('one process reads one source after the other', async (t) => {
  const { reader, started, done, read, folder } = openReader(t);
  t.equal(started.length, 0, 'it starts when it is needed');
  t.same(await read('a\nb'), ['a', 'b']);
  const both = await done(Promise.all(['c', 'd'].map((code) => reader.read({ code, owner: 'ada' }))));
  t.same(
    both.map((source) => source?.findings[0]?.message),
    ['c', 'd'],
  );
  t.equal(started.length, 1);
  await done(reader.stop());
  t.notOk(existsSync(folder));
  t.equal(await read('e'), undefined, 'after its stop');
});

t.test('a read that dies or hangs finds nothing, and the next one does', async (t) => {
  const { reader, clock, started, done, read } = openReader(t);
  t.same(await read('a'), ['a']);
  t.equal(await read('fail'), undefined);
  const beforeMs = clock.uptimeMs();
  t.equal(await done(reader.read({ code: 'hang' })), undefined);
  t.ok(clock.uptimeMs() - beforeMs >= 5_000);
  t.same(await read('b'), ['b']);
  t.equal(started.length, 1);
});

t.test('a process that has died is replaced after a pause', async (t) => {
  const { clock, python, started, read } = openReader(t);
  t.same(await read('a'), ['a']);
  python.killTree(started[0]?.pid as number);
  await settled();
  t.equal(await read('b'), undefined, 'during the pause');
  clock.advance(2_000);
  t.same(await read('c'), ['c']);
  t.equal(started.length, 2);
});

t.test('without its process, no source is read', async (t) => {
  const { read } = openReader(t, { spawn: false });
  t.equal(await read('a'), undefined);
  t.equal(await read('b'), undefined);
});

t.test('a process that is not used is stopped, and started again', async (t) => {
  const { clock, started, read } = openReader(t);
  t.same(await read('a'), ['a']);
  clock.advance(10 * 60_000);
  await settled();
  await settled();
  t.same(await read('b'), ['b']);
  t.equal(started.length, 2);
});

t.test('few of an owner wait, and a wait can be aborted', async (t) => {
  const { reader, done } = openReader(t);
  const first = reader.read({ code: 'a', owner: 'ada' });
  const controller = new AbortController();
  const superseded = reader.read({ code: 'b', owner: 'ada' }, controller.signal);
  const others = ['c', 'd', 'e'].map((code) => reader.read({ code, owner: 'ada' }));
  t.throws(() => reader.read({ code: 'f', owner: 'ada' }), { code: 'queue_full' });
  controller.abort(new Error('another text'));
  await t.rejects(superseded, { message: 'another text' });
  const ofOperator = Array.from({ length: 99 }, (_, index) => reader.read({ code: `${index}` }));
  t.ok(reader.waiting <= 64);
  const found = await done(Promise.all([first, ...others, ...ofOperator]));
  t.equal(found.at(-1)?.findings[0]?.message, '98');
  t.throws(() => reader.read({ code: 'g' }, AbortSignal.abort(new Error('before'))), { message: 'before' });
});
