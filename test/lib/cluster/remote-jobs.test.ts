import { EventEmitter } from 'node:events';
import t, { type Test } from 'tap';
import { systemRandom } from '../../../lib/base/random.ts';
import { RemoteJobs } from '../../../lib/cluster/remote-jobs.ts';
import { LocalSignals } from '../../../lib/index.ts';
import type { JobRecord } from '../../../lib/model/job.ts';
import type { JobEvents } from '../../../lib/model/job-events.ts';
import type { RenderProgress } from '../../../lib/model/render-task.ts';
import type { Signal } from '../../../lib/storage/signals.ts';
import { turn } from '../../../lib/time/clock.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import { jobRecord } from '../../fixtures/job-record.ts';

// One service changes and renders jobs; another, here called the watcher, follows them.

const GATHER_MS = 50;
const POLL_MS = 2_000;
const SAY_AGAIN_MS = 10_000;
const HEARD_MS = 30_000;
const PROGRESS_MS = 500;
const PREVIEW_MS = 1_000;
const PROGRESS: RenderProgress = { stage: 'rendering', frames: 2, seconds: 0.5 };
const LATER: RenderProgress = { stage: 'rendering', frames: 9, seconds: 1 };
const JPEG = Buffer.from('picture');

interface Side {
  jobs: RemoteJobs;
  /** Events of its own jobs. */
  own: JobEvents;
  /** What it emits about the jobs of others. */
  heard: unknown[];
  followed: Set<string>;
  running: Map<string, RenderProgress>;
}

class Pair {
  readonly clock = new FakeClock('2026-11-21T10:00:00Z');
  readonly sent: Signal[] = [];
  readonly stored = new Map<string, JobRecord>();
  /** The jobs that were read one by one, and those whose states were read together. */
  readonly reads: string[] = [];
  readonly rounds: string[][] = [];
  readonly signals = new LocalSignals();
  readonly worker: Side;
  readonly watcher: Side;
  readonly isShared: boolean;

  constructor(t: Test, { isShared = true } = {}) {
    this.isShared = isShared;
    this.clock.advance(60 * POLL_MS);
    this.worker = this.#side(t);
    this.watcher = this.#side(t);
    this.signals.subscribe((signal) => void this.sent.push(signal));
  }

  #side(t: Test): Side {
    const own: JobEvents = new EventEmitter();
    const followed = new Set<string>();
    const running = new Map<string, RenderProgress>();
    const jobs = new RemoteJobs({
      storage: {
        isShared: this.isShared,
        getJob: async (jobId) => this.#read(jobId),
        jobStates: async (jobIds) => this.#states(jobIds),
      },
      signals: this.signals,
      events: own,
      followed: () => followed,
      progressHere: (jobId) => running.get(jobId),
      clock: this.clock,
      random: systemRandom,
    });
    const heard: unknown[] = [];
    jobs.events.on('change', ({ jobId, phase, attempts }) => heard.push(['change', jobId, phase, attempts]));
    jobs.events.on('progress', (...args) => heard.push(['progress', ...args]));
    jobs.events.on('preview', (...args) => heard.push(['preview', ...args]));
    jobs.changes.on('changed', ({ jobId, phase }) => heard.push(['changed', jobId, phase]));
    jobs.start();
    t.teardown(() => jobs.stop());
    return { jobs, own, heard, followed, running };
  }

  #read(jobId: string): JobRecord | undefined {
    this.reads.push(jobId);
    return this.stored.get(jobId);
  }

  #states(jobIds: readonly string[]): JobRecord[] {
    this.rounds.push([...jobIds]);
    return jobIds.flatMap((jobId) => this.stored.get(jobId) ?? []);
  }

  /** A change by the worker, stored and announced. */
  change(job: JobRecord): void {
    this.stored.set(job.jobId, job);
    this.worker.own.emit('change', job);
    this.clock.advance(GATHER_MS);
  }

  async poll(): Promise<void> {
    this.clock.advance(POLL_MS);
    await turn();
  }

  /** The signals since the last call. */
  signalsOf<Kind extends Signal['kind']>(kind: Kind): Extract<Signal, { kind: Kind }>[] {
    return this.sent.splice(0).filter((signal) => signal.kind === kind) as Extract<Signal, { kind: Kind }>[];
  }

  /** What a side has emitted since the last call. */
  heardBy({ heard }: Side): unknown[] {
    return heard.splice(0);
  }
}

