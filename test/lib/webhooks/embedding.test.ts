import t, { type Test } from 'tap';
import { MasterKey, RenderService, type RenderServiceOptions, verifyWebhook } from '../../../lib/index.ts';
import { IDLE_PYTHON } from '../../appliance/listening-appliance.ts';
import { TestAuthority } from '../../fixtures/certificates.ts';
import { webhookReceiver } from '../../fixtures/webhook-receiver.ts';

const authority = new TestAuthority(t.testdir());
const certificate = authority.issue(['127.0.0.1']);
const webhooks = { allowNetworks: ['127.0.0.0/8'], ca: authority.ca };
const assetUrl = 'https://assets.example.org';
const request = { owner: 'me', code: 'x', className: 'A' };

async function open(t: Test, options: Partial<RenderServiceOptions> = {}) {
  const receiver = await webhookReceiver(t, certificate);
  const service = new RenderService({
    folder: t.testdir(),
    workers: 1,
    renderer: { python: IDLE_PYTHON, insecureNoSandbox: true },
    ...options,
  });
  t.teardown(() => service.stop());
  await service.start();
  return { service, receiver, url: `https://127.0.0.1:${receiver.port}/` };
}

t.test('a secret that comes with the job signs its outcome, also after a restart', async (t) => {
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

t.test('else the secret is asked for, with what is known of the job', async (t) => {
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

t.test('a webhook that could not be kept is refused with the job', async (t) => {
  const webhook = { url: 'https://example.org/', secret: 'mine' };
  const { service: bare } = await open(t);
  const code = 'invalid_request';
  await t.rejects(bare.enqueue({ ...request, webhook }), { code, message: /no `assetUrl`/ });
  t.same(await bare.list(), []);
  const { service } = await open(t, { assetUrl });
  await t.rejects(service.enqueue({ ...request, webhookUrl: webhook.url }), { code, message: /secretOf/ });
  await t.rejects(service.enqueue({ ...request, webhook: { ...webhook, url: 'http://a/' } }), { code });
  await t.rejects(service.enqueue({ ...request, webhook: { ...webhook, secret: '' } }), {
    name: 'AssertionError',
  });
  t.match(await service.enqueue({ ...request, webhookUrl: null }), { webhookUrl: null });
});

t.test('the same request with the same webhook is the same request', async (t) => {
  const { service, url } = await open(t, {
    assetUrl,
    webhooks: { ...webhooks, masterKey: MasterKey.fromHex('0'.repeat(64)) },
  });
  const repeated = { ...request, webhook: { url, secret: 'mine' }, idempotency: { key: 'k' } };
  const [first, second] = [await service.enqueue(repeated), await service.enqueue(repeated)];
  t.equal(second.jobId, first.jobId);
});

t.test('what is wrong with the options stops the start', async (t) => {
  const options = { folder: t.testdir(), webhooks: { allowNetworks: ['everything'] } };
  await t.rejects(new RenderService(options).start(), {
    code: 'invalid_request',
    message: /"everything" is no network/,
  });
});
