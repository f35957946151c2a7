import t from 'tap';
import type { ZygoteCommandLine } from '../../../../lib/render/start/launcher.ts';
import type { RendererProcess } from '../../../../lib/render/start/processes.ts';
import { Zygote } from '../../../../lib/render/start/zygote.ts';
import { FakeClock } from '../../../fixtures/fake-clock.ts';
import { settled } from '../../../simulator/settled.ts';
import { SimulatedPython } from '../../../simulator/simulated-python.ts';

const SILENCE_MS = 30_000;

function startZygote() {
  const clock = new FakeClock('2026-11-21T10:00:00Z');
  const python = new SimulatedPython({ clock, seed: 1 });
  python.isFaulty = false;
  const spawn = python.spawn.bind(python);
  let child: RendererProcess | undefined;
  const line = { command: 'python', args: [], env: { XDG_CACHE_HOME: '/w0/cache' } };
  const pass = async (ms: number) => {
    for (const untilMs = clock.uptimeMs() + ms; clock.uptimeMs() < untilMs; await settled())
      clock.advance(Math.min(clock.nextInMs ?? ms, untilMs - clock.uptimeMs()));
  };
  const starting = Zygote.start(line, {
    onLog: () => {},
    silenceTimeoutMs: SILENCE_MS,
    clock,
    processes: Object.assign(python, {
      spawn: (line: ZygoteCommandLine) => {
        child = spawn(line);
        return child;
      },
    }),
  });
  return { clock, starting, pass, child: child as unknown as RendererProcess };
}

async function openZygote() {
  const { clock, starting, pass, child } = startZygote();
  await pass(10_000);
  const [zygote] = await starting;
  return { clock, zygote, pass, child };
}

t.test('a zygote that dies right after its report that it is ready has not started', async (t) => {
  const { clock, starting, pass, child } = startZygote();
  const ready = { type: 'ready', manim: '0.22', python: '3.13', layers: [], problems: {}, cgroup: false };
  const error = { type: 'error', message: 'out of order' };
  child.stdout.push(`${JSON.stringify(ready)}\n${JSON.stringify(error)}\n`);
  await t.rejects(starting, { name: 'ZygoteDied', message: /out of order/ });
  await pass(10_000);
  t.equal(clock.nextInMs, undefined, 'no timer is left');
});

t.test('a pause of the service ends no zygote, although nothing was heard meanwhile', async (t) => {
  const { clock, zygote, pass } = await openZygote();
  for (let pauses = 0; pauses < 3; pauses++) {
    clock.postpone(10 * SILENCE_MS);
    clock.advance(10 * SILENCE_MS);
    await pass(SILENCE_MS);
    t.ok(zygote.alive);
  }
});

t.test('a zygote that answers no pings is ended, after the time of silence', async (t) => {
  const { zygote, pass, child } = await openZygote();
  const deaths: string[] = [];
  zygote.on('death', (reason) => deaths.push(reason));
  child.stdout.removeAllListeners('data');
  await pass(SILENCE_MS - SILENCE_MS / 6);
  t.ok(zygote.alive);
  await pass(SILENCE_MS / 2);
  t.match(deaths, [/stopped answering/]);
});
