import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { type AssetStore, FileAssetStore, type Role, StoredLedger } from '../../../lib/index.ts';
import { forgetJob } from '../../../lib/jobs/end/forget.ts';
import { FileRemoval } from '../../../lib/owner-files/file-removal.ts';
import type { PostgresStorage } from '../../../lib/postgres/index.ts';
import { fakeRenderService } from '../../../lib/testing/index.ts';
import { clock, newJob } from '../../fixtures/books.ts';
import { claimDeliveries, claimJobs } from '../../fixtures/claims.ts';
import { booksOf } from '../../fixtures/postgres/books.ts';
import { newSchema, openPostgres, serverUrl } from '../../fixtures/postgres/database.ts';
import { testFolder } from '../../fixtures/test-folder.ts';

const { NODE_OPTIONS: _, ...env } = process.env;
const PROGRAM = join(import.meta.dirname, '../../fixtures/postgres/claiming-program.ts');

const NO_ASSETS = { delete: async () => {} } as unknown as AssetStore;

async function openBooks(t: Test, schema: string) {
  const storage = await openPostgres(t, { schema });
  return { storage, ...booksOf(storage) };
}

t.test('processes that claim at the same time share the jobs', async (t) => {
  const schema = newSchema();
  const { book, storage, ledger } = await openBooks(t, schema);
  const owners = ['a', 'b', 'c', 'd'];
  const jobs = await Promise.all(
    Array.from({ length: 40 }, (_, i) => book.add({ ...newJob, owner: owners[i % 4] as string })),
  );
  const url = await serverUrl();
  const workers = ['one', 'two', 'three'].map((name) =>
    fork(PROGRAM, [url, schema, name], { execArgv: [], env }),
  );
  await Promise.all(workers.map((worker) => once(worker, 'message')));
  const claimed = await Promise.all(
    workers.map(async (worker) => {
      const told = once(worker, 'message') as Promise<[string[]]>;
      worker.send('go on');
      return (await told)[0];
    }),
  );
  t.same(claimed.flat().sort(), jobs.map(({ job }) => job.jobId).sort());
  const ended = await storage.listJobs({ status: 'completed', limit: 100 });
  t.equal(ended.length, 40);
  t.same((await ledger.audit()).problems, []);
  t.same(await storage.queue.state(), { waiting: 0, running: 0, owners: 0, oldest: null });
});

t.test('jobs that are added, claimed, canceled and ended at the same time leave clean books', async (t) => {
  const schema = newSchema();
  const books = await Promise.all([openBooks(t, schema), openBooks(t, schema)]);
  const [{ storage, ledger }] = books;
  const steps = books.flatMap(({ book }, index) => [
    ...Array.from({ length: 15 }, (_, i) => async () => {
      const owner = 'abc'.charAt(i % 3);
      const idempotency = { key: `${i % 10}`, fingerprint: 'f' };
      const { job } = await book.add({ ...newJob, owner, idempotency });
      if (i % 3 === 0) await book.cancel(job.jobId);
    }),
    ...Array.from({ length: 8 }, () => async () => {
      for (const { claim } of await claimJobs(book, { worker: `${index}`, most: 3 })) {
        await book.claims.renew([claim]);
        await book.finish(claim, { kind: 'completed', costCredits: 1, artifacts: [] }, { durationMs: 5 });
      }
    }),
  ]);
  await Promise.all(steps.map((step) => step()));
  t.same((await ledger.audit()).problems, []);
  const { waiting, running } = await storage.queue.state();
  t.equal((await storage.listJobs({ status: 'queued', limit: 100 })).length, waiting);
  t.equal(running, 0);
  // An idempotency key of an owner adds one job.
  t.equal((await storage.listJobs({ limit: 100 })).length, 30 / 2);
});

