import { AssertionError } from 'node:assert/strict';
import { join } from 'node:path';
import t from 'tap';
import { ApiKeys, DataFolder, MasterKey, MasterKeys } from '../../../lib/index.ts';
import { WebhookSecrets } from '../../../lib/webhooks/webhook-secrets.ts';
import { deliveryRecord } from '../../fixtures/delivery-record.ts';
import { jobRecord } from '../../fixtures/job-record.ts';
import { temporaryFolder } from '../../fixtures/temporary-folder.ts';
import { testFolder } from '../../fixtures/test-folder.ts';

const newKeys = () => new MasterKeys(MasterKey.random());

t.test('a job’s own secret is sealed with the master key, and signs its deliveries', async (t) => {
  const masterKeys = newKeys();
  const secrets = new WebhookSecrets({ masterKeys, secretOf: () => 'of the key' }, undefined);
  t.throws(() => secrets.seal('x'), AssertionError, 'before prepare()');
  await secrets.prepare('mine');
  const secretSealed = secrets.seal('mine');
  t.equal(masterKeys.decrypt(secretSealed), 'mine');
  t.equal(await secrets.decrypt(secretSealed), 'mine');
  t.equal(await secrets.of(deliveryRecord('1', { secretSealed })), 'mine');
});

t.test('without one, secretOf is asked with the ids of the job', async (t) => {
  const asked: object[] = [];
  const secretOf = (job: object) => {
    asked.push(job);
    return asked.length === 1 ? 'of the key' : null;
  };
  const secrets = new WebhookSecrets({ secretOf }, undefined);
  await secrets.prepare(undefined);
  const delivery = deliveryRecord('1', { jobId: 'j', owner: 'ada', keyId: 'key_1' });
  t.equal(await secrets.of(delivery), 'of the key');
  t.equal(await secrets.of(delivery), null);
  t.strictSame(asked[0], { jobId: 'j', owner: 'ada', keyId: 'key_1' });
});

t.test('what is missing is named', async (t) => {
  const secrets = new WebhookSecrets({}, undefined);
  await t.rejects(secrets.prepare(undefined), { code: 'invalid_request', message: /not configured/ });
  await t.rejects(secrets.prepare('mine'), { code: 'master_key', message: /give RenderService/ });
  t.equal(await secrets.of(deliveryRecord('1')), null);
});

t.test('after a rotation, secrets of keys, jobs and deliveries are sealed again, in steps', async (t) => {
  const folder = new DataFolder(await temporaryFolder(t));
  await folder.start();
  t.teardown(() => folder.stop());
  const { storage } = folder;
  const masterKeys = newKeys();
  const secrets = new WebhookSecrets({ masterKeys }, folder);
  const keys = new ApiKeys({ store: folder.keyStore, masterKeys });
  await keys.mint({ accountId: 'a', name: 'n' });
  await storage.transaction(async (tx) => {
    for (let number = 0; number < 201; number++) {
      const job = jobRecord(`j${number}`, { webhookSecretSealed: masterKeys.seal(`${number}`) });
      await storage.insertJob(tx, job, '');
    }
    const delivery = deliveryRecord('d', { jobId: 'j0', secretSealed: masterKeys.seal('of d') });
    await storage.deliveries.insert(tx, delivery, '');
  });
  const steps: number[] = [];
  const resealSecrets = storage.resealSecrets.bind(storage);
  storage.resealSecrets = async (step) => {
    const result = await resealSecrets(step);
    steps.push(result.replaced);
    return result;
  };
  masterKeys.change(MasterKey.random());
  t.same(await secrets.resealAll(storage, keys), { jobs: 201, keys: 1 });
  t.equal(Math.max(...steps), 100);
  const sealed = (await storage.deliveries.get('d'))?.secretSealed as string;
  t.equal(masterKeys.current.decrypt(sealed), 'of d');
  t.same(await secrets.resealAll(storage, keys), { jobs: 0, keys: 0 });
  masterKeys.change(MasterKey.random());
  t.same(await secrets.resealAll(storage, undefined), { jobs: 201, keys: 0 }, 'without keys');
});

t.test('the master keys are by default those of the data folder', async (t) => {
  const folder = new DataFolder(await temporaryFolder(t));
  await folder.start();
  t.teardown(() => folder.stop());
  const secrets = new WebhookSecrets({}, folder);
  await secrets.prepare('mine');
  t.equal((await folder.masterKeys()).decrypt(secrets.seal('mine')), 'mine');
});

t.test('secrets that are stored while others are sealed again are found, too', async (t) => {
  for (const deliveries of [0, 2]) {
    const folder = new DataFolder(join(testFolder(t), String(deliveries)));
    await folder.start();
    t.teardown(() => folder.stop());
    const { storage } = folder;
    const masterKeys = newKeys();
    const keys = new ApiKeys({ store: folder.keyStore, masterKeys });
    await keys.mint({ accountId: 'a', name: 'n' });
    const insertJob = (jobId: string, webhookSecretSealed: string) =>
      storage.transaction((tx) => storage.insertJob(tx, jobRecord(jobId, { webhookSecretSealed }), ''));
    await insertJob('j', masterKeys.seal('x'));
    for (let number = 0; number < deliveries; number++) {
      const change = { jobId: 'j', repeats: 'd', secretSealed: masterKeys.seal('x') };
      const delivery = deliveryRecord(`d${number}`, change);
      await storage.transaction((tx) => storage.deliveries.insert(tx, delivery, ''));
    }
    const late = masterKeys.seal('late');
    const resealSecrets = storage.resealSecrets.bind(storage);
    storage.resealSecrets = async (step) => {
      storage.resealSecrets = resealSecrets;
      const result = await resealSecrets(step);
      await insertJob('late', late);
      return result;
    };
    masterKeys.change(MasterKey.random());
    const secrets = new WebhookSecrets({ masterKeys }, folder);
    t.same(await secrets.resealAll(storage, keys), { jobs: 2, keys: 1 });
  }
});