t.test('changes within 50 ms are announced together, the last of each job', (t) => {
  const pair = new Pair(t);
  const { clock, worker, watcher } = pair;
  worker.own.emit('change', jobRecord('1', { phase: 'running', attempts: 1 }));
  worker.own.emit('change', jobRecord('2', { owner: 'Zoë' }));
  clock.advance(GATHER_MS - 1);
  worker.own.emit('change', jobRecord('1', { phase: 'failed', attempts: 1, failedBy: 'scene' }));
  t.same(pair.sent, []);
  clock.advance(1);
  const [signal, ...others] = pair.signalsOf('changed');
  t.same(others, []);
  t.strictSame(signal?.jobs, [
    {
      jobId: '1',
      owner: 'a',
      phase: 'failed',
      attempts: 1,
      durationMs: 0,
      completedAtMs: 0,
      failedBy: 'scene',
    },
    { jobId: '2', owner: 'Zoë', phase: 'queued', attempts: 0, durationMs: null, completedAtMs: null },
  ]);
  t.same(pair.heardBy(watcher), [
    ['changed', '1', 'failed'],
    ['changed', '2', 'queued'],
  ]);
  t.same(pair.heardBy(worker), [], 'a process does not hear itself');
  clock.advance(GATHER_MS);
  t.same(pair.sent, [], 'once');
  worker.own.emit('change', jobRecord('3'));
  clock.advance(GATHER_MS);
  t.equal(pair.signalsOf('changed').length, 1, 'the next change is announced, too');
  t.end();
});

t.test('a signal names at most 100 jobs', (t) => {
  const pair = new Pair(t);
  const changed = (jobs: number) => {
    for (let i = 0; i < jobs; i++) pair.worker.own.emit('change', jobRecord(String(i)));
    pair.clock.advance(GATHER_MS);
    return pair.signalsOf('changed').map((signal) => signal.jobs.map(({ jobId }) => Number(jobId)));
  };
  const numbers = (from: number, until: number) => Array.from({ length: until - from }, (_, i) => from + i);
  t.same(changed(100), [numbers(0, 100)]);
  t.same(changed(201), [numbers(0, 100), numbers(100, 200), [200]]);
  for (const jobId of numbers(0, 101)) pair.watcher.followed.add(String(jobId));
  pair.clock.advance(POLL_MS);
  t.same(
    pair.signalsOf('watched').map(({ jobIds }) => jobIds.map(Number)),
    [numbers(0, 100), [100]],
  );
  t.end();
});

t.test('a stop announces what was gathered, and ends everything', async (t) => {
  const pair = new Pair(t);
  const { clock, worker, watcher } = pair;
  worker.jobs.stop();
  t.same(pair.sent, [], 'there is nothing to announce');
  worker.jobs.start();
  worker.own.emit('change', jobRecord('1'));
  worker.jobs.stop();
  t.equal(pair.signalsOf('changed').length, 1);
  clock.advance(GATHER_MS);
  t.same(pair.sent, []);
  pair.heardBy(watcher);
  watcher.followed.add('1');
  watcher.jobs.stop();
  clock.advance(10 * POLL_MS);
  pair.signals.publish({ kind: 'progress', from: 'another', jobId: '1', progress: PROGRESS });
  await turn();
  t.same(pair.heardBy(watcher), []);
  t.same(pair.rounds, []);
  t.equal(clock.nextInMs, undefined, 'no timer is left');
});

t.test('a second start replaces the first', async (t) => {
  const pair = new Pair(t);
  pair.watcher.jobs.start();
  pair.watcher.followed.add('1');
  await pair.poll();
  t.same(pair.rounds, [['1']]);
  pair.signals.publish({ kind: 'progress', from: 'another', jobId: '1', progress: PROGRESS });
  t.same(pair.heardBy(pair.watcher), [['progress', '1', PROGRESS]]);
});

