import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import t, { type Test } from 'tap';
import {
  accessibilityFaults,
  launchBrowser,
  openPage,
  PASSWORD,
  peopledAppliance,
  signIn,
} from './browser.ts';

const INSTANT_PYTHON = join(import.meta.dirname, '../fixtures/instant-renderer/bin/python');

async function signedInPage(t: Test) {
  const appliance = await peopledAppliance(t, { python: INSTANT_PYTHON, insecureNoSandbox: true });
  const { url, member, installation } = appliance;
  const page = await openPage(t, await launchBrowser(t));
  await signIn(page, url, member);
  const { accountId } = await installation.accounts.find(member);
  const keys = async () => (await installation.administration.keys.list({ account: member })).keys;
  return { ...appliance, page, accountId, keys };
}

async function signInHere(page: Page, email: string) {
  await page.getByLabel('E-mail address').fill(email);
  await page.getByLabel('Password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Sign in' }).click();
}

t.test('a form after the end of the session leads to the sign-in, and back', async (t) => {
  const { url, page, member, accountId, installation, keys } = await signedInPage(t);
  const form = `${url}/dashboard/keys/new?from=there`;
  await page.goto(form);
  await page.getByRole('textbox', { name: /^Name/ }).fill('Late');
  await installation.place.sessionStore.removeSessionsOf(accountId);
  await page.getByRole('button', { name: 'Create key' }).click();
  await page.getByText('Your session has ended, so the form was not sent.').waitFor();
  t.same(await keys(), []);
  await signInHere(page, member);
  await page.getByRole('heading', { name: 'Create key' }).waitFor();
  t.equal(page.url(), form);
  await installation.place.sessionStore.removeSessionsOf(accountId);
  await page.getByRole('link', { name: 'Credits' }).click();
  await page.getByText('Your session has ended. Sign in again.').waitFor();
  await signInHere(page, member);
  await page.getByRole('heading', { name: 'Credits' }).waitFor();
});

t.test('two tabs: signing in and out in one of them', async (t) => {
  const { url, page, member, installation, service, accountId } = await signedInPage(t);
  const other = await page.context().newPage();
  await other.goto(`${url}/dashboard/jobs`);
  await other.locator('html[data-connected]').waitFor();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  // The other tab finds out when it asks for news.
  await service.enqueue({ owner: accountId, className: 'News', code: 'x' });
  await other.getByRole('heading', { name: 'Sign in' }).waitFor();

  await signInHere(page, member);
  await page.getByRole('heading', { name: 'Library' }).waitFor();
  // Its form is of the time before.
  await signInHere(other, member);
  await other.getByRole('heading', { name: 'Jobs' }).waitFor();
  const acts = await installation.administration.acts.list({ limit: 10 });
  const signIns = acts.filter(({ action }) => action === 'sign-in');
  t.equal(
    signIns.reduce((sum, { count }) => sum + count, 0),
    2,
    'who is signed in stays so',
  );
});

t.test('pages are not shown after signing out, not even with the back button', async (t) => {
  const { url, page } = await signedInPage(t);
  await page.goto(`${url}/dashboard/account`);
  await page.getByText('User id').waitFor();
  await page.getByRole('button', { name: 'Sign out', exact: true }).click();
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  await page.goBack();
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  t.equal(await page.getByText('User id').count(), 0);
});

t.test('a double click and the back button send a form once', async (t) => {
  const { url, page, keys } = await signedInPage(t);
  await page.goto(`${url}/dashboard/keys/new`);
  await page.getByRole('textbox', { name: /^Name/ }).fill('Once');
  await page.getByRole('button', { name: 'Create key' }).dblclick();
  await page.locator('#new-key').waitFor();
  t.equal((await keys()).length, 1);
  await page.getByLabel('URL').fill('https://hooks.example.org/x');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('The default webhook was changed').waitFor();
  const changed = await keys();
  await page.goBack();
  await page.getByRole('button', { name: 'Save' }).waitFor();
  t.equal(await page.getByText('The default webhook was changed').count(), 0);
  t.equal(await page.locator('#new-key').count(), 0, 'the secrets are shown once');
  await page.goBack();
  await page.getByRole('heading', { name: 'Create key' }).waitFor();
  t.same(await keys(), changed);
});

t.test('a reload repeats no form, and tells nothing twice', async (t) => {
  const { url, page, keys, installation, member } = await signedInPage(t);
  const other = await page.context().newPage();
  await page.goto(`${url}/dashboard/keys/new`);
  await page.getByRole('textbox', { name: /^Name/ }).fill('Once');
  await page.keyboard.press('Enter');
  const key = (await page.locator('#new-key').textContent()) ?? '';
  t.match(key, /^svc_live_/);
  t.notMatch(JSON.stringify(await page.context().cookies()), new RegExp(`${key}|whsec`));
  await other.goto(page.url());
  t.equal(await other.locator('#new-key').count(), 0, 'another tab does not show it');
  await page.reload();
  await page.getByRole('heading', { name: 'Once' }).waitFor();
  t.equal(await page.locator('#new-key').count(), 0);
  t.equal((await keys()).length, 1);
  await page.getByRole('button', { name: 'Rotate secret' }).click();
  const secret = (await page.locator('#new-secret').textContent()) ?? '';
  await page.reload();
  t.equal(await page.locator('#new-secret').count(), 0);
  const [{ keyId = '' } = {}] = await keys();
  t.equal(await installation.keys.webhookSecretOf(keyId), secret, 'the secret is that which was shown');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('The default webhook was changed').waitFor();
  await page.reload();
  t.equal(await page.getByText('The default webhook was changed').count(), 0);
  t.equal(await page.evaluate('location.search'), '');

  const administrator = await openPage(t, page.context().browser() as Browser);
  await signIn(administrator, url, 'admin@example.org');
  const { userId } = await installation.administration.accounts.show({ account: member });
  await administrator.goto(`${url}/dashboard/accounts/${userId}`);
  await administrator.getByRole('button', { name: 'Make a link' }).click();
  await administrator.locator('#invitation').waitFor();
  await administrator.reload();
  t.equal(await administrator.locator('#invitation').count(), 0);
  const acts = await installation.administration.acts.list({ limit: 20 });
  t.match(
    acts.filter(({ action }) => action === 'accounts.invite'),
    [{ count: 1 }],
  );
});

