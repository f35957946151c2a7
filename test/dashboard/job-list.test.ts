import { join } from 'node:path';
import t, { type Test } from 'tap';
import { deepTest } from '../fixtures/depth.ts';
import { launchBrowser, openPage, peopledAppliance, signIn } from './browser.ts';
import { signedIn } from './client.ts';

const INSTANT_PYTHON = join(import.meta.dirname, '../fixtures/instant-renderer/bin/python');

/** Jobs of a member: `Good` completed, `Bad` failed and, in the paused queue, `Waits`. */
async function withJobs(t: Test) {
  const appliance = await peopledAppliance(t, { python: INSTANT_PYTHON, insecureNoSandbox: true });
  const { member, installation, service } = appliance;
  const { accountId } = await installation.accounts.find(member);
  const enqueue = async (className: string, code: string, change = {}) =>
    (await service.enqueue({ owner: accountId, className, code, ...change })).jobId;
  const [good, bad] = [await enqueue('Good', 'x'), await enqueue('Bad', 'fail', { quality: 'fourk' })];
  await Promise.all([service.wait(good), service.wait(bad)]);
  await service.pauseQueue();
  const waits = await enqueue('Waits', 'x');
  return { ...appliance, accountId, enqueue, good, bad, waits };
}

const scenesIn = (text: string) => [...text.matchAll(/aria-label="Select (\w+) /g)].map(([, name]) => name);

t.test('the filters of the list live in its URL', async (t) => {
  const { port, member } = await withJobs(t);
  const client = await signedIn(t, port, member);
  const list = async (query: string) => scenesIn((await client.get(`/dashboard/jobs${query}`)).text);
  t.same(await list(''), ['Waits', 'Bad', 'Good']);
  t.same(await list('?status=completed'), ['Good']);
  t.same(await list('?quality=fourk'), ['Bad']);
  t.same(await list('?error=AS+IT+WAS'), ['Bad']);
  t.same(await list('?error=something+else'), []);
  t.same(await list('?status=queued&error=as+it+was'), []);
  t.same(await list('?from=2020-01-01T00:00&to=2100-01-01T00:00'), ['Waits', 'Bad', 'Good']);
  t.same(await list('?to=2020-01-01T00:00'), []);
  t.same(await list('?from=2100-01-01T00:00'), []);
  t.same(
    await list('?account=admin@example.org'),
    ['Waits', 'Bad', 'Good'],
    'a member sees its own jobs only',
  );
  const { text } = await client.get('/dashboard/jobs?error=as+it+was&quality=fourk');
  t.match(text, 'Looked through 1 failed job');
  t.match(text, 'href="/dashboard/jobs?status=failed&amp;quality=fourk&amp;error=as+it+was"');
  t.match(text, 'value="as it was"');
  const wrong = await client.get('/dashboard/jobs?from=yesterday');
  t.match([wrong.status, wrong.text], [400, 'A time is written as 2026-11-22T18:30:00Z.']);
});

t.test('an administrator filters by account', async (t) => {
  const { port, admin, member } = await withJobs(t);
  const client = await signedIn(t, port, admin);
  t.same(scenesIn((await client.get(`/dashboard/jobs?account=${member}&status=failed`)).text), ['Bad']);
  t.same(scenesIn((await client.get(`/dashboard/jobs?account=${admin}`)).text), []);
  const unknown = await client.get('/dashboard/jobs?account=nobody@example.org');
  t.match([unknown.status, unknown.text], [404, 'There is no account']);
});

t.test('pages keep the filters and their place', async (t) => {
  const { port, member, enqueue } = await withJobs(t);
  for (let index = 0; index < 60; index += 1) await enqueue(`Scene${index}`, 'x');
  const client = await signedIn(t, port, member);
  const first = (await client.get('/dashboard/jobs?status=queued&quality=medium')).text;
  t.equal(scenesIn(first).length, 50);
  const next = /href="([^"]+)" rel="next"/.exec(first)?.[1]?.replaceAll('&amp;', '&') ?? '';
  t.match(next, /^\/dashboard\/jobs\?status=queued&quality=medium&before=\w+$/);
  await enqueue('New', 'x');
  const second = scenesIn((await client.get(next)).text);
  t.same([second[0], second.at(-1), second.length], ['Scene9', 'Waits', 11], 'a new job moves nothing');
});

