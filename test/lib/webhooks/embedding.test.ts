import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import {
  ApiKeys,
  DataFolder,
  MasterKey,
  MasterKeys,
  RenderService,
  type RenderServiceOptions,
} from '../../../lib/index.ts';
import { replaceMasterKey } from '../../../lib/operations.ts';
import { verifyWebhook } from '../../../lib/webhooks/signature.ts';
import { IDLE_PYTHON } from '../../appliance/listening-appliance.ts';
import { TestAuthority } from '../../fixtures/certificates.ts';
import { temporaryFolder } from '../../fixtures/temporary-folder.ts';
import { testFolder } from '../../fixtures/test-folder.ts';
import { webhookReceiver } from '../../fixtures/webhook-receiver.ts';

const authority = new TestAuthority(testFolder(t));
const certificate = authority.issue(['127.0.0.1']);
const webhooks = { allowNetworks: ['127.0.0.0/8'], ca: authority.ca };
const assetUrl = 'https://assets.example.org';
const request = { owner: 'me', code: 'x', className: 'A' };

async function open(t: Test, options: Partial<RenderServiceOptions> = {}) {
  const receiver = await webhookReceiver(t, certificate);
  const service = new RenderService({
    folder: testFolder(t),
    workers: 1,
    renderer: { python: IDLE_PYTHON, insecureNoSandbox: true },
    ...options,
  });
  t.teardown(() => service.stop());
  await service.start();
  return { service, receiver, url: `https://127.0.0.1:${receiver.port}/` };
}

t.test('a secret given with the job signs its outcome, also after a restart', async (t) => {
  const { service, receiver, url } = await open(t, { assetUrl, webhooks });
  const { jobId, webhookUrl } = await service.enqueue({ ...request, webhook: { url, secret: 'mine' } });
  t.equal(webhookUrl, url);
  await service.stop();
  await service.start();
  await service.cancel(jobId);
  const [received] = await receiver.got(1);
  const signature = received?.headers['svc-signature'] as string;
  t.match(verifyWebhook(received?.body ?? '', signature, 'mine'), { valid: true });
  await service.stop({ graceMs: 5_000 });
});

t.test('secrets given with jobs survive a rotation of the master key', async (t) => {
  const dataFolder = new DataFolder(await temporaryFolder(t));
  const { path, storage, keyStore: store } = dataFolder;
  const { service, receiver, url } = await open(t, { dataFolder, assetUrl, webhooks });
  const keys = new ApiKeys({ store, masterKeys: await dataFolder.masterKeys() });
  const minted = await keys.mint({ accountId: 'a', name: 'n' });
  const enqueue = () => service.enqueue({ ...request, webhook: { url, secret: 'mine' } });
  const [over, waiting] = [await enqueue(), await enqueue()];
  await service.cancel(over.jobId);
  await receiver.got(1);
  const sealed = (await storage.getJob(over.jobId))?.webhookSecretSealed as string;
  t.ok(filesWith(path, sealed) > 0);

  let counted = {};
  const meanwhile: Promise<{ jobId: string }>[] = [];
  meanwhile.push(enqueue(), service.renderAgain(over.jobId));
  await replaceMasterKey(dataFolder, {
    async reseal() {
      meanwhile.push(enqueue(), service.renderAgain(over.jobId));
      const resealing = service.resealSecrets({ keys });
      meanwhile.push(enqueue(), service.renderAgain(over.jobId));
      counted = await resealing;
    },
  });
  t.match(counted, { keys: 1 });
  const jobs = [waiting, ...(await Promise.all(meanwhile))];
  await storage.purge();
  t.equal(filesWith(path, sealed), 0, 'secrets encrypted with the old key are removed from the disk');

  const [delivery] = await service.deliveries.list({ jobId: over.jobId });
  await service.deliveries.sendAgain(delivery?.deliveryId as string);
  for (const { jobId } of jobs) await service.cancel(jobId);
  const received = await receiver.got(2 + jobs.length);
  await service.stop({ graceMs: 5_000 });
  for (const { body, headers } of received) {
    t.match(verifyWebhook(body, headers['svc-signature'] as string, 'mine'), { valid: true });
  }
  await dataFolder.start();
  const masterKeys = await dataFolder.masterKeys();
  for (const { jobId } of [over, ...jobs]) {
    t.equal(masterKeys.current.decrypt((await storage.getJob(jobId))?.webhookSecretSealed as string), 'mine');
  }
  const again = new ApiKeys({ store, masterKeys });
  t.equal(await again.webhookSecretOf(minted.record.keyId), minted.webhookSecret);
  await dataFolder.stop();
});

t.test('without a secret given, secretOf is called with the job’s ids', async (t) => {
  const asked: object[] = [];
  const secretOf = (job: object) => {
    asked.push(job);
    return 'of the key';
  };
  const { service, receiver, url } = await open(t, {
    assetUrl: () => assetUrl,
    webhooks: { ...webhooks, secretOf },
  });
  const { jobId } = await service.enqueue({ ...request, webhookUrl: url, keyId: 'k' });
  await service.cancel(jobId);
  const [received] = await receiver.got(1);
  const signature = received?.headers['svc-signature'] as string;
  t.match(verifyWebhook(received?.body ?? '', signature, 'of the key'), { valid: true });
  t.same(asked, [{ jobId, owner: 'me', keyId: 'k' }]);
});

t.test('a job whose webhook could not be delivered is rejected', async (t) => {
  const webhook = { url: 'https://example.org/', secret: 'mine' };
  const { service: bare } = await open(t);
  const code = 'invalid_request';
  await t.rejects(bare.enqueue({ ...request, webhook }), { code, message: /no `assetUrl`/ });
  t.same(await bare.list(), []);
  const { service } = await open(t, { assetUrl });
  await t.rejects(service.enqueue({ ...request, webhookUrl: webhook.url }), { code, message: /secretOf/ });
  await t.rejects(service.enqueue({ ...request, webhook: { ...webhook, url: 'http://a/' } }), { code });
  await t.rejects(service.enqueue({ ...request, webhook: { ...webhook, secret: '' } }), { code });
  t.match(await service.enqueue({ ...request, webhookUrl: null }), { webhookUrl: null });
});

t.test('a repeated request with the same webhook returns the same job', async (t) => {
  const { service, url } = await open(t, {
    assetUrl,
    webhooks: { ...webhooks, masterKeys: new MasterKeys(MasterKey.fromHex('0'.repeat(64))) },
  });
  const repeated = { ...request, webhook: { url, secret: 'mine' }, idempotency: { key: 'k' } };
  const [first, second] = [await service.enqueue(repeated), await service.enqueue(repeated)];
  t.equal(second.jobId, first.jobId);
});

t.test('invalid options stop the start', async (t) => {
  const options = { folder: testFolder(t), webhooks: { allowNetworks: ['everything'] } };
  await t.rejects(new RenderService(options).start(), {
    code: 'invalid_request',
    message: /"everything" is not a network/,
  });
});

/** The number of database files that contain a text. */
function filesWith(folder: string, text: string): number {
  const files = readdirSync(folder).filter((name) => /^database/.test(name));
  return files.filter((name) => readFileSync(join(folder, name)).includes(text)).length;
}
