import t from 'tap';
import { TestAuthority } from '../fixtures/certificates.ts';
import { webhookReceiver } from '../fixtures/webhook-receiver.ts';
import { peopledAppliance } from './browser.ts';
import { signedIn } from './client.ts';

const authority = new TestAuthority(t.testdir());
const certificate = authority.issue(['127.0.0.1']);

t.test('a delivery is looked at and sent again', async (t) => {
  const receiver = await webhookReceiver(t, certificate, (response, { headers }) => {
    response.statusCode = headers['svc-redelivery'] === undefined ? 410 : 204;
    response.end('<b>not here</b>');
  });
  const { port, member, installation, service } = await peopledAppliance(t, {
    webhooksAllowNetworks: ['127.0.0.0/8'],
    webhooksCa: authority.caFile,
  });
  const { accountId } = await installation.accounts.find(member);
  const client = await signedIn(t, port, member);
  t.match((await client.get('/dashboard/webhooks')).text, 'No webhooks sent yet');

  const first = new Promise<string>((resolve) => {
    service.once('delivery', ({ deliveryId }) => resolve(deliveryId));
  });
  const webhook = { url: `https://127.0.0.1:${receiver.port}/hook`, secret: 'whsec_1' };
  const { jobId } = await service.enqueue({ owner: accountId, className: 'A', code: 'x', webhook });
  await service.cancel(jobId);
  const deliveryId = await first;
  const page = (await client.get(`/dashboard/webhooks/${deliveryId}`)).text;
  t.match(page, 'HTTP 410');
  t.match(page, '&lt;b&gt;not here&lt;/b&gt;');
  t.match(page, '&quot;error&quot;:&quot;Canceled&quot;');
  t.match((await client.get(`/dashboard/jobs/${jobId}`)).text, `/dashboard/webhooks/${deliveryId}`);

  const delivered = new Promise<void>((resolve) => {
    service.on('delivery', ({ repeats }) => repeats === deliveryId && resolve());
  });
  const again = await client.post(`/dashboard/webhooks/${deliveryId}/send-again`, {});
  const [, next = ''] = /\/dashboard\/webhooks\/(\w+)\?done=sent/.exec(String(again.headers.location)) ?? [];
  await delivered;
  t.match((await client.get(`/dashboard/webhooks/${next}`)).text, 'HTTP 204');
  const list = (await client.get('/dashboard/webhooks')).text;
  t.match(list, '(sent again)');
  t.match(list, `https://127.0.0.1:${receiver.port}/hook`);
});
