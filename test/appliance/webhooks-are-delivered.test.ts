import t, { type Test } from 'tap';
import { verifyWebhook } from '../../lib/index.ts';
import { TestAuthority } from '../fixtures/certificates.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { testFolder } from '../fixtures/test-folder.ts';
import { type Answer, webhookReceiver } from '../fixtures/webhook-receiver.ts';
import { scenepress, serve } from './command.ts';
import { listeningAppliance, VALID } from './listening-appliance.ts';

const authority = new TestAuthority(testFolder(t));
const certificate = authority.issue(['127.0.0.1']);

async function delivering(t: Test, answer?: Answer) {
  const receiver = await webhookReceiver(t, certificate, answer);
  const appliance = await listeningAppliance(t, {
    webhooksAllowNetworks: ['127.0.0.0/8'],
    webhooksCa: authority.caFile,
  });
  const { service, installation, askAs } = appliance;
  const { administration } = installation;
  const url = `https://127.0.0.1:${receiver.port}/hook`;
  await administration.accounts.create({ email: 'eve@example.org' });
  const key = await administration.keys.create({ account: 'eve@example.org', name: 'Test', webhookUrl: url });
  /** Creates and cancels a job; returns its id. */
  const endJob = async (request: object = {}) => {
    const body = JSON.stringify({ ...VALID, ...request });
    const { json } = await askAs(key.key, '/api/v2/render', { method: 'POST', body });
    const jobId = String(json['jobId']);
    await service.cancel(jobId);
    return jobId;
  };
  return { ...appliance, receiver, url, key, administration, endJob };
}

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
  const receiver = await webhookReceiver(t, certificate);
  const { service, post, installation } = await listeningAppliance(t);
  const { json } = await post({ ...VALID, webhookUrl: `https://127.0.0.1:${receiver.port}/` });
  await service.cancel(String(json['jobId']));
  await service.stop({ graceMs: 5_000 });
  await installation.place.start();
  const deliveries = await installation.administration.deliveries.list({});
  t.match(deliveries, [{ status: 'waiting', lastStatus: 0, attempts: [{ reason: 'blocked' }] }]);
  t.same(receiver.received, []);
});

t.test('deliveries can be listed, shown and sent again from the command line', async (t) => {
  const { receiver, endJob, dataDir, key } = await delivering(t, (response) => {
    response.writeHead(200).end('thank \u001b[31myou');
  });
  const run = async (...args: string[]) => {
    const { code, stdout, stderr } = await scenepress([...args, '--data-dir', dataDir]);
    t.equal(stderr, '');
    t.equal(code, 0, args.join(' '));
    return stdout;
  };
  const json = async (...args: string[]) => JSON.parse(await run(...args, '--json'));
  const jobId = await endJob();
  await receiver.got(1);
  const [delivery, ...others] = await json('delivery', 'list', '--job', jobId);
  t.same(others, []);
  const { deliveryId } = delivery;
  const shown = await run('delivery', 'show', deliveryId);
  t.match(shown, /^Status {4}delivered$/m);
  t.match(shown, /^Attempt .* 200$/m);
  t.match(shown, /thank ·\[31myou/, 'terminal escapes in a response are replaced');
  t.match(await run('delivery', 'send-again', deliveryId), /^Created delivery \S+\. /);
  const [, again] = await receiver.got(2);
  t.equal(again?.headers['svc-redelivery'], deliveryId);
  t.strictSame(again?.body, receiver.received[0]?.body);
  t.match(
    await run('delivery', 'list', '--account', 'eve@example.org', '--limit', '1'),
    /^DELIVERY ID.*\n\S+ .*\n$/,
  );
  t.same(await json('delivery', 'list', '--account', 'ada@example.org'), []);
  const { webhookSecret } = await json('key', 'rotate-secret', key.keyId);
  t.match(webhookSecret, /^whsec_/);
  t.same(await json('key', 'set-webhook', key.keyId, 'none'), { keyId: key.keyId, webhookUrl: null });
  t.notMatch(shown + (await run('delivery', 'list')), 'whsec_');
});

t.test(
  'deliveries that are due are sent when a service starts, and a signal stops it gracefully',
  async (t) => {
    const { receiver, endJob, dataDir, service, stop } = await delivering(t);
    await endJob();
    await receiver.got(1);
    await service.drain({ graceMs: 5_000 });
    await stop();
    const run = async (...args: string[]) => {
      const { stdout, stderr } = await scenepress([...args, '--json', '--data-dir', dataDir]);
      t.equal(stderr, '');
      return JSON.parse(stdout);
    };
    const [{ deliveryId }] = await run('delivery', 'list');
    const again = await run('delivery', 'send-again', deliveryId);
    t.match(again, { status: 'waiting', repeats: deliveryId });
    const server = await serve(t, ['--data-dir', dataDir], {
      env: {
        SCENEPRESS_WEBHOOKS_ALLOW_NETWORKS: '127.0.0.0/8',
        SCENEPRESS_WEBHOOKS_CA: authority.caFile,
        SCENEPRESS_DRAIN_SECONDS: '10',
      },
    });
    await receiver.got(2);
    server.kill('SIGTERM');
    t.equal(await server.ended, 0);
    t.match(await run('delivery', 'show', again.deliveryId), { status: 'delivered', lastStatus: 200 });
    t.notMatch(server.stderr(), /whsec_/);
  },
);

t.test('delivery and key commands work without a server', async (t) => {
  const dataDir = await temporaryFolder(t);
  const run = (...args: string[]) => scenepress([...args, '--data-dir', dataDir]);
  t.match(await run('delivery', 'list', '--json'), { code: 0, stdout: '[]\n' });
  t.match(await run('delivery', 'show', 'nothing'), { code: 1, stderr: /There is no delivery nothing\./ });
  t.match(await run('delivery', 'send-again', 'nothing'), {
    code: 1,
    stderr: /There is no delivery nothing\./,
  });
  t.match(await run('delivery', 'list', '--limit', 'x'), {
    code: 2,
    stderr: /It must be a whole number\./,
  });
  t.match(await run('key', 'rotate-secret', 'key_x'), { code: 1, stderr: /no key key_x/ });
  t.match(await run('key', 'set-webhook', 'key_x', 'http://x'), { code: 1, stderr: /https:/ });
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
