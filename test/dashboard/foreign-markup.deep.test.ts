import { join } from 'node:path';
import t, { type Test } from 'tap';
import { routesOf } from '../../appliance/dashboard/routes.ts';
import { TestAuthority } from '../fixtures/certificates.ts';
import { testFolder } from '../fixtures/test-folder.ts';
import { webhookReceiver } from '../fixtures/webhook-receiver.ts';
import { launchBrowser, openPage, PASSWORD, peopledAppliance, signIn } from './browser.ts';
import { Client, signedIn } from './client.ts';

const INSTANT_PYTHON = join(import.meta.dirname, '../fixtures/instant-renderer/bin/python');
const authority = new TestAuthority(testFolder(t));
const certificate = authority.issue(['127.0.0.1']);

/** Without spaces, so that it fits into addresses too. It would run in text, in attributes and in links. */
const EVIL = `"'><img/src=x/onerror=document.title='hacked'><svg/onload=document.title='hacked'>`;
const RAW = /<img\/src=x|<svg\/onload/i;
const EMAIL = `${EVIL}@example.org`;

/** An appliance in which every field that others fill contains markup. */
async function infested(t: Test) {
  const receiver = await webhookReceiver(t, certificate, (response) => {
    response.statusCode = 500;
    response.end(`</pre>${EVIL}`);
  });
  const appliance = await peopledAppliance(t, {
    python: INSTANT_PYTHON,
    insecureNoSandbox: true,
    trustProxy: true,
    webhooksAllowNetworks: ['127.0.0.0/8'],
    webhooksCa: authority.caFile,
  });
  const { installation, service } = appliance;
  const { accounts, keys } = installation.administration;
  await accounts.create({ email: EMAIL });
  await accounts.setPassword({ account: EMAIL, password: PASSWORD });
  const { accountId: owner } = await installation.accounts.find(EMAIL);
  const url = `https://127.0.0.1:${receiver.port}/hook?${encodeURI(EVIL)}`;
  const { keyId } = await keys.create({ account: EMAIL, name: EVIL, webhookUrl: url });
  const attempted = new Promise<void>((resolve) => void service.once('delivery', () => resolve()));
  const failed = await service.enqueue({
    owner,
    keyId,
    className: 'Evil',
    code: `fail: ${EVIL}\n</pre>${EVIL}`,
    metadataJson: JSON.stringify({ [EVIL]: EVIL }),
    webhook: { url, secret: 'whsec_1' },
  });
  await service.wait(failed.jobId);
  const done = await service.enqueue({ owner, keyId, className: 'Done', code: `# ${EVIL}` });
  await service.wait(done.jobId);
  await service.shares.create({
    owner,
    jobIds: [done.jobId],
    title: EVIL,
    description: `</textarea>${EVIL}`,
  });
  await service.enqueue({ owner, keyId, className: 'Running', code: `linger # ${EVIL}` });
  await attempted;
  // A proxy passes on whatever its client claims.
  const { accountId } = await installation.accounts.find(appliance.admin);
  await installation.acts.record({ accountId, address: EVIL.slice(0, 80) }, 'sign-in', null);
  return appliance;
}

t.test('stored texts of others run as script on no page, even without the policy', async (t) => {
  const { url, admin } = await infested(t);
  const page = await openPage(t, await launchBrowser(t), { bypassCSP: true });
  await signIn(page, url, admin);
  const visited = new Set<string>();
  const seen = new Set<string>();
  const queue = [`${url}/dashboard`];
  for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
    if (visited.has(next)) continue;
    visited.add(next);
    await page.goto(next);
    t.not(await page.title(), 'hacked', next);
    t.equal(await page.locator('img[onerror], svg[onload]').count(), 0, next);
    const text = await page.locator('body').innerText();
    for (const part of ['as code', 'as an answer']) {
      const element = part === 'as code' ? EVIL : `</pre>${EVIL}`;
      if (text.includes(element)) seen.add(part);
    }
    if (text.includes(EMAIL)) seen.add('as an address');
    if (text.includes(EVIL) && /\/shares\/\w+$/.test(next)) seen.add('as a title');
    if (text.includes(EVIL.slice(0, 80)) && next.endsWith('/acts')) seen.add('as a client');
    const links = (await page
      .locator('a[href^="/dashboard"]')
      .evaluateAll((all) =>
        all.map((one) => (one as unknown as { href: string }).href.replace(/#.*/, '')),
      )) as string[];
    queue.push(...links.filter((link) => !visited.has(link)));
    if (visited.size > 150) throw new Error('there is no end of pages');
  }
  t.ok(visited.size > 20, `${visited.size} pages`);
  t.same(
    [...seen].sort(),
    ['as a client', 'as a title', 'as an address', 'as an answer', 'as code'],
    'it was shown as text',
  );
});

t.test('the contents of a request become markup in no response', async (t) => {
  const { port, admin } = await infested(t);
  const names =
    'account before after folder status quality aspect seconds done next ended token error since until page q url name ' +
    'webhookUrl email role paid once jobId deliveryId keyId current secret header body signature code className ' +
    'job jobId title description visibility expires poster posterSeconds allowDownload back up out';
  const fields = Object.fromEntries(names.split(' ').map((name) => [name, EVIL]));
  const query = new URLSearchParams(fields).toString();
  const ROUTES = routesOf({} as Parameters<typeof routesOf>[0]);
  const client = await signedIn(t, port, admin);
  const stranger = new Client(port);
  for (const { method, path } of ROUTES) {
    // The scenes of a source are listed once the only worker is free.
    if (
      /^\/(live|playground\/scenes|sign-out|account\/sign-out-everywhere|service\/(pause|backup))$/.test(path)
    )
      continue;
    const url = `/dashboard${path.replaceAll(/\{\w+\}/g, encodeURIComponent(EVIL))}`;
    for (const who of [client, stranger]) {
      const answer =
        method === 'GET'
          ? await who.get(`${url}?${query}`)
          : await who.post(url, fields, {
              from: who === client ? '/dashboard/account' : '/dashboard/sign-in',
            });
      t.notMatch(answer.text, RAW, `${method} ${url}`);
      t.ok(answer.status < 500, `${method} ${url} ${answer.status}`);
    }
  }
});
