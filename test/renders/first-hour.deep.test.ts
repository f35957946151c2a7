import t from 'tap';
import { verifyWebhook } from '../../lib/webhooks/signature.ts';
import { listeningAppliance, send } from '../appliance/listening-appliance.ts';
import { launchBrowser, openPage, PASSWORD, replaceText, until } from '../dashboard/browser.ts';
import { TestAuthority } from '../fixtures/certificates.ts';
import { testFolder } from '../fixtures/test-folder.ts';
import { webhookReceiver } from '../fixtures/webhook-receiver.ts';

const CODE = `from manim import *

class Hello(Scene):
    def construct(self):
        self.play(Create(Circle()))
`;
const SLOW = CODE.replace('Create(Circle())', 'Create(Circle()), run_time=600');
const VIDEO = `document.querySelector('#result video')`;

t.test('set-up link, first key, first video, first webhook, revocation', async (t) => {
  const authority = new TestAuthority(testFolder(t));
  const receiver = await webhookReceiver(t, authority.issue(['127.0.0.1']));
  const { url, port, installation, service } = await listeningAppliance(t, {
    renders: true,
    webhooksAllowNetworks: ['127.0.0.0/8'],
    webhooksCa: authority.caFile,
  });
  const { administration } = installation;
  // As on a first start: one account, without a password.
  await administration.accounts.delete({ account: 'ada@example.org' });
  await installation.accounts.create('owner@localhost');
  const { url: link } = await administration.accounts.showSetupLink();
  const page = await openPage(t, await launchBrowser(t));

  await page.goto(String(link));
  await page.getByLabel('E-mail address').fill('grace@example.org');
  await page.getByLabel('Password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Set up and sign in' }).click();
  await page.getByText('Make your first video').waitFor();
  t.same(
    (await administration.accounts.list()).accounts.map(({ email, role }) => [email, role]),
    [['grace@example.org', 'admin']],
    'the account of the first start was claimed, and no second one made',
  );
  t.equal((await administration.accounts.showSetupLink()).url, null);
  const again = await page.goto(String(link));
  t.equal(again?.status(), 404, 'the link is valid once');

  await page.goto(`${url}/dashboard/keys`);
  await page.getByRole('link', { name: 'Create key' }).click();
  await page.getByRole('textbox', { name: /^Name/ }).fill('Lecture <b>site</b>');
  const hook = `https://127.0.0.1:${receiver.port}/hook`;
  await page.getByLabel(/webhook/i).fill(hook);
  await page.getByRole('button', { name: 'Create key' }).click();
  const key = (await page.locator('#new-key').textContent()) ?? '';
  const secret = (await page.locator('#new-secret').textContent()) ?? '';
  t.match(key, /^svc_live_[0-9a-f]{48}$/);
  t.match(secret, /^whsec_[0-9a-f]{48}$/);
  t.match(await page.locator('#curl').textContent(), `Bearer ${key}`);
  await page.reload();
  t.notMatch(await page.content(), key.slice(20));
  t.notMatch(await page.content(), secret.slice(10));

  await page.getByRole('link', { name: 'Playground' }).click();
  await page.locator('html[data-connected]').waitFor();
  await replaceText(page, CODE);
  await page.keyboard.press('Control+Enter');
  await until(page, `${VIDEO}?.currentTime > 0.3`);
  const [first] = await service.list({});
  t.match(first, { className: 'Hello', status: 'completed', keyId: null });

  await page.getByRole('link', { name: 'Library' }).click();
  await page.locator('html[data-connected]').waitFor();
  const ask = (method: string, path: string, body = '') =>
    send(port, path, { method, body, headers: { authorization: `Bearer ${key}` } });
  const posted = await ask(
    'POST',
    '/api/v2/render',
    JSON.stringify({ className: 'Second', code: CODE.replace('Hello', 'Second') }),
  );
  t.equal(posted.status, 202);
  // Pushed: the page isn't loaded again.
  await page.getByRole('link', { name: 'Second' }).first().waitFor();
  const [hooked] = await receiver.got(1);
  const header = String(hooked?.headers['svc-signature']);
  t.match(verifyWebhook(hooked?.body ?? '', header, secret), { valid: true });
  t.match(JSON.parse(String(hooked?.body)), { jobId: posted.json['jobId'] });
  await page.getByRole('link', { name: 'Webhooks' }).click();
  await page.getByText(hook).waitFor();
  await page.getByText('Delivered').first().waitFor();

  const third = await ask('POST', '/api/v2/render', JSON.stringify({ className: 'Hello', code: SLOW }));
  await page.goto(`${url}/dashboard/jobs/${third.json['jobId']}`);
  await page.getByRole('button', { name: 'Cancel' }).click();
  await page.getByRole('heading', { name: 'Canceled' }).waitFor();
  t.match(await service.get(String(third.json['jobId'])), { status: 'failed', error: 'Canceled' });

  await page.getByRole('link', { name: 'Keys' }).click();
  await page.getByRole('link', { name: 'Lecture <b>site</b>' }).click();
  await page.getByRole('link', { name: /Revoke this key/ }).click();
  t.equal((await ask('GET', '/api/v2/me')).status, 200, 'asking doesn’t revoke');
  await page.getByRole('button', { name: 'Revoke key' }).click();
  await page.getByText('The key was revoked').waitFor();
  t.equal((await ask('GET', '/api/v2/me')).status, 401);

  const acts = await installation.place.actStore.listActs({ limit: 10 });
  t.same(
    acts.map(({ action }) => action),
    ['keys.revoke', 'jobs.cancel', 'jobs.render', 'keys.create', 'accounts.claim'],
  );
  t.match(
    acts.map(({ subject }) => subject),
    [/^key_/, third.json['jobId'], first?.jobId, /^key_/, /^acct_/],
  );
  t.ok(acts.every(({ actor, address }) => actor !== null && address === '127.0.0.1'));
});
