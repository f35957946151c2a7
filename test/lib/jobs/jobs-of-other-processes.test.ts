import { EventEmitter, once } from 'node:events';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { systemRandom } from '../../../lib/base/random.ts';
import { RemoteJobs } from '../../../lib/cluster/remote-jobs.ts';
import {
  type BudgetOptions,
  FileAssetStore,
  type JobEvent,
  RenderService,
  type Role,
} from '../../../lib/index.ts';
import type { JobEvents } from '../../../lib/model/job-events.ts';
import type { RenderProgress } from '../../../lib/model/render-task.ts';
import type { PostgresStorage } from '../../../lib/postgres/index.ts';
import { systemClock } from '../../../lib/time/clock.ts';
import { jobRecord } from '../../fixtures/job-record.ts';
import { newSchema, openListening } from '../../fixtures/postgres/database.ts';
import { testFolder } from '../../fixtures/test-folder.ts';

const PYTHON = join(import.meta.dirname, '../../fixtures/instant-renderer/bin/python');
const REQUEST = { owner: 'a', className: 'A', code: 'x' };

interface Place {
  schema: string;
  folder: string;
  budgets: Partial<BudgetOptions>;
}

async function processOf(t: Test, roles: Role[], { schema, folder, budgets }: Place) {
  const storage = await openListening(t, { schema });
  const workFolder = join(folder, `work-${roles.join('-')}`);
  const service = new RenderService({
    storage,
    assets: new FileAssetStore(join(folder, 'assets')),
    workFolder,
    roles,
    budgets,
    workers: 1,
    renderer: { python: PYTHON, insecureNoSandbox: true },
  });
  t.teardown(() => service.stop());
  await service.start();
  return service;
}

async function apiAndWorker(t: Test, budgets: Partial<BudgetOptions> = {}) {
  const place = { schema: newSchema(), folder: testFolder(t), budgets };
  const api = await processOf(t, ['api', 'upkeep'], place);
  const worker = await processOf(t, ['worker'], place);
  return { api, worker };
}

t.test('a process waits for and follows jobs that another renders, and gets their events', async (t) => {
  const { api } = await apiAndWorker(t);
  const heard: string[] = [];
  const heardEnd = Promise.withResolvers<void>();
  api.on('remoteJob', ({ owner, status }) => {
    heard.push(`${owner} ${status}`);
    if (status === 'completed') heardEnd.resolve();
  });
  const { jobId } = await api.enqueue(REQUEST);
  const events: JobEvent[] = [];
  for await (const event of api.follow(jobId)) events.push(event);
  const statuses = events.flatMap((event) => (event.type === 'job' ? event.job.status : []));
  t.equal(statuses[0], 'queued');
  t.equal(statuses.at(-1), 'completed');
  t.equal(new Set(statuses).size, statuses.length, 'each status once');
  t.equal((await api.wait(jobId)).status, 'completed');
  await heardEnd.promise; // The follower may have read the end before its signal arrived.
  t.equal(heard.at(-1), 'a completed'); // Changes within a moment are announced together.
  const second = await api.enqueue(REQUEST);
  t.match(await api.wait(second.jobId), { status: 'completed' });
});

t.test('a process cancels a job that another renders, and the render stops', async (t) => {
  const { api, worker } = await apiAndWorker(t);
  const running = once(worker, 'job');
  const { jobId } = await api.enqueue({ ...REQUEST, code: 'linger' });
  await running;
  t.match(await api.cancel(jobId), { status: 'failed', error: 'Canceled' });
  // Its worker is free again.
  const next = await api.enqueue(REQUEST);
  t.match(await api.wait(next.jobId), { status: 'completed' });
});

t.test('a process pauses the queue of all', async (t) => {
  const { api, worker } = await apiAndWorker(t);
  await api.pauseQueue();
  while (worker.status().queuePausedAt === null) await new Promise((resolve) => setImmediate(resolve));
  const { jobId } = await api.enqueue(REQUEST);
  t.match(await api.get(jobId), { status: 'queued' });
  await api.resumeQueue();
  t.match(await api.wait(jobId), { status: 'completed' });
});

t.test('failures elsewhere count against the budget of their owner', async (t) => {
  const { api } = await apiAndWorker(t, { failuresPerHour: 1 });
  const heard = new Promise<void>((resolve) => {
    api.on('remoteJob', ({ status }) => void (status === 'failed' && resolve()));
  });
  await api.enqueue({ ...REQUEST, code: 'fail' });
  await heard;
  await t.rejects(api.enqueue(REQUEST), { code: 'too_many_failures' });
});

t.test('progress and previews are sent of watched jobs only', async (t) => {
  const schema = newSchema();
  const progress: RenderProgress = { stage: 'rendering', frames: 2, seconds: 0.5 };
  const jpeg = Buffer.alloc(30_000, 'picture');
  const processes = await Promise.all(
    [0, 1].map(async () => {
      const storage: PostgresStorage = await openListening(t, { schema });
      const events: JobEvents = new EventEmitter();
      const running = new Set<string>();
      const jobs = new RemoteJobs({
        storage,
        signals: storage.signals,
        events,
        followed: () => [],
        progressHere: (jobId) => (running.has(jobId) ? progress : undefined),
        clock: systemClock,
        random: systemRandom,
      });
      jobs.start();
      t.teardown(() => jobs.stop());
      return { jobs, events, running };
    }),
  );
  const [one, other] = processes as [(typeof processes)[0], (typeof processes)[0]];
  one.running.add('1');
  const told: string[] = [];
  other.jobs.events.on('progress', (jobId) => void told.push(jobId));

  // Not watched: nothing arrives before what is said afterwards.
  one.events.emit('progress', '1', progress);
  const changed = once(other.jobs.changes, 'changed');
  one.events.emit('change', jobRecord('2', { owner: 'Zoë' }));
  t.match((await changed)[0], { jobId: '2', owner: 'Zoë', phase: 'queued' });
  t.same(told, []);

  const first = once(other.jobs.events, 'progress');
  t.equal(other.jobs.progress('1'), undefined);
  t.same(await first, ['1', progress], 'known progress is sent immediately');
  t.same(other.jobs.progress('1'), progress);

  const preview = once(other.jobs.events, 'preview');
  one.events.emit('preview', '1', jpeg);
  t.same(await preview, ['1', jpeg], 'in several messages');
});
