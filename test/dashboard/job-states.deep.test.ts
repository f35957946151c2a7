import { join } from 'node:path';
import t from 'tap';
import { accessibilityFaults, launchBrowser, openPage, peopledAppliance, signIn } from './browser.ts';

const INSTANT = {
  python: join(import.meta.dirname, '../fixtures/instant-renderer/bin/python'),
  insecureNoSandbox: true,
};

t.test('a canceled job has not failed, and a forgotten one is not green', async (t) => {
  const { url, member, installation, service } = await peopledAppliance(t, INSTANT);
  const { accountId } = await installation.accounts.find(member);
  const enqueue = async (className: string, code: string) =>
    (await service.enqueue({ owner: accountId, className, code })).jobId;
  const [gone, bad] = [await enqueue('Gone', 'x'), await enqueue('Bad', 'fail: a mistake')];
  await Promise.all([service.wait(gone), service.wait(bad)]);
  await service.forget(gone);
  await service.pauseQueue();
  const canceled = await enqueue('Stopped', 'x');
  await service.cancel(canceled);
  const page = await openPage(t, await launchBrowser(t));
  await signIn(page, url, member);
  await page.goto(`${url}/dashboard/jobs`);
  const rows = async () => {
    const tags = await page.locator('tbody tr .tag').all();
    return Promise.all(tags.map(async (tag) => [await tag.innerText(), await tag.getAttribute('class')]));
  };
  t.same(await rows(), [
    ['Canceled', 'tag '],
    ['Failed', 'tag bad'],
    ['Forgotten', 'tag '],
  ]);
  t.same(await accessibilityFaults(page), []);
  await page.getByRole('link', { name: 'Failed', exact: true }).click();
  await page.waitForURL(/status=failed/);
  t.same(await rows(), [['Failed', 'tag bad']]);
  await page.getByRole('link', { name: 'Canceled', exact: true }).focus();
  await page.keyboard.press('Enter');
  await page.waitForURL(/status=canceled/);
  t.same(await rows(), [['Canceled', 'tag ']]);
  for (const [jobId, state] of [
    [canceled, 'Canceled'],
    [gone, 'Forgotten'],
  ]) {
    await page.goto(`${url}/dashboard/jobs/${jobId}`);
    t.equal(await page.locator('#facts .tag').innerText(), state);
    t.equal(await page.locator('.tag.bad, .tag.good').count(), 0);
  }
});
