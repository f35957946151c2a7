import t from 'tap';
import { accessibilityFaults, launchBrowser, openPage, peopledAppliance, signIn } from './browser.ts';
import { Client } from './client.ts';

t.test('errors keep the navigation of people who are signed in', async (t) => {
  const { url, member } = await peopledAppliance(t);
  const page = await openPage(t, await launchBrowser(t));
  await signIn(page, url, member);
  for (const [path, status, section] of [
    ['/jobs/nope', 404, 'Jobs'],
    ['/no/such/page', 404, undefined],
    ['/accounts', 403, undefined],
  ] as const) {
    const answer = await page.goto(`${url}/dashboard${path}`);
    t.equal(answer?.status(), status);
    const current = page.locator('nav a[aria-current=page]');
    t.equal(await current.count(), section === undefined ? 0 : 1, path);
    if (section !== undefined) t.equal(await current.innerText(), section);
    t.equal(await page.getByRole('link', { name: 'Service' }).count(), 0, 'that of a member');
    t.same(await accessibilityFaults(page), [], path);
    await page.getByRole('link', { name: 'Keys' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Keys', exact: true }).waitFor();
    await page.goBack();
    await page.getByText(/Request [\w-]+/).waitFor();
  }
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
});

t.test('people who cannot use commands are told of none', async (t) => {
  const { port } = await peopledAppliance(t);
  const client = new Client(port);
  for (const path of ['/sign-in', '/set-up?token=wrong', '/no/such/page']) {
    const { text } = await client.get(`/dashboard${path}`);
    t.notMatch(text, 'scenepress ', path);
    if (path !== '/no/such/page') t.match(text, 'Ask an administrator');
  }
});
