import { existsSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { DataFolder, DEFAULT_PRICING, StoredLedger } from '../../../lib/index.ts';
import {
  afterOneFrame,
  drawing,
  ENDLESS,
  enqueue,
  render,
  scene,
  startService,
} from '../../fixtures/renders.ts';
import { temporaryFolder } from '../../fixtures/temporary-folder.ts';

// A reserve is the price of one second. Every account has 1,000 credits.
const dataFolder = new DataFolder(await temporaryFolder(t));
const ledger = new StoredLedger({ store: dataFolder.ledgerStore });
const service = await startService(t, {
  dataFolder,
  ledger,
  workers: 1,
  pricing: {
    creditsPerSecond: {
      ...DEFAULT_PRICING.creditsPerSecond,
      low: 100,
      medium: 600,
      high: 900,
      twok: 1001,
      fourk: 1,
    },
    reserveSeconds: 1,
  },
});
const RAN_OUT = 'The credits ran out: the render cost more than the reserve and the balance cover.';

/** The entries of an account after its first grant, oldest first. */
async function history(owner: string): Promise<string[]> {
  const entries = (await ledger.statement(owner)).toReversed();
  return entries.map(({ kind, amountCredits }) => `${kind} ${amountCredits}`).slice(1);
}

t.test('a render is charged by its duration, and the rest of the reserve is returned', async (t) => {
  const owner = 'frugal';
  const running = await drawing(service, { owner, code: afterOneFrame('time.sleep(0.2)') });
  t.same(await service.balance(owner), { free: 900, paid: 0, total: 900 });
  t.equal(running.creditsCost, 0);
  const { status, creditsCost, durationMs } = await service.wait(running.jobId);
  t.equal(status, 'completed');
  t.equal(creditsCost, Math.ceil(((durationMs ?? 0) * 100) / 1000));
  t.same(await service.balance(owner), { free: 1000 - creditsCost, paid: 0, total: 1000 - creditsCost });
  t.same(await history(owner), ['reserve -100', `settle ${100 - creditsCost}`]);
});

t.test('a render that costs more than its reserve is charged in full', async (t) => {
  const owner = 'generous';
  const { status, creditsCost } = await render(service, { owner, code: afterOneFrame('time.sleep(1.2)') });
  t.equal(status, 'completed');
  t.ok(creditsCost > 120, `${creditsCost} credits`);
  t.equal((await service.balance(owner)).total, 1000 - creditsCost);
  t.same(await history(owner), ['reserve -100', `settle ${100 - creditsCost}`]);
});

t.test('a very short render costs one credit', async (t) => {
  const owner = 'quick';
  const job = await render(service, { owner, className: 'OneFrame', quality: 'fourk', fps: 1 });
  t.match(job, { status: 'completed', creditsCost: Math.max(1, Math.ceil((job.durationMs ?? 0) / 1000)) });
});

t.test('free credits are spent before paid ones', async (t) => {
  const owner = 'mixed';
  await ledger.grantPaid(owner, 500);
  const { creditsCost } = await render(service, { owner });
  t.same(await service.balance(owner), { free: 1000 - creditsCost, paid: 500, total: 1500 - creditsCost });
});

t.test('a scene that fails costs nothing', async (t) => {
  const owner = 'unlucky';
  t.match(await render(service, { owner, code: scene('1 / 0') }), { status: 'failed', creditsCost: 0 });
  t.same(await history(owner), ['reserve -100', 'void 100']);
  t.equal((await service.balance(owner)).total, 1000);
});

t.test('a canceled job costs nothing', async (t) => {
  const owner = 'hesitant';
  const { jobId } = await drawing(service, { owner, code: ENDLESS });
  const waiting = await enqueue(service, { owner });
  t.equal((await service.balance(owner)).total, 800);
  await service.cancel(waiting.jobId);
  await service.cancel(jobId);
  t.equal((await service.balance(owner)).total, 1000);
});

t.test('a render is stopped when its cost exceeds reserve and balance', async (t) => {
  const owner = 'endless';
  const job = await render(service, { owner, code: ENDLESS, quality: 'medium' });
  t.match(job, { status: 'failed', error: RAN_OUT, creditsCost: 0, attempts: 1 });
  t.ok((job.durationMs ?? 0) > 1666 && (job.durationMs ?? 0) < 10_000, `${job.durationMs} ms`);
  t.same(await history(owner), ['reserve -600', 'void 600']);
  t.equal((await service.balance(owner)).total, 1000);
});

t.test('a finished render that cannot be paid fails, and its video is deleted', async (t) => {
  const owner = 'short';
  // The artifacts are deleted after the job has ended.
  const { assets } = dataFolder;
  const remove = assets.delete.bind(assets);
  const removal = Promise.withResolvers<void>();
  const removed: string[] = [];
  t.intercept(assets, 'delete', {
    value: async (assetKey: string) => {
      await remove(assetKey);
      if (removed.push(assetKey) === 3) removal.resolve();
    },
  });
  // 1,000 credits last 1.11 s, and the cost of a running render is checked every second: only one that takes between
  // 1.11 s and 2 s can finish without being paid. On a busy machine it may take longer.
  const code = afterOneFrame('time.sleep(1.15)');
  const stoppedAtMs = 2000;
  let job = await render(service, { owner, code, quality: 'high', fps: 1 });
  for (let i = 0; i < 9 && (job.durationMs ?? 0) >= stoppedAtMs; i++)
    job = await render(service, { owner, code, quality: 'high', fps: 1 });
  t.match(job, { status: 'failed', error: RAN_OUT, creditsCost: 0, artifacts: [] });
  t.ok((job.durationMs ?? 0) < stoppedAtMs, `${job.durationMs} ms`);
  if ((job.durationMs ?? 0) < stoppedAtMs) await removal.promise;
  t.notOk(existsSync(join(dataFolder.path, 'artifacts', job.jobId)));
  t.equal((await service.balance(owner)).total, 1000);
});

t.test('no job is created if the balance is below the reserve', async (t) => {
  const owner = 'poor';
  await t.rejects(enqueue(service, { owner, quality: 'twok' }), { code: 'insufficient_credits' });
  t.same(await service.list({ owner }), []);
  t.same(await history(owner), []);
  t.equal((await service.balance(owner)).total, 1000);
});

t.test('jobs of one account cannot reserve the same credits', async (t) => {
  const owner = 'greedy';
  const blocker = await drawing(service, { code: ENDLESS });
  const answers = await Promise.allSettled(
    [1, 2, 3].map(() => enqueue(service, { owner, quality: 'medium' })),
  );
  t.equal(answers.filter(({ status }) => status === 'fulfilled').length, 1);
  t.equal((await service.balance(owner)).total, 400);
  for (const { jobId } of await service.list({ owner })) await service.cancel(jobId);
  await service.cancel(blocker.jobId);
  t.equal((await service.balance(owner)).total, 1000);
});
