import { EventEmitter, getEventListeners } from 'node:events';
import t from 'tap';
import { type JobEvent, JobFollowers } from '../../../../lib/jobs/watch/job-followers.ts';
import type { JobRecord } from '../../../../lib/model/job.ts';
import { jobOf } from '../../../../lib/model/job.ts';
import type { JobEvents } from '../../../../lib/model/job-events.ts';
import { turn } from '../../../../lib/time/clock.ts';
import { jobRecord } from '../../../fixtures/job-record.ts';

type Phase = JobRecord['phase'];

function setUp() {
  const events: JobEvents = new EventEmitter();
  const followers = new JobFollowers(events);
  const record = (phase: Phase, jobId = '1') => jobRecord(jobId, { phase });
  const change = (phase: Phase, jobId = '1') => void events.emit('change', record(phase, jobId));
  const progress = (frames: number) =>
    void events.emit('progress', '1', { stage: 'rendering', frames, seconds: 0 });
  const preview = (text: string) => void events.emit('preview', '1', Buffer.from(text));
  const follow = (phase: Phase = 'queued', signal?: AbortSignal) =>
    followers.follow('1', async () => jobOf(record(phase)), signal);
  return { events, followers, record, change, progress, preview, follow };
}

const textOf = (event: JobEvent | undefined) => {
  if (event?.type === 'job') return event.job.status;
  return event?.type === 'progress' ? event.progress.frames : event && String(event.jpeg);
};

async function all(events: AsyncIterable<JobEvent>): Promise<unknown[]> {
  const seen: unknown[] = [];
  for await (const event of events) seen.push(textOf(event));
  return seen;
}

t.test('a job is followed from its current state to its end', async (t) => {
  for (const end of ['completed', 'failed'] as const) {
    const { events, change, progress, preview, follow } = setUp();
    const following = follow();
    const first = (await following.next()).value;
    t.match(first, { type: 'job', job: { jobId: '1', status: 'queued' } });
    const second = following.next();
    await turn();
    change('running', 'another');
    events.emit('progress', 'another', { stage: 'rendering', frames: 9, seconds: 0 });
    change('running');
    t.match((await second).value, { type: 'job', job: { jobId: '1', status: 'running' } });
    for (const [emit, event] of [
      [() => progress(1), { type: 'progress', progress: { stage: 'rendering', frames: 1 } }],
      [() => preview('jpeg'), { type: 'preview', jpeg: Buffer.from('jpeg') }],
      [() => progress(2), { type: 'progress', progress: { frames: 2 } }],
    ] as const) {
      const next = following.next();
      await turn();
      emit();
      t.match((await next).value, event);
    }
    change(end);
    t.same(await all(following), [end]);
    t.same(await all(follow(end)), [end], 'a job that has ended has one event');
  }
});

t.test(
  'a slow consumer gets each change, and only the last progress and preview of an attempt',
  async (t) => {
    const { change, progress, preview, follow } = setUp();
    const following = follow();
    await following.next();
    change('running');
    progress(1);
    preview('a');
    change('queued');
    change('running');
    preview('b');
    progress(2);
    progress(3);
    preview('c');
    for (const expected of ['running', 'queued', 'running', 3, 'c']) {
      t.equal(textOf((await following.next()).value ?? undefined), expected);
    }
    preview('d');
    t.equal(textOf((await following.next()).value ?? undefined), 'd');
    change('failed');
    t.same(await all(following), ['failed']);
  },
);

t.test('a change while the job is read makes it be read again', async (t) => {
  const { followers, record, change, progress } = setUp();
  let reads = 0;
  const following = followers.follow('1', async () => {
    reads += 1;
    progress(reads);
    if (reads === 1) change('running');
    return jobOf(record(reads === 1 ? 'queued' : 'running'));
  });
  t.equal(textOf((await following.next()).value ?? undefined), 'running');
  t.equal(reads, 2);
  t.equal(textOf((await following.next()).value ?? undefined), 2, 'progress after the change is kept');
  change('completed');
  t.same(await all(following), ['completed']);
});

t.test('several followers get all events, also after one has gone', async (t) => {
  const { followers, change, follow } = setUp();
  const [first, second] = [follow(), follow()];
  await Promise.all([first.next(), second.next()]);
  change('running');
  t.equal(textOf((await first.next()).value ?? undefined), 'running');
  await first.return();
  t.equal(followers.size, 1);
  change('completed');
  t.same(await all(second), ['running', 'completed']);
  t.equal(followers.size, 0, 'nothing is kept of jobs that nobody follows');
  const third = follow();
  await third.next();
  change('completed');
  t.same(await all(third), ['completed']);
});

t.test('a signal ends the iteration with its reason', async (t) => {
  const { follow } = setUp();
  const controller = new AbortController();
  const following = follow('queued', controller.signal);
  await following.next();
  const next = following.next();
  await turn();
  const reason = new Error('enough');
  controller.abort(reason);
  await t.rejects(next, reason);
  await t.rejects(follow('completed', controller.signal).next(), reason, 'at once');
  const between = new AbortController();
  const other = follow('queued', between.signal);
  await other.next();
  between.abort(reason);
  await t.rejects(other.next(), reason);
});

t.test('a stop ends all iterations, and later ones are not affected', async (t) => {
  const { followers, change, follow } = setUp();
  const [waiting, idle] = [follow(), follow()];
  await Promise.all([waiting.next(), idle.next()]);
  const next = waiting.next();
  await turn();
  followers.stop();
  await t.rejects(next, { code: 'not_running', message: /continues after the next start/ });
  await t.rejects(idle.next(), { code: 'not_running' });
  const later = follow();
  await later.next();
  change('completed');
  t.same(await all(later), ['completed']);
});

t.test('following leaves no listeners on the signal', async (t) => {
  const { change, follow } = setUp();
  const { signal } = new AbortController();
  const before = getEventListeners(signal, 'abort').length;
  const following = follow('queued', signal);
  await following.next();
  for (const phase of ['running', 'completed'] as const) {
    const next = following.next();
    await turn();
    change(phase);
    await next;
  }
  t.equal(getEventListeners(signal, 'abort').length, before);
});
