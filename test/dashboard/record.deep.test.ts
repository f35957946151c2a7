import t from 'tap';
import { accessibilityFaults, launchBrowser, openPage, peopledAppliance, signIn } from './browser.ts';
import { signedIn } from './client.ts';

t.test('the record names what was done to whom, with amounts, and no ids', async (t) => {
  const { url, port, admin, member, installation } = await peopledAppliance(t);
  const { administration } = installation;
  const client = await signedIn(t, port, admin);
  const { userId } = await administration.accounts.show({ account: member });
  for (const [paid, action] of [
    ['1234567', 'add'],
    ['1234000', 'take-back'],
    ['5', 'add'],
  ] as const) {
    await client.post(`/dashboard/accounts/${userId}/grant`, { paid, action, once: paid });
  }
  const { keyId } = await administration.keys.create({ account: admin, name: 'Lecture site' });
  await client.post(`/dashboard/keys/${keyId}/revoke`, {});
  const gone = await administration.accounts.create({ email: 'gone@example.org' });
  await client.post(`/dashboard/accounts/${gone.userId}/delete`, {});
  const page = await openPage(t, await launchBrowser(t));
  await signIn(page, url, admin);
  await page.goto(`${url}/dashboard/acts`);
  const rows = await page.locator('tbody tr').all();
  const shown = await Promise.all(rows.map((row) => row.locator('th, td').allInnerTexts()));
  t.match(shown, [
    ['Signed in', admin, ''],
    ['Deleted an account', admin, 'deleted'],
    ['Revoked a key', admin, 'Lecture site'],
    ['Added credits: 5', admin, member],
    ['Took credits back: 1,234,000', admin, member],
    ['Added credits: 1,234,567', admin, member],
  ]);
  t.notMatch(await page.locator('tbody').innerText(), /acct_|key_/);
  t.same(await accessibilityFaults(page), []);
  t.equal(
    await page.evaluate(
      `Math.max(...[...document.querySelectorAll('tbody th span:first-child')].map((act) => act.getClientRects().length))`,
    ),
    1,
    'acts are on one line',
  );
  await page.getByRole('link', { name: 'Lecture site' }).click();
  await page.getByRole('heading', { name: 'Lecture site' }).waitFor();
});
