import t from 'tap';
import type { RenderService } from '../../../lib/index.ts';
import { zygotesBelow } from '../../fixtures/processes.ts';
import { drawing, ENDLESS, enqueue, startService } from '../../fixtures/renders.ts';

t.test('two workers render two jobs at the same time, and a third one waits', async (t) => {
  const service = await startService(t, { workers: 2 });
  const first = await drawing(service, { code: ENDLESS });
  const second = await drawing(service, { code: ENDLESS });
  const third = await enqueue(service, {});
  t.match(service.status(), { ready: true, workers: 2, idleWorkers: 0, running: 2, queued: 1 });
  t.equal(zygotesBelow(process.pid).length, 2);
  await service.cancel(second.jobId);
  t.match(await service.wait(third.jobId), { status: 'completed' });
  t.match(await service.get(first.jobId), { status: 'running' });
});

t.test('owners take turns, and each one’s jobs keep their order', async (t) => {
  const service = await startService(t, { workers: 1 });
  const blocker = await drawing(service, { code: ENDLESS, owner: 'zoe' });
  const names: Record<string, string> = {};
  for (const name of ['a1', 'a2', 'a3', 'b1', 'b2', 'c1']) {
    const { jobId } = await enqueue(service, { owner: name.charAt(0), className: 'OneFrame', fps: 1 });
    names[jobId] = name;
  }
  const begun = begunJobs(service);
  await service.cancel(blocker.jobId);
  for (const jobId of Object.keys(names)) t.match(await service.wait(jobId), { status: 'completed' });
  t.same(
    begun.map((jobId) => names[jobId]),
    ['a1', 'b1', 'c1', 'a2', 'b2', 'a3'],
  );
});

/** The ids of jobs in the order in which they start from now on. */
function begunJobs(service: RenderService): string[] {
  const begun: string[] = [];
  service.on('job', ({ jobId, status }) => {
    if (status === 'running') begun.push(jobId);
  });
  return begun;
}
