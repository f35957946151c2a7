import t from 'tap';
import type { Job } from '../../../../lib/index.ts';
import { JobEnds } from '../../../../lib/jobs/watch/job-ends.ts';
import { turn } from '../../../../lib/time/clock.ts';

const jobIn = (status: Job['status']) => ({ status }) as Job;

t.test('a wait ends with the job, as it is then', async (t) => {
  const ends = new JobEnds();
  let status: Job['status'] = 'running';
  const waited = ends.wait('1', async () => jobIn(status));
  let hasEnded = false;
  void waited.then(() => {
    hasEnded = true;
  });
  ends.notify('2');
  await turn();
  t.notOk(hasEnded);
  status = 'failed';
  ends.notify('1');
  t.same(await waited, { status: 'failed' });
});

t.test('a wait for a job that has ended returns immediately', async (t) => {
  for (const status of ['completed', 'failed'] as const)
    t.same(await new JobEnds().wait('1', async () => jobIn(status)), { status });
});

t.test('a job that ends while its state is read is not missed', async (t) => {
  const ends = new JobEnds();
  let looks = 0;
  const look = async () => {
    looks += 1;
    if (looks > 1) return jobIn('completed');
    ends.notify('1');
    return jobIn('running');
  };
  t.same(await ends.wait('1', look), { status: 'completed' });
});

t.test('a stop rejects waits, and later waits work', async (t) => {
  const ends = new JobEnds();
  const waited = ends.wait('1', async () => jobIn('queued'));
  ends.stop();
  await t.rejects(waited, { code: 'not_running', message: /^The service stopped before/, cause: Error });
  const later = ends.wait('1', async () => jobIn('queued'));
  const ended = t.rejects(later, { code: 'not_running' });
  await turn();
  ends.stop();
  await ended;
});

t.test('a wait can be aborted', async (t) => {
  for (const look of [async () => jobIn('queued'), () => new Promise<Job>(() => {})]) {
    const abort = new AbortController();
    const waited = new JobEnds().wait('1', look, abort.signal);
    await turn();
    abort.abort(new Error('the reason'));
    await t.rejects(waited, { message: 'the reason' });
  }
});

t.test('an aborted wait rejects with the reason, also when the service stops', async (t) => {
  const ends = new JobEnds();
  const abort = new AbortController();
  const waited = ends.wait('1', async () => jobIn('queued'), abort.signal);
  await turn();
  abort.abort();
  ends.stop();
  await t.rejects(waited, { name: 'AbortError' });
});

t.test('an error of the look rejects the wait', async (t) => {
  const look = async () => {
    throw new Error('unreadable');
  };
  await t.rejects(new JobEnds().wait('1', look), { message: 'unreadable' });
});
