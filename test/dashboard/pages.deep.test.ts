import type { Page } from 'playwright-core';
import t from 'tap';
import { oneOf } from '../fixtures/depth.ts';
import { accessibilityFaults, launchBrowser, openPage, signIn } from './browser.ts';
import { Client } from './client.ts';
import { filledAppliance } from './filled-appliance.ts';

interface Look {
  colorScheme: 'light' | 'dark';
  viewport?: { width: number; height: number };
  /** Accessibility rules to check; all if undefined. */
  rules?: string[];
}

async function widthBeyondWindow(page: Page): Promise<number> {
  return (await page.evaluate(
    'document.documentElement.scrollWidth - document.documentElement.clientWidth',
  )) as number;
}

t.test('every page is accessible, light, dark and on a phone, and runs no foreign script', async (t) => {
  const { url, admin, paths } = await filledAppliance(t);
  const browser = await launchBrowser(t);
  const looks = {
    light: { colorScheme: 'light' },
    dark: { colorScheme: 'dark', rules: ['color-contrast'] }, // The markup is the same.
    phone: { colorScheme: 'light', viewport: { width: 390, height: 800 } },
  } satisfies Record<string, Look>;
  for (const [name, { rules, ...look }] of Object.entries<Look>(looks)) {
    await t.test(name, async (t) => {
      // Its own policy would hide markup that isn't escaped.
      const page = await openPage(t, browser, { ...look, bypassCSP: true });
      const visit = async (path: string) => {
        await page.goto(`${url}/dashboard${path}`);
        t.same(await accessibilityFaults(page, rules), [], path);
        t.equal(await widthBeyondWindow(page), 0, `${path} fits`);
        t.not(await page.title(), 'hacked', path);
        t.equal(await page.locator('img:not([src^="/dashboard/"], [src^="/artifacts/"])').count(), 0, path);
      };
      await visit('/sign-in');
      await visit('/set-up?token=wrong');
      await signIn(page, url, admin);
      for (const path of oneOf(name === 'light' ? 2 : 4, paths, name.length)) await visit(path);
    });
  }
});

t.test('every page has a strict policy, which its own parts keep', async (t) => {
  const { port, admin, paths } = await filledAppliance(t);
  const client = new Client(port);
  await client.signIn(admin);
  for (const path of ['/sign-in', ...paths]) {
    const { headers, text } = await client.get(`/dashboard${path}`);
    const policy = String(headers['content-security-policy']);
    t.match(
      policy,
      /^default-src 'none'; script-src 'self'; style-src 'self';.* form-action 'self'; base-uri 'none'/,
    );
    t.notMatch(policy, 'unsafe');
    t.match(headers, { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' }, path);
    // Values of attributes may contain anything, escaped.
    t.notMatch(text.replaceAll(/="[^"]*"/g, '=""'), /<[^>]+ (?:style|on\w+)=/, path);
    t.notMatch(text, /svc_live_[0-9a-f]{9}|whsec_/, `${path} contains no key or secret`);
    const outside = [...text.matchAll(/<(?:link|script|img|video)[^>]+(?:href|src)="(?!\/|data:,)/g)];
    t.same(outside, [], path);
  }
});

t.test('without scripts, pages are read and forms work', async (t) => {
  const { url, admin, keyId, job } = await filledAppliance(t);
  const page = await openPage(t, await launchBrowser(t), { javaScriptEnabled: false });
  await signIn(page, url, admin);
  await page.goto(`${url}/dashboard/keys/${keyId}`);
  await page.getByLabel('URL').fill('https://hooks.example.org/new');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('The default webhook was changed').waitFor();
  await page.getByRole('button', { name: 'Rotate secret' }).click();
  t.match(await page.locator('#new-secret').textContent(), /^whsec_[0-9a-f]{48}$/);
  t.equal(
    await page.getByRole('button', { name: 'Copy' }).count(),
    0,
    'buttons that need scripts are hidden',
  );
  await page.goto(`${url}/dashboard${job}`);
  await page.getByRole('button', { name: 'Render again' }).click();
  await page.getByRole('button', { name: 'Cancel' }).waitFor();
  t.not(page.url(), `${url}/dashboard${job}`);
  await page.goto(`${url}/dashboard/credits`);
  await page.getByLabel('Quality').selectOption('fourk');
  await page.getByLabel('Render time').fill('2.5');
  await page.getByRole('button', { name: 'Calculate' }).click();
  await page.getByText('40 credits').waitFor();
});

t.test('errors of forms are shown above them, and the input is kept', async (t) => {
  const { port, admin, keyId } = await filledAppliance(t);
  const client = new Client(port);
  await client.signIn(admin);
  const nameless = await client.post('/dashboard/keys', {
    name: ' ',
    webhookUrl: 'https://hooks.example.org/x',
  });
  t.match([nameless.status, nameless.text], [400, 'A key needs a name of 1 to 100 characters.']);
  t.match(nameless.text, 'https://hooks.example.org/x');
  const insecure = await client.post(`/dashboard/keys/${keyId}/webhook`, {
    webhookUrl: 'http://hooks.example.org',
  });
  t.match([insecure.status, insecure.text], [400, 'The webhook URL must be an https:// URL']);
});
