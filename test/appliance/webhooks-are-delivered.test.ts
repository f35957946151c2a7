import t, { type Test } from 'tap';
import { verifyWebhook } from '../../lib/webhooks/signature.ts';
import { TestAuthority } from '../fixtures/certificates.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { testFolder } from '../fixtures/test-folder.ts';
import { type Answer, webhookReceiver } from '../fixtures/webhook-receiver.ts';
import { scenepress } from './command.ts';
import { deliveringAppliance } from './delivering-appliance.ts';
import { listeningAppliance, VALID } from './listening-appliance.ts';

const authority = new TestAuthority(testFolder(t));
const delivering = (t: Test, answer?: Answer) => deliveringAppliance(t, authority, answer);

t.test('a webhook has the body of GET’s response, signed with the key’s secret', async (t) => {
  const { receiver, key, endJob, askAs } = await delivering(t);
  const metadata = { n: 1 };
  const jobId = await endJob({ metadata });
  const [received] = await receiver.got(1);
  t.equal(String(received?.body), (await askAs(key.key, `/api/v2/render/${jobId}`)).text);
  t.match(received?.headers, { 'svc-event': 'failed', 'content-type': 'application/json' });
  const signature = received?.headers['svc-signature'] as string;
  t.match(verifyWebhook(received?.body ?? '', signature, key.webhookSecret), { valid: true });
  t.notMatch(JSON.stringify(received), key.key.slice(20));
});

t.test('a request’s own URL takes precedence, and null means no webhook', async (t) => {
  const { receiver, endJob, url } = await delivering(t);
  await endJob({ webhookUrl: null });
  await endJob({ webhookUrl: `${url}/own` });
  await endJob();
  const paths = (await receiver.got(2)).map(({ path }) => path);
  t.same(paths.sort(), ['/hook', '/hook/own']);
});

t.test('after a rotation the new secret signs, and the key stays valid', async (t) => {
  const { receiver, endJob, key, administration, askAs, log } = await delivering(t);
  const { webhookSecret } = await administration.keys.rotateSecret({ keyId: key.keyId });
  t.match(webhookSecret, /^whsec_[0-9a-f]{48}$/);
  await endJob();
  const [received] = await receiver.got(1);
  const signature = received?.headers['svc-signature'] as string;
  t.match(verifyWebhook(received?.body ?? '', signature, key.webhookSecret), { flaw: 'wrong_signature' });
  t.match(verifyWebhook(received?.body ?? '', signature, webhookSecret), { valid: true });
  t.equal((await askAs(key.key, '/api/v2/me')).status, 200);
  for (const secret of [key.webhookSecret, webhookSecret]) t.notMatch(log(), secret);
});

t.test('webhooks are still delivered for jobs of a revoked key', async (t) => {
  const { receiver, administration, askAs, key, service } = await delivering(t);
  const { json } = await askAs(key.key, '/api/v2/render', { method: 'POST', body: JSON.stringify(VALID) });
  await administration.keys.revoke({ keyId: key.keyId });
  await service.cancel(String(json['jobId']));
  const [received] = await receiver.got(1);
  const signature = received?.headers['svc-signature'] as string;
  t.match(verifyWebhook(received?.body ?? '', signature, key.webhookSecret), { valid: true });
});

t.test('a key’s default webhook can be changed and removed for future jobs', async (t) => {
  const { receiver, endJob, administration, key, url } = await delivering(t);
  const { keyId } = key;
  t.same(await administration.keys.setWebhook({ keyId, webhookUrl: `${url}/new` }), {
    keyId,
    webhookUrl: `${url}/new`,
  });
  await endJob();
  await receiver.got(1);
  await administration.keys.setWebhook({ keyId, webhookUrl: null });
  const jobId = await endJob();
  t.same(await administration.deliveries.list({ jobId }), []);
  t.equal(receiver.received[0]?.path, '/hook/new');
  for (const webhookUrl of ['http://example.org/', 'https://user:pass@example.org/', 'nonsense']) {
    const message = 'The webhook URL must be an https:// URL without user name and password.';
    await t.rejects(administration.keys.setWebhook({ keyId, webhookUrl }), {
      code: 'invalid_request',
      message,
    });
  }
  const missing = { code: 'not_found' };
  await t.rejects(administration.keys.setWebhook({ keyId: 'key_x', webhookUrl: null }), missing);
  await t.rejects(administration.keys.rotateSecret({ keyId: 'key_x' }), missing);
});

t.test('networks that are not allowed are not called', async (t) => {
  const receiver = await webhookReceiver(t, authority.issue(['127.0.0.1']));
  const { service, post, installation } = await listeningAppliance(t);
  const { json } = await post({ ...VALID, webhookUrl: `https://127.0.0.1:${receiver.port}/` });
  await service.cancel(String(json['jobId']));
  await service.stop({ graceMs: 5_000 });
  await installation.place.start();
  const deliveries = await installation.administration.deliveries.list({});
  t.match(deliveries, [{ status: 'waiting', lastStatus: 0, attempts: [{ reason: 'blocked' }] }]);
  t.same(receiver.received, []);
});

t.test('invalid webhook options stop the start', async (t) => {
  const dataDir = await temporaryFolder(t);
  const run = (...args: string[]) => scenepress(['serve', '--port', '0', '--data-dir', dataDir, ...args]);
  t.match(await run('--webhooks-allow-networks', '10.0.0.0/8,nonsense'), {
    code: 2,
    stderr: /--webhooks-allow-networks must be comma-separated networks \(CIDR\)/,
  });
  t.match(await run('--webhooks-ca', '/nowhere.pem'), {
    code: 1,
    stderr: /CA certificates for webhooks can't be read/,
  });
  t.match(await run('--webhooks-ca', import.meta.filename), {
    code: 1,
    stderr: /contains no PEM certificate/,
  });
});
