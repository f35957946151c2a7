import t from 'tap';
import type { JobEvent, RenderService } from '../../lib/index.ts';
import { instantService } from '../fixtures/instant-service.ts';

const request = { owner: 'ada', className: 'Main', code: 'a scene' };

const stateOf = (event: JobEvent) => (event.type === 'job' ? event.job.status : event.type);

async function statesOf(service: RenderService, jobId: string) {
  const states: string[] = [];
  for await (const event of service.follow(jobId)) states.push(stateOf(event));
  return states;
}

t.test('follows a job from its current state to its end', async (t) => {
  const service = await instantService(t);
  await service.pauseQueue();
  const { jobId } = await service.enqueue(request);
  const following = service.follow(jobId);
  t.match((await following.next()).value, { type: 'job', job: { jobId, status: 'queued' } });
  await service.resumeQueue();
  const states: string[] = [];
  for await (const event of following) states.push(stateOf(event));
  t.equal(states[0], 'running');
  t.equal(states.at(-1), 'completed');
  t.equal(states.filter((state) => state === 'completed').length, 1);
  t.same(await statesOf(service, jobId), ['completed'], 'a job that has ended has one event');
});

t.test('a slow reader gets the latest progress only, and every change', async (t) => {
  const service = await instantService(t);
  await service.pauseQueue();
  const { jobId } = await service.enqueue(request);
  const following = service.follow(jobId);
  await following.next();
  await service.resumeQueue();
  await service.wait(jobId);
  const states: string[] = [];
  for await (const event of following) states.push(stateOf(event));
  t.same(states, ['running', 'completed']);
});

t.test('any number may follow and listen without a warning', async (t) => {
  const warnings: Error[] = [];
  const note = (warning: Error) => void warnings.push(warning);
  process.on('warning', note);
  t.teardown(() => process.off('warning', note));
  const service = await instantService(t);
  await service.pauseQueue();
  const { jobId } = await service.enqueue(request);
  const { signal } = new AbortController();
  for (let i = 0; i < 30; i++) service.on('job', () => {}).on('progress', () => {});
  const waits = Array.from({ length: 30 }, () => service.wait(jobId, { signal }));
  const followings = Array.from({ length: 30 }, async () => {
    for await (const event of service.follow(jobId, { signal })) if (event.type === 'preview') break;
  });
  await service.resumeQueue();
  await Promise.all([...waits, ...followings]);
  await new Promise(setImmediate);
  t.same(warnings, []);
});

t.test('a signal and a stop end the iteration with an error', async (t) => {
  const service = await instantService(t);
  await service.pauseQueue();
  const { jobId } = await service.enqueue(request);
  const giveUp = new AbortController();
  const aborted = service.follow(jobId, { signal: giveUp.signal });
  await aborted.next();
  const next = aborted.next();
  giveUp.abort();
  await t.rejects(next, { name: 'AbortError' });
  await t.rejects(service.follow(jobId, { signal: giveUp.signal }).next(), { name: 'AbortError' });
  await t.rejects(service.follow(jobId, { owner: 'bob' }).next(), { code: 'not_found' });

  const stopped = service.follow(jobId);
  await stopped.next();
  const last = stopped.next();
  last.catch(() => {});
  await service.stop();
  await t.rejects(last, { code: 'not_running', message: /continues after the next start/ });
});

t.test('`await using` stops the service', async (t) => {
  const service = await instantService(t);
  {
    await using used = service;
    t.ok(used.status().ready);
  }
  t.notOk(service.status().ready);
});
