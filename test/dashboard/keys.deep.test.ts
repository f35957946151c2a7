import t from 'tap';
import { accessibilityFaults, launchBrowser, openPage, peopledAppliance, signIn } from './browser.ts';

t.test('a key with scopes and an expiry is made in a browser, also without scripts', async (t) => {
  const { url, member, installation } = await peopledAppliance(t);
  const { keys } = installation.administration;
  const browser = await launchBrowser(t);
  for (const javaScriptEnabled of [true, false]) {
    const name = `Made with scripts: ${javaScriptEnabled}`;
    const page = await openPage(t, browser, { javaScriptEnabled, viewport: { width: 1280, height: 800 } });
    await signIn(page, url, member);
    await page.goto(`${url}/dashboard/keys/new`);
    if (javaScriptEnabled) t.same(await accessibilityFaults(page), []);
    await page.getByRole('textbox', { name: /^Name/ }).fill(name);
    await page.getByRole('checkbox', { name: /^check/ }).uncheck();
    await page.getByLabel(/^Expires/).fill('9000-01-31');
    await page.getByRole('button', { name: 'Create key' }).click();
    await page.locator('#new-key').waitFor();
    const made = (await keys.list({ account: member })).keys.find((key) => key.name === name);
    t.match(made, { scopes: ['render', 'read'], expiresAt: '9000-01-31T23:59:59.999Z' });
    await page.goto(`${url}/dashboard/keys`);
    await page.getByRole('row', { name }).getByText('render, read').waitFor();
    if (javaScriptEnabled) t.same(await accessibilityFaults(page), []);
  }
});
