import t from 'tap';
import { listeningAppliance, send } from '../appliance/listening-appliance.ts';
import { launchBrowser, openPage, PASSWORD } from './browser.ts';

t.test('set-up link, first key, first render, revocation', async (t) => {
  const { url, port, installation, service } = await listeningAppliance(t);
  const { administration } = installation;
  // As on a first start: one account, without a password.
  await administration.accounts.delete({ account: 'ada@example.org' });
  await administration.accounts.create({ email: 'owner@localhost' });
  const { url: link } = await administration.accounts.showSetupLink();
  const page = await openPage(t, await launchBrowser(t));

  await page.goto(String(link));
  await page.getByLabel('E-mail address').fill('grace@example.org');
  await page.getByLabel('Password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Set up and sign in' }).click();
  await page.getByText('Nothing rendered yet').waitFor();
  t.same(
    (await administration.accounts.list()).map(({ email, role }) => [email, role]),
    [['grace@example.org', 'admin']],
    'the account of the first start was claimed, and no second one made',
  );
  t.equal((await administration.accounts.showSetupLink()).url, null);
  const again = await page.goto(String(link));
  t.equal(again?.status(), 404, 'the link is valid once');

  await page.goto(`${url}/dashboard/keys`);
  await page.getByRole('link', { name: 'Create key' }).click();
  await page.getByRole('textbox', { name: /^Name/ }).fill('Lecture <b>site</b>');
  await page.getByRole('button', { name: 'Create key' }).click();
  const key = (await page.locator('#new-key').textContent()) ?? '';
  const secret = (await page.locator('#new-secret').textContent()) ?? '';
  t.match(key, /^svc_live_[0-9a-f]{48}$/);
  t.match(secret, /^whsec_[0-9a-f]{48}$/);
  t.match(await page.locator('#curl').textContent(), `Bearer ${key}`);
  await page.getByRole('link', { name: 'Done' }).click();
  t.notMatch(await page.content(), key.slice(20));
  t.notMatch(await page.content(), secret.slice(10));

  await page.goto(`${url}/dashboard`);
  await page.locator('html[data-connected]').waitFor();
  const ask = (method: string, path: string, body = '') =>
    send(port, path, { method, body, headers: { authorization: `Bearer ${key}` } });
  const posted = await ask('POST', '/api/v2/render', JSON.stringify({ className: 'Hello', code: 'x' }));
  t.equal(posted.status, 202);
  // Pushed: the page isn't loaded again.
  await page.getByRole('link', { name: 'Hello' }).first().click();
  await page.getByRole('heading', { name: 'Hello' }).waitFor();
  await page.getByRole('button', { name: 'Cancel' }).click();
  await page.getByRole('heading', { name: 'Canceled' }).waitFor();
  t.match(await service.get(String(posted.json['jobId'])), { status: 'failed', error: 'Canceled' });

  await page.getByRole('link', { name: 'Keys' }).click();
  await page.getByRole('link', { name: 'Lecture <b>site</b>' }).click();
  await page.getByRole('link', { name: /Revoke this key/ }).click();
  t.equal((await ask('GET', '/api/v2/me')).status, 200, 'asking doesn’t revoke');
  await page.getByRole('button', { name: 'Revoke key' }).click();
  await page.getByText('The key was revoked').waitFor();
  t.equal((await ask('GET', '/api/v2/me')).status, 401);

  const acts = await installation.folder.actStore.listActs({ limit: 10 });
  t.same(
    acts.map(({ action }) => action),
    ['keys.revoke', 'jobs.cancel', 'keys.create', 'accounts.claim'],
  );
  t.match(
    acts.map(({ subject }) => subject),
    [/^key_/, posted.json['jobId'], /^key_/, /^acct_/],
  );
  t.ok(acts.every(({ actor, address }) => actor !== null && address === '127.0.0.1'));
});
