import { join } from 'node:path';
import type { Page } from 'playwright-core';
import t, { type Test } from 'tap';
import { accessibilityFaults, launchBrowser, openPage, peopledAppliance, signIn } from './browser.ts';
import { Client } from './client.ts';

const INSTANT_PYTHON = join(import.meta.dirname, '../fixtures/instant-renderer/bin/python');
/** Tries to run in every field that a person or a scene can fill. */
const EVIL = `"><img src=x onerror="document.title='hacked'"><script>document.title='hacked'</script>`;

interface Look {
  colorScheme: 'light' | 'dark';
  viewport?: { width: number; height: number };
  /** Accessibility rules to check; all if undefined. */
  rules?: string[];
}

/** Pages with something of every kind on them. */
async function filledAppliance(t: Test) {
  const appliance = await peopledAppliance(t, { python: INSTANT_PYTHON, insecureNoSandbox: true });
  const { admin, member, installation, service } = appliance;
  const { administration } = installation;
  const { accountId } = await installation.accounts.find(admin);
  const { accountId: memberId } = await installation.accounts.find(member);
  const { keyId } = await administration.keys.create({ account: admin, name: EVIL.slice(0, 100) });
  const revoked = await administration.keys.create({
    account: admin,
    name: 'Old',
    webhookUrl: 'https://hooks.example.org/',
  });
  await administration.keys.revoke({ keyId: revoked.keyId });
  const file = async (name: string, text: string) => {
    const content = (async function* () {
      yield Buffer.from(text);
    })();
    return (await administration.files.put({ account: admin, name, content })).fileId;
  };
  const drawing = await file('brand/logo.svg', '<svg xmlns="http://www.w3.org/2000/svg"></svg>');
  const table = await file(`${EVIL.replaceAll(/[\s<>"|?*:/\\]/g, '_')}.csv`, EVIL);
  const request = { owner: accountId, keyId, className: 'Hello' };
  const evil = {
    metadataJson: JSON.stringify({ text: EVIL }),
    webhook: { url: 'https://hooks.example.invalid/', secret: 'whsec_1' },
  };
  const done = await service.enqueue({ ...request, ...evil, code: `print(1) # ${EVIL}\n`.repeat(30) });
  const failed = await service.enqueue({ ...request, code: `fail ${EVIL}` });
  await Promise.all([service.wait(done.jobId), service.wait(failed.jobId)]);
  const running = await service.enqueue({ ...request, code: 'linger' });
  await administration.queue.pause();
  const forgotten = await service.enqueue({ ...request, code: 'x' });
  await service.cancel(forgotten.jobId);
  await service.forget(forgotten.jobId);
  const [delivery] = await service.deliveries.list({ jobId: done.jobId });
  const job = `/jobs/${done.jobId}`;
  const paths = [
    '',
    '/playground',
    `/playground?job=${done.jobId}`,
    `/playground?job=${failed.jobId}`,
    `/playground?job=${running.jobId}`,
    `/playground?job=${forgotten.jobId}`,
    '/jobs',
    '/jobs?status=canceled',
    `/jobs?error=${encodeURIComponent(EVIL.slice(EVIL.indexOf('<script')))}&from=2026-01-01T00:00&quality=low`,
    '/jobs?error=as+it+was+told',
    '/jobs?from=yesterday',
    '/jobs?status=queued&account=member@example.org',
    job,
    `/jobs/${failed.jobId}`,
    `/jobs/${running.jobId}`,
    `/jobs/${forgotten.jobId}`,
    `${job}/forget`,
    '/files',
    '/files?folder=brand',
    '/files?account=member@example.org',
    `/files/${drawing}`,
    `/files/${table}`,
    `/files/${table}/remove`,
    '/keys',
    '/keys/new',
    `/keys/${keyId}`,
    `/keys/${keyId}/revoke`,
    `/keys/${revoked.keyId}`,
    '/keys?account=member@example.org',
    '/credits',
    '/credits?days=365',
    '/credits?quality=fourk&seconds=3.5',
    '/account',
    '/accounts',
    '/accounts?q=nobody',
    `/accounts/${accountId}`,
    `/accounts/${memberId}`,
    `/accounts/${memberId}/delete`,
    '/acts',
    '/service',
    '/webhooks',
    '/webhooks?state=failed',
    `/webhooks?key=${keyId}`,
    '/webhooks/test',
    `/webhooks/${delivery?.deliveryId}`,
    '/nothing-here',
  ];
  return { ...appliance, paths, job, keyId };
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
        t.equal(await page.locator('img:not([src^="/dashboard/"])').count(), 0, path);
      };
      await visit('/sign-in');
      await visit('/set-up?token=wrong');
      await signIn(page, url, admin);
      for (const path of paths) await visit(path);
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
    t.notMatch(text, /<[^>]+ (?:style|on\w+)=/, path);
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
