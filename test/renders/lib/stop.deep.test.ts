import { readdir } from 'node:fs/promises';
import t from 'tap';
import { ended, processesBelow } from '../../fixtures/processes.ts';
import {
  afterOneFrame,
  drawing,
  ENDLESS,
  enqueue,
  progressed,
  render,
  startService,
} from '../../fixtures/renders.ts';
import { testFolder } from '../../fixtures/test-folder.ts';

const folder = testFolder(t);
const service = await startService(t, { folder, workers: 1 });
const HALF_A_SECOND = afterOneFrame('time.sleep(0.5)');

t.test('a stop ends every process and removes the work folder', async (t) => {
  await drawing(service, { code: ENDLESS, owner: 'stopped' });
  await enqueue(service, { owner: 'waiting' });
  const before = processesBelow(process.pid);
  t.ok(before.length > 2, 'zygote and scene run');
  await service.stop();
  await ended(before, 0);
  t.notOk((await readdir(folder)).includes('work'));
});

t.test('a stopped service rejects jobs and can be stopped again', async (t) => {
  await service.stop();
  t.match(service.status(), { ready: false, running: 0 });
  await t.rejects(enqueue(service, {}), { code: 'not_running' });
});

t.test('after a restart, jobs are rendered again, and the stop is not counted as an attempt', async (t) => {
  await service.start();
  const [waiting] = await service.list({ owner: 'waiting' });
  const [stopped] = await service.list({ owner: 'stopped' });
  await progressed(service, `${stopped?.jobId}`, ({ frames }) => frames > 0);
  t.match(await service.cancel(`${stopped?.jobId}`), { error: 'Canceled', attempts: 1 });
  t.match(await service.wait(`${waiting?.jobId}`), { status: 'completed', attempts: 1 });
});

t.test('a stop with a grace period lets running jobs finish', async (t) => {
  const running = await drawing(service, { code: HALF_A_SECOND });
  const waiting = await enqueue(service, {});
  await service.stop({ graceMs: 30_000 });
  await service.start();
  t.match(await service.get(running.jobId), { status: 'completed', attempts: 1 });
  t.match(await service.wait(waiting.jobId), { status: 'completed', attempts: 1 });
});

t.test('a stop with a grace period ends immediately when nothing is running', async (t) => {
  const begunMs = performance.now();
  await service.stop({ graceMs: 30_000 });
  t.ok(performance.now() - begunMs < 10_000);
  await service.start();
  t.match(await render(service, {}), { status: 'completed' });
});