t.test('in a storage of one process, nothing is exchanged', (t) => {
  const pair = new Pair(t, { isShared: false });
  const { clock, worker, watcher } = pair;
  watcher.followed.add('1');
  worker.running.set('1', PROGRESS);
  pair.change(jobRecord('1', { phase: 'running' }));
  worker.own.emit('progress', '1', PROGRESS);
  worker.own.emit('preview', '1', JPEG);
  watcher.jobs.watch('1');
  t.equal(watcher.jobs.progress('1'), undefined);
  pair.signals.publish({ kind: 'progress', from: 'another', jobId: '1', progress: PROGRESS });
  pair.sent.pop();
  clock.advance(10 * POLL_MS);
  t.same(pair.sent, []);
  t.same(pair.heardBy(watcher), []);
  t.equal(clock.nextInMs, undefined);
  t.end();
});

t.test('a job whose progress is asked for is watched, and announced again after 10 s', (t) => {
  for (const ask of ['progress', 'watch'] as const) {
    const pair = new Pair(t);
    const { clock, watcher } = pair;
    watcher.jobs[ask]('1');
    t.match(pair.sent, [{ kind: 'watched', jobIds: ['1'] }]);
    clock.advance(SAY_AGAIN_MS - 1);
    watcher.jobs[ask]('1');
    t.equal(pair.signalsOf('watched').length, 1);
    clock.advance(1);
    watcher.jobs[ask]('1');
    watcher.jobs[ask]('2');
    t.same(
      pair.signalsOf('watched').map(({ jobIds }) => jobIds),
      [['1'], ['2']],
    );
    watcher.running.set('3', PROGRESS);
    watcher.jobs[ask]('3');
    t.same(pair.sent, [], 'it is rendered here');
  }
  t.end();
});

t.test('followed jobs are announced every 10 s', async (t) => {
  const pair = new Pair(t);
  pair.watcher.followed.add('1');
  await pair.poll();
  t.match(pair.signalsOf('watched'), [{ jobIds: ['1'] }]);
  for (let polls = 1; polls < SAY_AGAIN_MS / POLL_MS; polls++) await pair.poll();
  t.same(pair.signalsOf('watched'), []);
  await pair.poll();
  t.match(pair.signalsOf('watched'), [{ jobIds: ['1'] }]);
});

t.test('the known progress of a watched job is sent at once, and changes at most twice a second', (t) => {
  const pair = new Pair(t);
  const { clock, worker, watcher } = pair;
  worker.running.set('1', PROGRESS);
  worker.own.emit('progress', '1', PROGRESS);
  worker.own.emit('preview', '1', JPEG);
  t.same(pair.sent, [], 'it is not watched yet');
  t.same(watcher.jobs.progress('1'), PROGRESS);
  t.same(pair.heardBy(watcher), [['progress', '1', PROGRESS]]);
  worker.own.emit('preview', '1', JPEG);
  t.same(pair.heardBy(watcher), [['preview', '1', JPEG]], 'pictures have their own interval');

  clock.advance(PROGRESS_MS - 1);
  worker.own.emit('progress', '1', LATER);
  t.same(pair.heardBy(watcher), []);
  clock.advance(1);
  worker.own.emit('progress', '1', LATER);
  t.same(pair.heardBy(watcher), [['progress', '1', LATER]]);
  t.same(watcher.jobs.progress('1'), LATER);

  clock.advance(PREVIEW_MS - PROGRESS_MS - 1);
  worker.own.emit('preview', '1', JPEG);
  t.same(pair.heardBy(watcher), []);
  clock.advance(1);
  worker.own.emit('preview', '1', JPEG);
  t.same(pair.heardBy(watcher), [['preview', '1', JPEG]]);
  t.same(pair.heardBy(worker), [], 'a process does not hear itself');
  t.end();
});

t.test('a poll does not shorten the interval between pictures', (t) => {
  const pair = new Pair(t);
  const { clock, worker, watcher } = pair;
  watcher.jobs.watch('1');
  clock.advance(POLL_MS - 100);
  worker.own.emit('preview', '1', JPEG);
  clock.advance(200);
  worker.own.emit('preview', '1', JPEG);
  t.equal(pair.signalsOf('preview').length, 1);
  t.end();
});

