import { join } from 'node:path';
import t, { type Test } from 'tap';
import { type BudgetOptions, DataFolder, type Job, RenderService, StoredLedger } from '../../../lib/index.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import { testFolder } from '../../fixtures/test-folder.ts';

const HOUR_MS = 3_600_000;
const python = join(import.meta.dirname, '../../fixtures/instant-renderer/bin/python');

/** A service whose renders take no time. */
async function startedService(t: Test, folder: string, budgets: Partial<BudgetOptions>, clock: FakeClock) {
  const dataFolder = new DataFolder(folder);
  const ledger = new StoredLedger({ store: dataFolder.ledgerStore, clock });
  const service = new RenderService({
    dataFolder,
    ledger,
    workers: 1,
    budgets,
    clock,
    renderer: { python, insecureNoSandbox: true },
  });
  t.teardown(() => service.stop());
  await service.start();
  const enqueue = (owner: string, code: string, more: object = {}) =>
    service.enqueue({ owner, code, className: 'A', ...more });
  const render = async (owner: string, code: string): Promise<Job> =>
    service.wait((await enqueue(owner, code)).jobId);
  return { service, ledger, enqueue, render };
}

t.test('an owner with too many failures is rejected, also after a restart, and not charged', async (t) => {
  const folder = join(testFolder(t), 'data');
  const clock = new FakeClock('2026-11-21T10:00:00Z');
  const first = await startedService(t, folder, { failuresPerHour: 2 }, clock);
  const idempotency = { key: 'k' };
  const { jobId } = await first.enqueue('ada', 'fail', { idempotency });
  t.match(await first.service.wait(jobId), { status: 'failed', error: 'as it was told' });
  t.match(await first.render('ada', 'x'), { status: 'completed' });
  const { total } = await first.ledger.balance('ada');
  await first.render('ada', 'fail');
  await t.rejects(first.enqueue('ada', 'x'), { code: 'too_many_failures', retryAfterMs: HOUR_MS });
  t.equal((await first.ledger.balance('ada')).total, total, 'neither failed nor rejected jobs cost credits');
  await t.rejects(first.service.renderAgain(jobId), { code: 'too_many_failures' });
  t.match(await first.enqueue('ada', 'fail', { idempotency }), { jobId }, 'a repeated request succeeds');
  await t.rejects(first.enqueue('ada', ''), { code: 'invalid_request' });
  t.match(await first.render('bob', 'x'), { status: 'completed' });
  await first.service.stop();

  const second = await startedService(t, folder, { failuresPerHour: 2 }, clock);
  await t.rejects(second.enqueue('ada', 'x'), { code: 'too_many_failures', retryAfterMs: HOUR_MS });
  clock.advance(HOUR_MS);
  t.match(await second.render('ada', 'x'), { status: 'completed' });
});

t.test('queued jobs of an owner with a spent budget are rendered after those of others', async (t) => {
  const clock = new FakeClock('2026-11-21T10:00:00Z');
  const { service, enqueue } = await startedService(
    t,
    join(testFolder(t), 'data'),
    { failuresPerHour: 1 },
    clock,
  );
  await service.pauseQueue();
  const order: string[] = [];
  service.on('job', ({ owner, status }) => status === 'running' && order.push(owner));
  const jobs = [];
  for (let i = 0; i < 3; i++) jobs.push(await enqueue('spent', 'fail'));
  for (let i = 0; i < 3; i++) jobs.push(await enqueue('ada', 'x'));
  await service.resumeQueue();
  for (const { jobId } of jobs) await service.wait(jobId);
  t.same(order, ['spent', 'ada', 'ada', 'ada', 'spent', 'spent']);
});
