import { join } from 'node:path';
import t, { type Test } from 'tap';
import { verifyWebhook } from '../../lib/webhooks/signature.ts';
import { TestAuthority } from '../fixtures/certificates.ts';
import { testFolder } from '../fixtures/test-folder.ts';
import { webhookReceiver } from '../fixtures/webhook-receiver.ts';
import { accessibilityFaults, launchBrowser, openPage, peopledAppliance, signIn } from './browser.ts';
import { signedIn } from './client.ts';

const INSTANT_PYTHON = join(import.meta.dirname, '../fixtures/instant-renderer/bin/python');

const authority = new TestAuthority(testFolder(t));
const certificate = authority.issue(['127.0.0.1']);

t.test('the page of a delivery shows and redelivers it', async (t) => {
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
  const [sent] = receiver.received;
  t.match(page, `<pre class="wrap" tabindex="0">svc-signature: ${sent?.headers['svc-signature']}</pre>`);
  t.match(page, '&quot;error&quot;:&quot;Canceled&quot;');
  t.match((await client.get(`/dashboard/jobs/${jobId}`)).text, `/dashboard/webhooks/${deliveryId}`);

  const delivered = new Promise<void>((resolve) => {
    service.on('delivery', ({ repeats }) => repeats === deliveryId && resolve());
  });
  const again = await client.post(`/dashboard/webhooks/${deliveryId}/send-again`, {});
  const [, next = ''] = /\/dashboard\/webhooks\/(\w+)$/.exec(String(again.headers.location)) ?? [];
  await delivered;
  t.match((await client.get(`/dashboard/webhooks/${next}`)).text, 'HTTP 204');
  const list = (await client.get('/dashboard/webhooks')).text;
  t.match(list, '(sent again)');
  t.match(list, `https://127.0.0.1:${receiver.port}/hook`);
});

/** A receiver whose answer can be changed, and a member with a key that names it. */
async function withReceiver(t: Test) {
  let status = 500;
  const receiver = await webhookReceiver(t, certificate, (response) => {
    response.statusCode = status;
    response.end('<b>thanks</b>');
  });
  const appliance = await peopledAppliance(t, {
    webhooksAllowNetworks: ['127.0.0.0/8'],
    webhooksCa: authority.caFile,
  });
  const { port, member, installation, service } = appliance;
  const url = `https://127.0.0.1:${receiver.port}/hook`;
  const { administration, place } = installation;
  const key = await administration.keys.create({ account: member, name: 'Site', webhookUrl: url });
  const { accountId } = await installation.accounts.find(member);
  const client = await signedIn(t, port, member);
  /** A delivery that failed after its last attempt. */
  const fail = async () => {
    const { keyId } = key;
    const sent = new Promise<string>((resolve) => {
      service.once('delivery', ({ deliveryId }) => resolve(deliveryId));
    });
    const request = { owner: accountId, keyId, className: 'A', code: 'x', webhookUrl: url };
    const { jobId } = await service.enqueue(request);
    await service.cancel(jobId);
    const deliveryId = await sent;
    const { storage } = place;
    await storage.transaction(async (tx) => {
      const record = await storage.deliveries.get(deliveryId, tx);
      if (record) await storage.deliveries.update(tx, { ...record, dueAtMs: null });
    });
    return deliveryId;
  };
  const answerWith = (code: number) => {
    status = code;
  };
  return { ...appliance, receiver, hook: url, key, client, fail, answerWith };
}

const rowsOf = (text: string) =>
  [...text.matchAll(/<th scope="row" class="rowhead fill"><a href="([^"]+)"/g)].length;

t.test('deliveries are filtered by state and key', async (t) => {
  const { client, key, fail, installation, member } = await withReceiver(t);
  const other = await installation.administration.keys.create({ account: member, name: 'Other' });
  await fail();
  const rows = async (query: string) => rowsOf((await client.get(`/dashboard/webhooks?${query}`)).text);
  t.equal(await rows(''), 1);
  t.equal(await rows('state=failed'), 1);
  t.equal(await rows('state=pending'), 0);
  t.equal(await rows('state=delivered'), 0);
  t.equal(await rows(`state=failed&key=${key.keyId}`), 1);
  t.equal(await rows(`key=${other.keyId}`), 0);
  const { text } = await client.get(`/dashboard/webhooks?state=failed&key=${key.keyId}`);
  t.match(text, `href="/dashboard/webhooks?key=${key.keyId}&amp;state=pending"`, 'filters are combined');
});

