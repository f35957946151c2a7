import { join } from 'node:path';
import type { Page } from 'playwright-core';
import t from 'tap';
import { launchBrowser, openPage, peopledAppliance, signIn } from './browser.ts';

const INSTANT_PYTHON = join(import.meta.dirname, '../fixtures/instant-renderer/bin/python');

/** Tables that are wider than their cards, links that are cut off, and answers of more than two lines. */
const MISFITS = `(() => {
  const all = (selector) => [...document.querySelectorAll(selector)];
  const rightOf = (element) => element.getBoundingClientRect().right;
  const linesOf = (cell) => {
    const range = document.createRange();
    range.selectNodeContents(cell);
    return range.getClientRects().length;
  };
  return [
    ...all('.scroll').filter((box) => box.scrollWidth > box.clientWidth),
    ...all('th a').filter((link) => rightOf(link) > rightOf(link.closest('.card'))),
    ...all('td[data-label="Answer"]').filter((cell) => linesOf(cell) > 2),
  ].map(({ outerHTML }) => outerHTML.slice(0, 200));
})()`;

t.test('tables with long names fit a wide window and a phone', async (t) => {
  const { url, admin, installation, service } = await peopledAppliance(t, {
    python: INSTANT_PYTHON,
    insecureNoSandbox: true,
  });
  const { administration } = installation;
  const { accountId } = await installation.accounts.find(admin);
  await administration.accounts.create({ email: `${'long'.repeat(16)}@${'example'.repeat(8)}.org` });
  const { keyId } = await administration.keys.create({ account: admin, name: 'a key '.repeat(7).trim() });
  const failed = await service.enqueue({
    owner: accountId,
    keyId,
    className: `Scene${'Wide'.repeat(40)}`,
    code: `fail: ${'ValueError: a long message '.repeat(10)}`,
    webhook: { url: `https://hooks.example.invalid/${'q'.repeat(300)}`, secret: 'whsec_1' },
  });
  await service.wait(failed.jobId);
  const done = await service.enqueue({ owner: accountId, className: `Scene${'Wide'.repeat(40)}`, code: 'x' });
  await service.wait(done.jobId);
  for (const title of [null, 'W'.repeat(200)]) {
    await service.shares.create({ owner: accountId, jobIds: [done.jobId], title });
  }
  const given = { owner: accountId, code: '', title: 'W'.repeat(200), instructions: 'W'.repeat(500) };
  const { assignmentId } = await service.assignments.create(given);
  const classLink = { owner: accountId, name: 'W'.repeat(200), seats: 1 };
  const { classLinkId } = await installation.classLinks.create(classLink);
  const browser = await launchBrowser(t);
  for (const width of [1280, 390]) {
    const page = await openPage(t, browser, { viewport: { width, height: 800 } });
    await signIn(page, url, admin);
    for (const path of [
      ...['', '/jobs', '/accounts', '/webhooks', '/keys', '/shares', '/assignments'],
      ...[`/assignments/${assignmentId}`, `/class-links/${classLinkId}`],
    ]) {
      await page.goto(`${url}/dashboard${path}`);
      t.same(await misfitsIn(page), [], `${path} at ${width} pixels`);
    }
  }
});

async function misfitsIn(page: Page): Promise<unknown> {
  return page.evaluate(MISFITS);
}