t.test('a page is reloaded during a render, and follows it to its video', async (t) => {
  const { url, page, accountId, service, dataDir } = await signedInPage(t);
  const { jobId } = await service.enqueue({ owner: accountId, className: 'Slow', code: 'linger' });
  await page.goto(`${url}/dashboard/jobs/${jobId}`);
  await page.locator('.tag.busy').first().waitFor();
  await page.reload();
  await page.locator('html[data-connected]').waitFor();
  t.equal(await page.locator('.tag.busy').first().innerText(), 'Running');
  writeFileSync(join(dataDir, 'work', 'w0', 'go'), '');
  await page.locator('video').waitFor();
  t.equal((await service.get(jobId)).status, 'completed');
});

t.test('a change before the page is connected is shown', async (t) => {
  const { url, page, accountId, service, installation } = await signedInPage(t);
  await installation.administration.queue.pause();
  const { jobId } = await service.enqueue({ owner: accountId, className: 'Slow', code: 'linger' });
  const started = Promise.withResolvers<void>();
  service.on('job', ({ status }) => status === 'running' && started.resolve());
  await page.route('**/dashboard/live', async (route) => {
    await started.promise;
    await route.continue();
  });
  await page.goto(`${url}/dashboard/jobs/${jobId}`);
  t.equal(await page.locator('.tag').first().innerText(), 'Queued');
  await installation.administration.queue.resume();
  await page.locator('.tag.busy').first().waitFor();
});

/** Hides or shows the tab. */
async function show(page: Page, visible: boolean) {
  await page.evaluate(`Object.defineProperty(document, 'hidden', { value: ${!visible}, configurable: true });
    document.dispatchEvent(new Event('visibilitychange'))`);
}

/** Opens a page that was connected, and whose next attempts to connect fail. */
async function disconnected(page: Page, url: string) {
  await page.goto(url);
  await page.locator('html[data-connected]').waitFor();
  await show(page, false);
  await page.route('**/dashboard/live', (route) => route.fulfill({ status: 503 }));
}

t.test('a page connects again after errors of the server, and catches up', async (t) => {
  const { url, page, accountId, service } = await signedInPage(t);
  await disconnected(page, `${url}/dashboard/jobs`);
  await show(page, true);
  await page.getByText('Not connected; trying again.').waitFor();
  t.equal(await page.locator('html[data-connected]').count(), 0);
  t.same(await accessibilityFaults(page), []);
  await page.unroute('**/dashboard/live');
  await page.locator('html[data-connected]').waitFor();
  t.equal(await page.getByText('Not connected').count(), 0);
  await service.enqueue({ owner: accountId, className: 'News', code: 'x' });
  await page.getByText('News').waitFor();
});

t.test('a page that cannot connect since its session has ended leads to the sign-in', async (t) => {
  const { url, page, accountId, installation } = await signedInPage(t);
  await disconnected(page, `${url}/dashboard/jobs`);
  await installation.place.sessionStore.removeSessionsOf(accountId);
  await show(page, true);
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
});

t.test('tabs in the background hold no connection, and catch up when they are seen', async (t) => {
  const { url, page, accountId, service } = await signedInPage(t);
  await page.goto(`${url}/dashboard/jobs`);
  await page.locator('html[data-connected]').waitFor();
  await show(page, false);
  await page.locator('html:not([data-connected])').waitFor({ state: 'attached' });
  await service.enqueue({ owner: accountId, className: 'Meanwhile', code: 'x' });
  t.equal(await page.getByText('Meanwhile').count(), 0);
  await show(page, true);
  await page.getByText('Meanwhile').waitFor();
});

t.test('a page that is replaced keeps the focus, and which details are open', async (t) => {
  const { url, page, accountId, service } = await signedInPage(t);
  const enqueue = (className: string) => service.enqueue({ owner: accountId, className, code: 'x' });
  const { jobId } = await enqueue('First');
  await service.wait(jobId);
  await page.goto(`${url}/dashboard/jobs`);
  await page.locator('html[data-connected]').waitFor();
  await page.getByRole('link', { name: 'First' }).focus();
  await enqueue('Second');
  await page.getByText('Second').waitFor();
  t.equal(await page.evaluate('document.activeElement.textContent'), 'First');
  await page.getByRole('checkbox', { name: 'Select First' }).focus();
  await enqueue('Third');
  await page.getByText('Third').waitFor();
  t.equal(await page.evaluate('document.activeElement.value'), jobId);

  const output = (text: string) =>
    page.evaluate(`(() => {
      const detail = document.implementation.createHTMLDocument();
      detail.body.innerHTML =
        '<div id="live"><details open><summary>Output</summary>${text}</details><button>Go</button></div>';
      dispatchEvent(new CustomEvent('show', { detail }));
    })()`);
  await output('one');
  await page.getByText('Output').click();
  await page.getByRole('button', { name: 'Go' }).focus();
  await output('two');
  t.equal(await page.locator('details[open]').count(), 0);
  t.equal(await page.evaluate('document.activeElement.textContent'), 'Go');
});