t.test('webhooks that processes add, send and forget at the same time are sent once', async (t) => {
  const schema = newSchema();
  const books = await Promise.all([openBooks(t, schema), openBooks(t, schema)]);
  const [{ storage, ledger }] = books;
  const answer = { status: 200, reason: null, detail: null, answer: 'ok', sent: true };
  const sent: string[] = [];
  const send = async ({ deliveries, storage }: (typeof books)[0]) => {
    const claimed = await claimDeliveries(storage, deliveries, { most: 5 });
    for (const delivery of claimed) {
      sent.push(delivery.deliveryId);
      // Undefined when the job was forgotten meanwhile.
      await deliveries.conclude(delivery, answer);
    }
    return claimed.length;
  };
  const fileRemoval = new FileRemoval({ storage, assets: NO_ASSETS, clock });
  const end = async ({ book }: (typeof books)[0], i: number) => {
    const webhookUrl = `https://${'xyz'.charAt(i % 3)}.test/`;
    const { job } = await book.add({ ...newJob, owner: 'ab'.charAt(i % 2), webhookUrl });
    const ended = await book.cancel(job.jobId);
    if (i % 4 === 0 && ended) await forgetJob({ storage, clock, assets: NO_ASSETS, fileRemoval }, ended.job);
  };
  await Promise.all(
    books.flatMap((one) => [
      ...Array.from({ length: 16 }, (_, i) => end(one, i)),
      ...Array.from({ length: 6 }, () => send(one)),
    ]),
  );
  while ((await send(books[0])) > 0);
  t.equal(new Set(sent).size, sent.length);
  t.ok(sent.length >= 24 && sent.length <= 32, 'some were forgotten before');
  t.same((await ledger.audit()).problems, []);
  t.same(await storage.deliveries.listUnfinished(), []);
});

t.test('no owner gets more jobs run at the same time than it may', async (t) => {
  const schema = newSchema();
  const books = await Promise.all([openBooks(t, schema), openBooks(t, schema), openBooks(t, schema)]);
  for (let i = 0; i < 9; i++) await books[0]?.book.add(newJob);
  const wanted = () => ({ most: 3, mostOfOthers: 3 });
  const request = { wanted, maxRunningPerOwner: 4, maySuspect: true };
  const precedenceOf = () => ({ yields: false, inGoodStanding: true });
  const claimed = await Promise.all(
    books.map(({ book }, i) => book.claims.claim(`${i}`, { ...request, precedenceOf })),
  );
  t.equal(claimed.flat().length, 4);
});

t.test('a service renders with everything in Postgres', async (t) => {
  const storage: PostgresStorage = await openPostgres(t);
  await storage.stop();
  const folder = testFolder(t);
  const ledger = new StoredLedger({ store: storage.ledgerStore });
  const service = fakeRenderService({
    storage,
    ledger,
    assets: new FileAssetStore(join(folder, 'artifacts')),
    workFolder: join(folder, 'work'),
    workers: 2,
  });
  await service.start();
  const scene = { className: 'A', quality: 'low' as const };
  const good = await service.enqueue({ ...scene, owner: 'a', code: 'class A(Scene): ...' });
  t.match(await service.wait(good.jobId), { status: 'completed', creditsCost: 1 });
  const { stream } = await service.openArtifact(good.jobId, 'video.mp4');
  stream.destroy();
  await service.forget(good.jobId);
  t.same(await ledger.audit(), { accounts: 1, entries: 3, jobs: 1, problems: [] });
  await service.stop();
  await service.start();
  t.match(await service.get(good.jobId), { status: 'completed', creditsCost: 1 });
  await service.stop();
});

t.test('a process accepts and cancels jobs that another renders', async (t) => {
  const schema = newSchema();
  const folder = testFolder(t);
  const withRoles = async (...roles: Role[]) => {
    const storage = await openPostgres(t, { schema });
    const assets = new FileAssetStore(join(folder, 'artifacts'));
    const workFolder = join(folder, roles.join());
    const options = { storage, assets, workFolder, roles, workers: 1, renderMs: 600_000 };
    const service = fakeRenderService(options);
    await service.start();
    t.teardown(() => service.stop());
    return service;
  };
  const [front, worker] = [await withRoles('api', 'upkeep'), await withRoles('worker')];
  const running = new Promise((resolve) =>
    worker.on('job', (job) => job.status === 'running' && resolve(job)),
  );
  const { jobId } = await front.enqueue({ owner: 'a', className: 'A', code: 'class A(Scene): ...' });
  t.match(await running, { jobId });
  t.match(await front.get(jobId), { status: 'running' });
  t.match(await front.cancel(jobId), { status: 'failed', error: 'Canceled' });
  while (worker.status().running > 0) await new Promise(setImmediate);
});