t.test('all that failed since a time are sent again, once for each form', async (t) => {
  const { client, fail, answerWith, service, receiver } = await withReceiver(t);
  const failed = [await fail(), await fail()];
  answerWith(204);
  const form = (await client.get('/dashboard/webhooks')).text;
  const [, until = ''] = /name="until" value="([^"]+)"/.exec(form) ?? [];
  const again = new Set<string | null>();
  const delivered = new Promise<void>((resolve) => {
    service.on('delivery', ({ repeats }) => again.add(repeats).size === 2 && resolve());
  });
  const send = async (since: string) => {
    const answer = await client.post('/dashboard/webhooks/failed/send-again', { since, until });
    t.equal(answer.status, 303);
    return (await client.get(String(answer.headers.location))).text;
  };
  t.match(await send('2100-01-01T00:00'), 'No failed webhook of this time was left');
  t.match(await send('2020-01-01T00:00'), '2 webhooks are sent again');
  t.match(await send('2020-01-01T00:00'), 'No failed webhook of this time was left');
  await delivered;
  t.same([...again].sort(), failed.sort());
  t.equal(receiver.received.length, 4);
  const wrong = await client.post('/dashboard/webhooks/failed/send-again', { since: 'x', until });
  t.match([wrong.status, wrong.text], [400, 'A time is written as']);
});

t.test('a test event shows how its signature is verified', async (t) => {
  const { client, key, hook, answerWith, receiver, service } = await withReceiver(t);
  answerWith(204);
  const send = (fields: Record<string, string>) =>
    client.post('/dashboard/webhooks/test', { key: key.keyId, ...fields });
  const { status, text } = await send({});
  t.equal(status, 200);
  const [got] = receiver.received;
  const header = String(got?.headers['svc-signature']);
  t.match(verifyWebhook(got?.body ?? '', header, key.webhookSecret), { valid: true });
  t.match(got?.headers, { 'svc-event': 'completed', 'svc-test': 'true' });
  const [, time = '', signature = ''] = /^t=(\d+),v1=(\w+)$/.exec(header) ?? [];
  t.match(text, `svc-signature: ${header}`);
  t.match(text, `${time}.{&quot;jobId&quot;:`);
  t.equal(text.split(signature).length - 1, 3, 'in the header, read, and computed');
  t.match(text, 'HTTP 204');
  t.match(text, /Equal<.*Valid</s);
  t.notMatch(text, key.webhookSecret);
  answerWith(500);
  const refused = (await send({ url: `${hook}?other` })).text;
  t.match(refused, 'HTTP 500');
  t.match(refused, '&lt;b&gt;thanks&lt;/b&gt;');
  t.match((await send({ url: 'https://10.0.0.1/' })).text, 'in a network that webhooks may not reach');
  const insecure = await send({ url: 'http://example.org/' });
  t.match([insecure.status, insecure.text], [400, 'must be an https:// URL']);
  t.same(await service.deliveries.list(), [], 'a test is no delivery');
});

