import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import { ended, processesBelow, zygotesBelow } from '../../fixtures/processes.ts';
import { afterOneFrame, drawing, render, startService } from '../../fixtures/renders.ts';

const MINUTE_MS = 60_000;
/** Longer than the interval at which the service checks the renderer. */
const CHECK_MS = 1_500;
const STEP_MS = 20;
/** Processes that wait for the next job. */
const WAITING = 3;

const clock = new FakeClock('2026-11-21T09:00:00Z');
const service = await startService(t, { workers: 1, clock });

/** Prevents forks of the zygote from writing files, also the waiting one. The zygote itself still responds. */
async function breakZygote(): Promise<void> {
  const [zygote] = zygotesBelow(process.pid);
  if (!zygote) throw new Error('there is no zygote');
  while (processesBelow(zygote.pid).length < WAITING) await delay(STEP_MS);
  const status = readFileSync(`/proc/${zygote.pid}/status`, 'utf8');
  const idOf = (kind: 'Uid' | 'Gid') => Number(new RegExp(`^${kind}:\\s+(\\d+)`, 'm').exec(status)?.[1]);
  const itsOwner = { uid: idOf('Uid'), gid: idOf('Gid') };
  for (const { pid } of [zygote, ...processesBelow(zygote.pid)])
    execFileSync('prlimit', ['--pid', String(pid), '--fsize=0:0'], itsOwner);
}

function replaceZygote(): void {
  for (const { pid } of zygotesBelow(process.pid)) process.kill(pid, 'SIGKILL');
}

/** Passes time without a look in between, during which files could not be examined. */
function skip(ms: number): void {
  clock.postpone(ms);
  clock.advance(ms);
}

t.test('a completed render counts as proof of readiness for ten minutes', async (t) => {
  skip(9 * MINUTE_MS);
  t.match(await render(service, { className: 'OneFrame' }), { status: 'completed' });
  await breakZygote();
  skip(9 * MINUTE_MS);
  await delay(CHECK_MS);
  t.same(service.status().problems, []);
});

t.test('a zygote whose forks no longer render is replaced while the service is idle', async (t) => {
  const before = zygotesBelow(process.pid);
  skip(MINUTE_MS);
  await ended(before);
  t.match(await render(service, {}), { status: 'completed', attempts: 1 });
  t.equal(service.status().ready, true);
});

t.test('a dead renderer process is replaced while the service stays ready', async (t) => {
  const before = service.status();
  replaceZygote();
  while (service.status().rendererDeaths === before.rendererDeaths) await delay(5);
  let unready = 0;
  while (service.status().warmWorkers === 0) {
    if (!service.status().ready) unready += 1;
    await delay(50);
  }
  t.equal(unready, 0);
});

t.test('workers that are busy for hours do not make the service unready', async (t) => {
  const { jobId } = await drawing(service, { code: afterOneFrame('time.sleep(3)') });
  skip(5 * 60 * MINUTE_MS);
  let unready = 0;
  const sample = setInterval(() => {
    if (!service.status().ready) unready += 1;
  }, 20);
  t.match(await service.wait(jobId), { status: 'completed', attempts: 1 });
  clearInterval(sample);
  t.equal(unready, 0);
});

t.test('a draining service is not ready, and its jobs can be read until it is stopped', async (t) => {
  const { jobId } = await drawing(service, { code: afterOneFrame('time.sleep(1)') });
  const drained = service.drain({ graceMs: 60_000 });
  t.match(service.status(), { ready: false, problems: [{ part: 'service', message: /stopping/ }] });
  await t.rejects(render(service, {}), { code: 'not_running' });
  await drained;
  t.match(await service.get(jobId), { status: 'completed', attempts: 1 });
  await service.stop();
  t.match(service.status(), { ready: false, problems: [{ message: /not started/ }] });
});
