import { join } from 'node:path';
import type { Page } from 'playwright-core';
import t, { type Test } from 'tap';
import { EXAMPLES } from '../../appliance/dashboard/assets/examples.ts';
import { launchBrowser, openPage, peopledAppliance, replaceText, signIn } from './browser.ts';

const INSTANT = {
  python: join(import.meta.dirname, '../fixtures/instant-renderer/bin/python'),
  insecureNoSandbox: true,
};
const PHONE = { width: 390, height: 844 };
const LAPTOP = { width: 1366, height: 768 };
const SCREEN = { width: 1920, height: 1080 };

/** An administrator, some jobs and webhooks. */
async function looking(t: Test) {
  const appliance = await peopledAppliance(t, INSTANT);
  const { url, admin, installation, service } = appliance;
  const { accountId } = await installation.accounts.find(admin);
  const webhook = { url: 'https://hooks.example.invalid/a/long/path/of/a/receiver', secret: 'whsec_1' };
  const attempted = new Promise((resolve) => void service.once('delivery', resolve));
  const { jobId } = await service.enqueue({ owner: accountId, className: 'One', code: 'x', webhook });
  await service.wait(jobId);
  await attempted;
  const browser = await launchBrowser(t);
  const open = async (viewport: typeof PHONE) => {
    const page = await openPage(t, browser, { viewport });
    await signIn(page, url, admin);
    return page;
  };
  return { ...appliance, open, dashboard: `${url}/dashboard` };
}

/** The places of elements in the window. */
const boxes = (page: Page, selector: string) =>
  page.evaluate(
    `[...document.querySelectorAll(${JSON.stringify(selector)})].map((element) => {
      const { left, right, top, bottom, width, height } = element.getBoundingClientRect();
      return { left, right, top, bottom, width, height };
    })`,
  ) as Promise<Record<'left' | 'right' | 'top' | 'bottom' | 'width' | 'height', number>[]>;

const spread = (values: number[]) => Math.max(...values) - Math.min(...values);

t.test('on a phone, the navigation is one row, which shows the current page', async (t) => {
  const { open, dashboard } = await looking(t);
  const page = await open(PHONE);
  for (const path of ['', '/acts', '/service']) {
    await page.goto(dashboard + path);
    await page.waitForLoadState();
    const links = await boxes(page, '.nav a');
    t.ok(spread(links.map(({ top }) => top)) < 1, 'one row');
    const [current] = await boxes(page, '.nav [aria-current]');
    t.ok(current && current.left >= 0 && current.right <= PHONE.width, `${path} is in sight`);
  }
  await page.getByRole('link', { name: 'Library' }).focus();
  const [first] = await boxes(page, '.nav a');
  t.ok(first && first.left >= 0, 'the keyboard reaches the others');
});

t.test('a large screen is used', async (t) => {
  const { open, dashboard } = await looking(t);
  const page = await open(SCREEN);
  for (const path of ['', '/jobs', '/webhooks', '/credits', '/acts', '/playground']) {
    await page.goto(dashboard + path);
    const [main] = await boxes(page, 'main');
    t.ok(main && main.right > SCREEN.width * 0.98, path);
  }
});

t.test('the playground of a laptop cuts no line, and shows the longest of an example', async (t) => {
  const { open, dashboard } = await looking(t);
  const page = await open(LAPTOP);
  await page.goto(`${dashboard}/playground`);
  await page.locator('.cm-content').waitFor();
  for (const { code } of EXAMPLES) {
    await replaceText(page, code);
    const beyond = await page.evaluate(
      "(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)(document.getElementById('editor').shadowRoot.querySelector('.cm-scroller'))",
    );
    t.equal(beyond, 0);
  }
});

t.test('tags stand on the line of their row, fields and answers are even', async (t) => {
  const { open, dashboard } = await looking(t);
  const page = await open(LAPTOP);
  await page.goto(`${dashboard}/jobs?quality=medium`);
  const baselines = (await page.evaluate(`(() => {
    const baseline = (place) => {
      const mark = document.createElement('span');
      mark.style.cssText = 'display: inline-block; width: 0; height: 0';
      place.prepend(mark);
      const { bottom } = mark.getBoundingClientRect();
      mark.remove();
      return bottom;
    };
    const row = document.querySelector('tbody tr');
    return [row.querySelector('.tag'), row.querySelector('[data-label=Quality]')].map(baseline);
  })()`)) as number[];
  t.ok(spread(baselines) < 1.5, `baselines at ${baselines}`);
  const labels = await boxes(page, '.fields > label');
  const row = labels.filter(({ top }) => Math.abs(top - (labels[0]?.top ?? 0)) < 20);
  t.ok(row.length >= 4);
  t.ok(spread(row.map(({ top }) => top)) < 0.5, 'labels are on one line');
  await page.goto(`${dashboard}/webhooks`);
  const [answer] = await boxes(page, '[data-label=Answer]');
  const [outcome] = await boxes(page, '[data-label=Outcome]');
  t.ok(answer && outcome && answer.height <= outcome.height + 1);
  t.equal(
    await page.evaluate(
      `(() => { const range = document.createRange(); range.selectNodeContents(document.querySelector('[data-label=Answer]')); return new Set([...range.getClientRects()].map(({ top }) => top)).size; })()`,
    ),
    1,
    'an answer is on one line',
  );
});