t.test('selected jobs are canceled, rendered again or forgotten, with one message', async (t) => {
  const { port, member, service, good, bad, waits, enqueue } = await withJobs(t);
  const client = await signedIn(t, port, member);
  const apply = async (action: string, jobId: string[], fields = {}) => {
    const back = '?status=failed&before=ffff';
    const { headers, status, text } = await client.post('/dashboard/jobs/selection', {
      action,
      jobId,
      back,
      ...fields,
    });
    if (status !== 303) return text;
    const to = String(headers.location);
    t.equal(to, '/dashboard/jobs?status=failed&before=ffff', 'the list as it was');
    return (await client.get(to)).text;
  };
  t.match(await apply('cancel', []), 'No job was selected.');
  t.match(await apply('delete', [good]), 'No job was selected.');
  t.match(await apply('cancel', [waits, good, bad]), '1 job was canceled. 2 were not: already ended.');
  t.match(await service.get(waits), { error: 'Canceled' });
  t.match(await apply('cancel', [good, bad]), 'No job was canceled: already ended.');

  const queued = await enqueue('Queued', 'x');
  t.match(await apply('forget', [good, queued]), 'Forget the <strong>2</strong> selected jobs?');
  t.notMatch(await service.get(good), { forgottenAt: String });
  t.match(
    await apply('forget', [good, queued, '0'.repeat(48)], { confirmed: 'yes' }),
    /1 job was forgotten\. (?:1 was not: not ended yet, cancel first\. ?|1 was not: not found\. ?){2}/,
  );
  t.match(await service.get(good), { forgottenAt: String });
  t.match(
    await apply('retry', [bad, waits, good]),
    '2 jobs are rendered again. 1 was not: the code was forgotten.',
  );
  t.equal((await service.list({ status: 'queued' })).length, 3);
});

deepTest(t, 'returning to the list selects no other jobs', async (t) => {
  const { url, member, enqueue } = await withJobs(t);
  await enqueue('Next', 'x');
  const page = await openPage(t, await launchBrowser(t));
  await signIn(page, url, member);
  await page.goto(`${url}/dashboard/jobs`);
  await page.getByLabel('Select Waits').check();
  await page.getByRole('link', { name: 'Waits' }).click();
  await page.getByRole('heading', { name: 'Waits' }).waitFor();
  await enqueue('Added', 'x');
  await page.goBack();
  await page.getByLabel('Select Added').waitFor();
  await page.locator('[data-connected]').waitFor();
  t.equal(await page.locator('input[type=checkbox]:checked').count(), 0);
  t.equal(await page.evaluate("document.querySelector('[data-all]').indeterminate"), false);
});

t.test('jobs are selected with scripts, also while the list changes, and without', async (t) => {
  const { url, member, service, enqueue, waits } = await withJobs(t);
  const browser = await launchBrowser(t);
  const page = await openPage(t, browser);
  await signIn(page, url, member);
  await page.goto(`${url}/dashboard/jobs?status=queued`);
  await page.locator('[data-connected]').waitFor();
  await page.getByLabel('Select Waits').check();
  await enqueue('Added', 'x');
  await page.getByRole('link', { name: 'Added' }).waitFor();
  t.ok(await page.getByLabel('Select Waits').isChecked(), 'the selection stays');
  t.notOk(await page.getByLabel('Select Added').isChecked());
  await page.getByLabel('All on this page').check();
  t.ok(await page.getByLabel('Select Added').isChecked());
  await page.getByLabel('Select Waits').uncheck();
  await page.getByRole('button', { name: 'Cancel' }).click();
  await page.getByText('1 job was canceled.').waitFor();
  t.match(page.url(), /\?status=queued$/);
  await page.reload();
  await page.getByLabel('Select Waits').waitFor();
  t.equal(await page.getByText('1 job was canceled.').count(), 0, 'a reload tells it no more');
  t.match(await service.get(waits), { status: 'queued' });
  await page.goBack();
  await page.getByLabel('Select Waits').waitFor();

  const plain = await openPage(t, browser, { javaScriptEnabled: false });
  await signIn(plain, url, member);
  await plain.goto(`${url}/dashboard/jobs`);
  t.notOk(await plain.getByLabel('All on this page').isVisible(), 'what needs scripts is hidden');
  await plain.getByLabel('Select Waits').check();
  await plain.getByLabel('Select Good').check();
  await plain.getByRole('button', { name: 'Cancel' }).click();
  await plain.getByText('1 job was canceled. 1 was not: already ended.').waitFor();
  await plain.getByText('Filters').click();
  await plain.getByLabel('Text of the error').fill('told');
  await plain.getByRole('button', { name: 'Filter' }).click();
  t.match(plain.url(), 'error=told');
  await plain.getByLabel('Select Bad').check();
  await plain.getByRole('button', { name: 'Forget …' }).click();
  await plain.getByRole('button', { name: 'Forget' }).click();
  await plain.getByText('1 job was forgotten.').waitFor();
});