t.test('a job is watched for 30 s', (t) => {
  const pair = new Pair(t);
  const { clock, worker, watcher } = pair;
  watcher.jobs.watch('1');
  watcher.followed.add('1');
  watcher.jobs.stop(); // It announces the job no more, but its subscription stays.
  clock.advance(HEARD_MS);
  pair.sent.length = 0;
  worker.own.emit('progress', '1', PROGRESS);
  t.equal(pair.signalsOf('progress').length, 1);
  clock.advance(PROGRESS_MS);
  worker.own.emit('progress', '1', PROGRESS);
  worker.own.emit('preview', '1', JPEG);
  t.same(pair.sent, []);
  t.end();
});

t.test('a job that is no longer running is not watched', (t) => {
  const pair = new Pair(t);
  const { worker, watcher } = pair;
  watcher.jobs.watch('1');
  worker.own.emit('change', jobRecord('1', { phase: 'running' }));
  worker.own.emit('progress', '1', PROGRESS);
  t.equal(pair.signalsOf('progress').length, 1);
  worker.own.emit('change', jobRecord('1', { phase: 'queued' }));
  pair.clock.advance(PROGRESS_MS);
  worker.own.emit('progress', '1', PROGRESS);
  t.same(pair.signalsOf('progress'), []);
  t.end();
});

t.test('at most 10,000 jobs are watched', (t) => {
  const pair = new Pair(t);
  const jobIds = Array.from({ length: 10_001 }, (_, number) => String(number));
  pair.signals.publish({ kind: 'watched', from: 'another', jobIds });
  pair.sent.length = 0;
  for (const jobId of ['9999', '10000']) pair.worker.own.emit('progress', jobId, PROGRESS);
  t.same(
    pair.signalsOf('progress').map(({ jobId }) => jobId),
    ['9999'],
  );
  t.end();
});

t.test('reports of jobs that were not asked for are ignored', (t) => {
  const pair = new Pair(t);
  const { clock, watcher } = pair;
  const report = () => {
    pair.signals.publish({ kind: 'progress', from: 'another', jobId: '1', progress: PROGRESS });
    const jpeg = JPEG.toString('base64');
    pair.signals.publish({ kind: 'preview', from: 'another', jobId: '1', jpeg });
    return pair.heardBy(watcher);
  };
  const both = [
    ['progress', '1', PROGRESS],
    ['preview', '1', JPEG],
  ];
  t.same(report(), []);
  t.equal(watcher.jobs.progress('1'), undefined);
  clock.advance(HEARD_MS - 1);
  t.same(report(), both, 'for half a minute after it was asked for');
  clock.advance(1);
  t.same(report(), []);
  watcher.followed.add('1');
  t.same(report(), both, 'while it is followed');
  t.end();
});

t.test('the last progress is kept until the job is no longer running, or for 30 s', async (t) => {
  const pair = new Pair(t);
  const { watcher } = pair;
  const known = () => watcher.jobs.progress('1');
  const report = () =>
    pair.signals.publish({ kind: 'progress', from: 'another', jobId: '1', progress: PROGRESS });
  watcher.followed.add('1');
  report();
  pair.change(jobRecord('1', { phase: 'running' }));
  t.same(known(), PROGRESS);
  pair.change(jobRecord('1', { phase: 'completed' }));
  t.equal(known(), undefined);
  pair.clock.advance(POLL_MS - 2 * GATHER_MS);
  report();
  for (let ms = 0; ms < HEARD_MS; ms += POLL_MS) await pair.poll();
  t.same(known(), PROGRESS);
  await pair.poll();
  t.equal(known(), undefined);
});

t.test('the last progress is removed when this process ends the job', async (t) => {
  const pair = new Pair(t);
  const { worker, watcher } = pair;
  worker.running.set('1', PROGRESS);
  watcher.jobs.progress('1');
  t.same(watcher.jobs.progress('1'), PROGRESS);
  watcher.own.emit('change', jobRecord('1', { phase: 'failed' }));
  t.equal(watcher.jobs.progress('1'), undefined);
});

