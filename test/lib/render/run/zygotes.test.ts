import { join } from 'node:path';
import type { Readable } from 'node:stream';
import t, { type Test } from 'tap';
import { DEFAULT_LIMITS } from '../../../../lib/model/limits.ts';
import { newPulses } from '../../../../lib/render/counters/pulse.ts';
import { threadCounters } from '../../../../lib/render/counters/thread-counters.ts';
import { Forks } from '../../../../lib/render/run/forks.ts';
import { Zygotes } from '../../../../lib/render/run/zygotes.ts';
import type { Processes, RendererProcess } from '../../../../lib/render/start/processes.ts';
import { FakeClock } from '../../../fixtures/fake-clock.ts';
import { testFolder } from '../../../fixtures/test-folder.ts';
import { settled } from '../../../simulator/settled.ts';
import { LAUNCHER } from '../../../simulator/simulated-pool.ts';
import { SimulatedPython } from '../../../simulator/simulated-python.ts';

const PATIENCE_MS = 120_000;

/** The processes of one worker, which are simulated. `spawned` is called with each. */
function openZygotes(t: Test, spawned: (child: RendererProcess, args: string[]) => void = () => {}) {
  const clock = new FakeClock('2026-11-21T10:00:00Z');
  const python = new SimulatedPython({ clock, seed: 1 });
  python.isFaulty = false;
  const processes: Processes = {
    spawn: (line) => {
      const child = python.spawn(line);
      spawned(child, line.args);
      return child;
    },
    killTree: (pid) => python.killTree(pid),
    killSession: () => {},
    accept: python.accept,
  };
  const workFolder = testFolder(t);
  const folder = join(workFolder, 'w0');
  const settings = {
    index: 0,
    workers: 1,
    threads: threadCounters(),
    pulses: newPulses(),
    launcher: LAUNCHER,
    limits: DEFAULT_LIMITS,
    workFolder,
    clock,
    processes,
  };
  const heard: string[] = [];
  const zygotes: Zygotes = new Zygotes({
    settings,
    folder,
    forks: new Forks(settings, folder),
    events: {
      onReady: () => heard.push(`ready, ${zygotes.warm} warm`),
      onUnready: (message) => heard.push(message),
      onRefused: (message) => heard.push(message),
      onLog: () => {},
    },
  });
  /** Lets time pass until something is done. */
  const done = async <T>(something: Promise<T>): Promise<T> => {
    let isDone = false;
    const note = () => {
      isDone = true;
    };
    something.then(note, note);
    for (await settled(); !isDone && clock.uptimeMs() < PATIENCE_MS; await settled())
      clock.advance(clock.nextInMs ?? 1);
    if (!isDone) throw new Error('not in time');
    return something;
  };
  t.teardown(() => done(zygotes.stop()));
  return { zygotes, clock, python, heard, done };
}

t.test('zygotes for both orientations can start at the same time', async (t) => {
  const { zygotes, heard, done } = openZygotes(t);
  await done(Promise.all([zygotes.get('landscape'), zygotes.get('portrait')]));
  t.same(heard, ['ready, 1 warm', 'ready, 2 warm']);
});

t.test('a zygote that dies just after the check of its sandbox is replaced', async (t) => {
  let deaths = 0;
  const { zygotes, heard, done } = openZygotes(t, (child, args) => {
    if (args.includes('encoder')) return;
    let ends = 0;
    (child.stdout as Readable).on('data', (said: Buffer) => {
      // The end of the attack, then the end of the trial scene.
      if (!String(said).includes('"ended"') || ++ends < 2 || ++deaths > 1) return;
      setImmediate(() => {
        Object.assign(child, { signalCode: 'SIGKILL' });
        (child as unknown as NodeJS.EventEmitter).emit('close', null, 'SIGKILL');
      });
    });
  });
  await t.rejects(done(zygotes.get('landscape')), { message: /ended after its sandbox was checked/ });
  const zygote = await done(zygotes.get('landscape'));
  t.ok(zygote.alive);
  t.equal(zygotes.warm, 1);
  t.match(heard, [/ended after its sandbox was checked/, 'ready, 1 warm']);
});

t.test('a worker is reported as warm when a task has restarted its encoder', async (t) => {
  let encoders = 0;
  let pid: number | undefined;
  const { zygotes, clock, python, heard, done } = openZygotes(t, (child, args) => {
    if (!args.includes('encoder')) return;
    ({ pid } = child);
    // The one that replaces the first does not start.
    if (++encoders === 2) python.killTree(pid as number);
  });
  await done(zygotes.get('landscape'));
  python.killTree(pid as number);
  for (; encoders < 2; await settled()) clock.advance(clock.nextInMs ?? 1);
  await t.rejects(done(zygotes.encoder()));
  await done(zygotes.encoder());
  t.equal(zygotes.warm, 1);
  t.equal(heard.at(-1), 'ready, 1 warm');
});
