import { join } from 'node:path';
import t, { type Test } from 'tap';
import { DataFolder, type Ledger, RenderService } from '../../../lib/index.ts';
import { DistantLedger } from '../../fixtures/distant-ledger.ts';
import { testFolder } from '../../fixtures/test-folder.ts';

const request = { owner: 'ada', className: 'Main', code: 'a secret scene' };

async function open(t: Test, admitsOwner: (owner: string) => Promise<boolean>, ledger?: Ledger) {
  const dataFolder = new DataFolder(join(testFolder(t), 'data'));
  const service = new RenderService({ dataFolder, admitsOwner, ...(ledger && { ledger }) });
  t.teardown(() => service.stop());
  await service.open();
  return { service, storage: dataFolder.storage };
}

t.test('requests of a refused owner are rejected, including repeated ones', async (t) => {
  const refused = new Set<string>();
  const { service } = await open(t, async (owner) => !refused.has(owner));
  const idempotency = { key: 'k' };
  const { jobId } = await service.enqueue({ ...request, idempotency });
  refused.add('ada');
  const code = 'owner_refused';
  await t.rejects(service.enqueue(request), { code });
  await t.rejects(service.enqueue({ ...request, idempotency }), { code });
  await t.rejects(service.renderAgain(jobId), { code });
  t.equal((await service.list({ owner: 'ada' })).length, 1);
  t.match(await service.enqueue({ ...request, owner: 'eve' }), { status: 'queued' });
});

t.test('forgetAll also forgets a job that is being enqueued', async (t) => {
  let forgetting: Promise<number> | undefined;
  const { service, storage } = await open(t, async () => {
    if (forgetting !== undefined) return false;
    // The owner is refused from now on, but this request was admitted just before.
    forgetting = service.forgetAll('ada');
    return true;
  });
  const { jobId } = await service.enqueue(request);
  t.equal(await forgetting, 1);
  t.match(await service.get(jobId), { status: 'failed', className: '', forgottenAt: String });
  t.equal(await storage.readSource(jobId), undefined);
  await t.rejects(service.enqueue(request), { code: 'owner_refused' });
});

t.test('an owner that is refused while an external ledger reserves gets no job', async (t) => {
  const ledger = new DistantLedger(100);
  let forgetting: Promise<number> | undefined;
  const admits = async () => {
    if (forgetting !== undefined) return false;
    forgetting = service.forgetAll('ada');
    return true;
  };
  const { service, storage } = await open(t, admits, ledger);
  await t.rejects(service.enqueue(request), { code: 'owner_refused' });
  t.equal(await forgetting, 0);
  t.equal(ledger.balanceCredits, 100);
  t.same(await storage.unfinishedJobs(), []);
});