t.test('a followed job is read when another process has changed it, and emitted if it differs', async (t) => {
  const pair = new Pair(t);
  const { watcher, worker } = pair;
  watcher.followed.add('1');
  const heard = async (change: Partial<JobRecord>) => {
    pair.change(jobRecord('1', change));
    await turn();
    return pair.heardBy(watcher).slice(1); // after `changed`
  };
  t.same(await heard({ phase: 'reserving' }), [], 'it does not exist for anybody yet');
  t.same(await heard({}), [['change', '1', 'queued', 0]]);
  t.same(await heard({}), [], 'nothing has changed');
  t.same(await heard({ phase: 'running' }), [['change', '1', 'running', 0]]);
  t.same(await heard({ phase: 'running', attempts: 1 }), [['change', '1', 'running', 1]]);
  t.same(pair.reads.splice(0), ['1', '1', '1', '1', '1']);
  pair.change(jobRecord('2'));
  await turn();
  t.same(pair.reads, [], 'it is not followed');
  t.same(pair.heardBy(worker), []);
});

t.test('changes whose announcement was lost are found by polls', async (t) => {
  const pair = new Pair(t);
  const { watcher } = pair;
  watcher.followed.add('1');
  await pair.poll();
  t.same(pair.heardBy(watcher), [], 'there is no such job');
  pair.stored.set('1', jobRecord('1', { phase: 'running' }));
  await pair.poll();
  t.same(pair.heardBy(watcher), [['change', '1', 'running', 0]]);
  await pair.poll();
  t.same(pair.heardBy(watcher), []);
});

t.test('a change by this process is not emitted again', async (t) => {
  const pair = new Pair(t);
  pair.worker.followed.add('1');
  pair.change(jobRecord('1', { phase: 'running' }));
  await pair.poll();
  t.same(pair.rounds, [['1']]);
  t.same(pair.reads, []);
  t.same(pair.heardBy(pair.worker), []);
});

t.test('a poll reads the states of all followed jobs together, and the jobs that have changed', async (t) => {
  const pair = new Pair(t);
  const ids = Array.from({ length: 700 }, (_, number) => `${number}`);
  for (const jobId of ids) {
    pair.watcher.followed.add(jobId);
    pair.stored.set(jobId, jobRecord(jobId));
  }
  await pair.poll();
  t.equal(pair.heardBy(pair.watcher).length, 700);
  pair.reads.length = 0;
  pair.stored.set('5', jobRecord('5', { phase: 'running' }));
  await pair.poll();
  t.same(pair.heardBy(pair.watcher), [['change', '5', 'running', 0]]);
  t.same(pair.reads, ['5']);
  t.same(pair.rounds, [ids, ids]);
});

t.test('what was seen of a job is forgotten when it is no longer followed', async (t) => {
  const pair = new Pair(t);
  const { watcher } = pair;
  const polled = async () => {
    await pair.poll();
    return pair.heardBy(watcher);
  };
  pair.stored.set('1', jobRecord('1'));
  watcher.followed.add('1');
  t.equal((await polled()).length, 1);
  watcher.followed.delete('1');
  t.same(await polled(), []);
  watcher.followed.add('1');
  t.equal((await polled()).length, 1, 'by a poll');
  watcher.followed.delete('1');
  watcher.own.emit('change', jobRecord('2'));
  pair.clock.advance(GATHER_MS);
  watcher.followed.add('1');
  t.equal((await polled()).length, 1, 'by an announcement');
});

t.test('followed jobs are not read again before the last reads are answered', async (t) => {
  const clock = new FakeClock('2026-11-21T10:00:00Z');
  const reads: PromiseWithResolvers<JobRecord[]>[] = [];
  const jobStates = () => {
    const read = Promise.withResolvers<JobRecord[]>();
    reads.push(read);
    return read.promise;
  };
  const changes: string[] = [];
  const jobs = new RemoteJobs({
    storage: { isShared: true, getJob: async () => jobRecord('1'), jobStates },
    signals: new LocalSignals(),
    events: new EventEmitter(),
    followed: () => ['1'],
    progressHere: () => undefined,
    clock,
    random: systemRandom,
  });
  jobs.events.on('change', ({ jobId }) => void changes.push(jobId));
  jobs.start();
  t.teardown(() => jobs.stop());
  for (let polls = 0; polls < 10; polls++) clock.advance(POLL_MS);
  t.equal(reads.length, 1);
  reads[0]?.reject(new Error('the database is away'));
  await turn();
  clock.advance(POLL_MS);
  t.equal(reads.length, 2);
  reads[1]?.resolve([jobRecord('1')]);
  await turn();
  t.same(changes, ['1']);
});
