import { setImmediate } from 'node:timers/promises';
import t from 'tap';
import { ended, processesBelow, zygotesBelow } from '../../fixtures/processes.ts';
import { drawing, ENDLESS, enqueue, render, startService } from '../../fixtures/renders.ts';

const service = await startService(t, { workers: 1 });
const CANCELED = { status: 'failed', error: 'Canceled', creditsCost: 0, artifacts: [] };

t.test('canceling a running job ends it immediately and its processes soon after', async (t) => {
  const { jobId } = await drawing(service, { code: ENDLESS });
  const [zygote] = zygotesBelow(process.pid);
  const scene = processesBelow(zygote?.pid ?? 0);
  t.ok(scene.length > 0, 'the scene runs');
  const job = await service.cancel(jobId);
  t.match(job, { ...CANCELED, attempts: 1 });
  t.ok(job.durationMs, 'its duration is recorded');
  await ended(scene);
});

t.test('a queued job that is canceled does not start', async (t) => {
  const running = await drawing(service, { code: ENDLESS });
  const { jobId } = await enqueue(service, {});
  t.match(await service.cancel(jobId), { ...CANCELED, attempts: 0, durationMs: 0 });
  t.match(service.status(), { queued: 0, running: 1 });
  await service.cancel(running.jobId);
  t.match(await service.get(jobId), { ...CANCELED, attempts: 0 });
});

t.test('a job can be canceled at any point of its start', async (t) => {
  for (let turns = 0; turns < 20; turns += 1) {
    const { jobId } = await enqueue(service, { code: ENDLESS });
    for (let turn = 0; turn < turns; turn += 1) await setImmediate();
    t.match(await service.cancel(jobId), CANCELED, `after ${turns} turns of the event loop`);
  }
});

t.test('a job can be canceled when it is announced as running', async (t) => {
  service.once('job', () => {
    service.once('job', ({ jobId }) => void service.cancel(jobId));
  });
  t.match(await render(service, { code: ENDLESS }), { ...CANCELED, attempts: 1 });
});

t.test('canceling an ended job does not change it', async (t) => {
  const job = await render(service, { className: 'OneFrame' });
  t.same(await service.cancel(job.jobId), job);
});

t.test('jobs of other owners are not found', async (t) => {
  const { jobId } = await drawing(service, { code: ENDLESS, owner: 'ada' });
  await t.rejects(service.cancel(jobId, { owner: 'bob' }), { code: 'not_found' });
  await t.rejects(service.get(jobId, { owner: 'bob' }), { code: 'not_found' });
  t.match(await service.get(jobId, { owner: 'ada' }), { status: 'running' });
  t.match(await service.cancel(jobId, { owner: 'ada' }), CANCELED);
});

t.test('aborting a wait does not affect the job', async (t) => {
  const { jobId } = await drawing(service, { code: ENDLESS });
  await t.rejects(service.wait(jobId, { signal: AbortSignal.abort() }), { name: 'AbortError' });
  t.match(await service.get(jobId), { status: 'running' });
  await service.cancel(jobId);
});