t.test('a video goes on playing while a webhook of its job is sent', async (t) => {
  const receiver = await webhookReceiver(t, certificate);
  const { url, member, installation, service } = await peopledAppliance(t, {
    python: INSTANT_PYTHON,
    insecureNoSandbox: true,
    webhooksAllowNetworks: ['127.0.0.0/8'],
    webhooksCa: authority.caFile,
  });
  const { accountId } = await installation.accounts.find(member);
  const delivered = new Promise<string>((resolve) => {
    service.once('delivery', ({ deliveryId }) => resolve(deliveryId));
  });
  const webhook = { url: `https://127.0.0.1:${receiver.port}/hook`, secret: 'whsec_1' };
  const enqueue = (className: string, change = {}) =>
    service.enqueue({ owner: accountId, className, code: 'x', ...change });
  const { jobId } = await enqueue('A', { webhook });
  const deliveryId = await delivered;
  const page = await openPage(t, await launchBrowser(t));
  await signIn(page, url, member);
  await page.goto(`${url}/dashboard/jobs/${jobId}`);
  await page.locator('html[data-connected]').waitFor();
  await page.evaluate(`window.video = document.querySelector('video')`);
  await page.locator('#source').getByRole('button', { name: 'Copy' }).waitFor();
  await page.evaluate(`window.source = document.querySelector('#source pre')`);
  await installation.administration.deliveries.sendAgain({ deliveryId });
  await enqueue('B');
  await page.getByText('sent again').waitFor();
  t.equal(await page.evaluate(`window.video === document.querySelector('video')`), true);
  t.equal(await page.evaluate(`window.source === document.querySelector('#source pre')`), true);
});

/** A delivery that waits for its second attempt, on an open page. */
async function retried(t: Test) {
  const parts = await withReceiver(t);
  const { url, member, service, installation, hook, key } = parts;
  const { accountId } = await installation.accounts.find(member);
  const page = await openPage(t, await launchBrowser(t));
  await signIn(page, url, member);
  await page.goto(`${url}/dashboard/webhooks`);
  await page.locator('html[data-connected]').waitFor();
  const request = { owner: accountId, keyId: key.keyId, className: 'A', code: 'x', webhookUrl: hook };
  const attempted = new Promise<string>((resolve) => {
    service.once('delivery', ({ deliveryId }) => resolve(deliveryId));
  });
  const { jobId } = await service.enqueue(request);
  await service.cancel(jobId);
  return { ...parts, page, deliveryId: await attempted };
}

t.test('the list of webhooks follows their state by itself, and tells what is being retried', async (t) => {
  const { url, page } = await retried(t);
  await page.getByText('Being retried').waitFor();
  t.same(await accessibilityFaults(page), []);
  await page.goto(`${url}/dashboard/webhooks?state=failed`);
  await page.getByText('1 webhook waits, or is being retried.').waitFor();
  t.equal(await page.getByText('Every receiver has accepted').count(), 0);
  await page.getByRole('link', { name: 'Show them' }).click();
  await page.getByText('Being retried').waitFor();
});

t.test('a waiting webhook is sent now, and its page follows', async (t) => {
  const { url, page, deliveryId, answerWith, receiver } = await retried(t);
  await page.goto(`${url}/dashboard/webhooks/${deliveryId}`);
  await page.locator('html[data-connected]').waitFor();
  answerWith(204);
  await page.getByRole('button', { name: 'Send now' }).focus();
  await page.keyboard.press('Enter');
  await page.getByText('Attempt 2: HTTP 204').waitFor();
  await page.locator('.tag.good').waitFor();
  t.equal(receiver.received.length, 2);
  t.equal(await page.getByRole('button', { name: 'Send now' }).count(), 0);
  await page.reload();
  t.equal(await page.getByText('It is sent within a second.').count(), 0);
});

t.test('a waiting webhook is given up, once; another tab is told why it cannot', async (t) => {
  const { url, page, deliveryId, service } = await retried(t);
  const path = `${url}/dashboard/webhooks/${deliveryId}`;
  const other = await page.context().newPage();
  await Promise.all([page.goto(path), other.goto(path)]);
  await page.getByRole('button', { name: 'Give up' }).click();
  await page.getByText('It was given up: no further attempt is made.').waitFor();
  t.match(await service.deliveries.get(deliveryId), { status: 'failed', nextAttemptAt: null });
  await other.getByRole('button', { name: 'Send now' }).click();
  await other.getByText('This delivery does not wait').waitFor();
  t.match(await service.deliveries.get(deliveryId), { status: 'failed', attempts: { length: 1 } });
  await other.getByRole('button', { name: 'Send again' }).waitFor();
});
