import { join } from 'node:path';
import t from 'tap';
import { accessibilityFaults, launchBrowser, openPage, peopledAppliance, signIn } from './browser.ts';

const INSTANT = {
  python: join(import.meta.dirname, '../fixtures/instant-renderer/bin/python'),
  insecureNoSandbox: true,
};

t.test('the statement has one row a job, and the ledger behind it', async (t) => {
  const { url, member, installation, service } = await peopledAppliance(t, INSTANT);
  const { accountId } = await installation.accounts.find(member);
  const enqueue = (className: string, code: string) =>
    service.enqueue({ owner: accountId, className, code, quality: 'twok' });
  const good = await enqueue('Good', 'x');
  const { creditsCost } = await service.wait(good.jobId);
  await service.wait((await enqueue('Bad', 'fail')).jobId);
  await service.pauseQueue();
  await service.cancel((await enqueue('Stopped', 'x')).jobId);
  await enqueue('Waits', 'x');
  const page = await openPage(t, await launchBrowser(t));
  await signIn(page, url, member);
  await page.goto(`${url}/dashboard/credits`);
  const statement = page.locator('#statement');
  const rows = async () => {
    const cells = await statement.locator('tbody tr').all();
    return Promise.all(cells.map((row) => row.locator('th, td').allInnerTexts()));
  };
  t.match(await rows(), [
    ['Waits reserved until it ends', 'Queued', '2K', '', String, '−40'],
    ['Stopped', 'Canceled', '2K', '', String, '0'],
    ['Bad', 'Failed', '2K', '', String, '0'],
    ['Good', 'Completed', '2K', / s$/, String, `−${creditsCost}`],
    ['Credits added', '', '', '', String, '+1,000'],
  ]);
  t.notMatch(await statement.innerText(), /[0-9a-f]{12}/, 'no hashes');
  t.same(await accessibilityFaults(page), []);
  await page.getByRole('link', { name: 'All entries of the ledger' }).focus();
  await page.keyboard.press('Enter');
  await page.getByRole('columnheader', { name: 'Entry' }).waitFor();
  t.equal((await rows()).length, 8);
  t.match(await statement.innerText(), good.jobId);
  t.same(await accessibilityFaults(page), []);
  await page.goBack();
  await statement.getByRole('link', { name: 'Good' }).click();
  await page.getByRole('heading', { name: 'Good' }).waitFor();
});

t.test('a grant by mistake is taken back, once', async (t) => {
  const { url, admin, member, installation } = await peopledAppliance(t);
  const { administration } = installation;
  const { userId } = await administration.accounts.show({ account: member });
  const page = await openPage(t, await launchBrowser(t));
  await signIn(page, url, admin);
  const path = `${url}/dashboard/accounts/${userId}`;
  await page.goto(path);
  await page.getByLabel('Paid credits').fill('1234567');
  await page.keyboard.press('Enter');
  await page.getByText('1,234,567 credits were added.').waitFor();
  await page.reload();
  t.equal(await page.getByText('were added').count(), 0);
  await page.getByLabel('Paid credits').fill('1234566');
  await page.getByRole('button', { name: 'Take back' }).dblclick();
  await page.getByText('1,234,566 credits were taken back.').waitFor();
  t.match(await administration.credits.balance({ account: member }), { paid: 1 });
  await page.getByLabel('Paid credits').fill('2');
  await page.getByRole('button', { name: 'Take back' }).click();
  await page.getByText('Only 1 paid credit can be taken back: the others are spent or reserved.').waitFor();
  t.match((await administration.credits.audit()).problems, []);
  await page.goto(`${url}/dashboard/credits?account=${member}`);
  await page.getByRole('row', { name: /Credits taken back.*−1,234,566/ }).waitFor();
});
