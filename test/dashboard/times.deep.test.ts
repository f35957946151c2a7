import t from 'tap';
import { launchBrowser, openPage, peopledAppliance, signIn } from './browser.ts';

t.test('times have seconds, in the zone of the reader, with UTC on hover; so have fields', async (t) => {
  const { url, member, installation, service } = await peopledAppliance(t);
  const { accountId } = await installation.accounts.find(member);
  const { createdAt } = await service.enqueue({ owner: accountId, className: 'One', code: 'x' });
  const browser = await launchBrowser(t);
  const page = await openPage(t, browser, { timezoneId: 'Asia/Kolkata' });
  await signIn(page, url, member);
  await page.goto(`${url}/dashboard/jobs`);
  const utc = `${createdAt.slice(0, 19).replace('T', ' ')} UTC`;
  const local = new Date(Date.parse(createdAt) + 5.5 * 3_600_000)
    .toISOString()
    .slice(0, 19)
    .replace('T', ' ');
  const time = page.locator('#live time');
  t.equal(await time.textContent(), local);
  t.equal(await time.getAttribute('title'), utc);
  await page.getByText('Times: Asia/Calcutta').or(page.getByText('Times: Asia/Kolkata')).waitFor();
  await service.enqueue({ owner: accountId, className: 'Two', code: 'x' });
  await page.getByRole('link', { name: 'Two' }).waitFor();
  t.equal(await time.last().textContent(), local, 'also after a change');

  await page.getByText('Filters').click();
  await page.getByLabel('From (your time)').fill('2026-01-01T05:30');
  await page.getByLabel('From (your time)').press('Enter');
  await page.waitForURL(/from=2026-01-01T00%3A00%3A00\.000Z/);
  t.equal(await page.getByLabel('From (your time)').inputValue(), '2026-01-01T05:30');
  await page.goBack();

  const plain = await openPage(t, browser, { javaScriptEnabled: false });
  await signIn(plain, url, member);
  await plain.goto(`${url}/dashboard/jobs?from=2026-01-01T00:00`);
  t.equal(await plain.locator('#live time').last().textContent(), utc);
  t.equal(await plain.getByLabel('From (UTC)').inputValue(), '2026-01-01T00:00');
});
