import { join } from 'node:path';
import t, { type Test } from 'tap';
import { Accounts, FileAssetStore, RenderService, type RenderServiceOptions } from '../../../lib/index.ts';
import type { PostgresOptions } from '../../../lib/postgres/index.ts';
import { DistantLedger } from '../../fixtures/distant-ledger.ts';
import { newSchema, openPostgres } from '../../fixtures/postgres/database.ts';
import { testFolder } from '../../fixtures/test-folder.ts';

const SCENE = { className: 'A', code: 'a secret scene' };

/** A process of a service whose owners are accounts in the same database. */
async function openProcess(
  t: Test,
  schema: string,
  options: Partial<RenderServiceOptions> = {},
  database: PostgresOptions = {},
) {
  const storage = await openPostgres(t, { schema, ...database });
  const folder = testFolder(t);
  const accounts = new Accounts({ store: storage.accountStore });
  const service = new RenderService({
    storage,
    assets: new FileAssetStore(join(folder, 'artifacts')),
    workFolder: join(folder, 'work'),
    admitsOwner: (owner, tx) => accounts.isEnabled(owner, tx),
    queue: { maxQueuedOf: (owner, tx) => accounts.maxQueuedOf(owner, tx) },
    ...options,
  });
  await service.startWithoutWorkers();
  t.teardown(() => service.stop());
  return { storage, accounts, service };
}

/** Round trips in which what does not wait would have been done. */
async function roundTrips({ service }: { service: RenderService }): Promise<void> {
  for (let trips = 0; trips < 30; trips += 1) await service.count();
}

t.test('a process that forgets an owner waits for the job that another is adding', async (t) => {
  const schema = newSchema();
  const deleting = await openProcess(t, schema);
  const [asked, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const adding = await openProcess(t, schema, {
    admitsOwner: async (owner, tx) => {
      const isEnabled = await deleting.accounts.isEnabled(owner);
      t.equal(await adding.accounts.isEnabled(owner, tx), isEnabled);
      asked.resolve();
      await answered.promise;
      return isEnabled;
    },
  });
  const { accountId: owner } = await deleting.accounts.create('ada@example.org');
  const enqueuing = adding.service.enqueue({ ...SCENE, owner });
  await asked.promise;
  await deleting.accounts.beginDeletion(owner);
  const forgetting = deleting.service.forgetAll(owner);
  await Promise.race([forgetting, roundTrips(deleting)]);
  answered.resolve();
  const { jobId } = await enqueuing;
  t.equal(await forgetting, 1);
  t.match(await deleting.service.get(jobId), { status: 'failed', className: '', forgottenAt: String });
  t.equal(await deleting.storage.readSource(jobId), undefined);
  await t.rejects(adding.service.enqueue({ ...SCENE, owner }), { code: 'owner_refused' });
});

t.test('an owner that is deleted while an external ledger reserves gets no job', async (t) => {
  const schema = newSchema();
  const ledger = new DistantLedger(100);
  const deleting = await openProcess(t, schema, { ledger });
  const [asked, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const slow = new DistantLedger(100);
  const reserve = slow.reserve.bind(slow);
  slow.reserve = async (request) => {
    asked.resolve();
    await answered.promise;
    return reserve(request);
  };
  const adding = await openProcess(t, schema, { ledger: slow });
  const { accountId: owner } = await deleting.accounts.create('ada@example.org');
  const enqueuing = adding.service.enqueue({ ...SCENE, owner });
  await asked.promise;
  await deleting.accounts.beginDeletion(owner);
  t.equal(await deleting.service.forgetAll(owner), 0);
  answered.resolve();
  await t.rejects(enqueuing, { code: 'owner_refused' });
  t.equal(slow.balanceCredits, 100, 'the reserve is returned');
  t.same(await deleting.service.list({ owner }), []);
  t.same(await deleting.storage.unfinishedJobs(), []);
});

t.test('the own limit of an owner holds for requests at the same time, with few connections', async (t) => {
  const { accounts, service } = await openProcess(t, newSchema(), {}, { maxConnections: 2 });
  const { accountId: owner } = await accounts.create('ada@example.org');
  await accounts.setLimits(owner, { maxQueued: 3 });
  const added = await Promise.allSettled(
    Array.from({ length: 8 }, () => service.enqueue({ ...SCENE, owner })),
  );
  t.equal(added.filter(({ status }) => status === 'fulfilled').length, 3);
  t.ok(added.every((one) => one.status === 'fulfilled' || one.reason.code === 'queue_full'));
});
