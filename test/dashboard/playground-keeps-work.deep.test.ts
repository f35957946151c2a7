import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import t, { type Test } from 'tap';
import { launchBrowser, openPage, peopledAppliance, replaceText, signIn } from './browser.ts';

const INSTANT = {
  python: join(import.meta.dirname, '../fixtures/instant-renderer/bin/python'),
  insecureNoSandbox: true,
};
const ONE = 'class One(Scene):\n    pass\n';
const TWO = `${ONE}\nclass Two(Scene):\n    pass\n`;

const textOf = async (page: Page) => (await page.locator('.cm-line').allTextContents()).join('\n');

/** A member in the playground. */
async function editing(t: Test) {
  const appliance = await peopledAppliance(t, INSTANT);
  const { url, member, installation, service, dataDir } = appliance;
  const page = await openPage(t, await launchBrowser(t));
  await signIn(page, url, member);
  const playground = `${url}/dashboard/playground`;
  const open = async (page: Page, query = '') => {
    await page.goto(playground + query);
    await page.locator('.cm-content').waitFor();
  };
  await open(page);
  const { accountId } = await installation.accounts.find(member);
  const jobs = async () => (await service.list({ owner: accountId })).toReversed();
  const render = (page: Page) => page.keyboard.press('Control+Enter');
  /** Ends what lingers. */
  const go = () => writeFileSync(join(dataDir, 'work', 'w0', 'go'), '');
  return { ...appliance, page, playground, open, jobs, render, go };
}

const sceneIn = (page: Page) => page.getByLabel('Scene').inputValue();

/** Saved a third of a second after the last change. */
const saved = (page: Page, text: string) =>
  page.evaluate(`new Promise((resolve) => {
    const look = () =>
      Object.values(localStorage).some((draft) => draft.includes(${JSON.stringify(text)})) ? resolve() : setTimeout(look, 20);
    look();
  })`);

t.test('the scenes follow the code over a syntax error', async (t) => {
  const { page } = await editing(t);
  await page.locator('select[name=className] option[value=Hello]').waitFor({ state: 'attached' });
  /** The response to a request with code that contains these; one for the code before may still come. */
  const listed = (...parts: string[]) =>
    page.waitForResponse((response) => {
      if (!response.url().endsWith('/playground/scenes')) return false;
      const code = new URLSearchParams(response.request().postData() ?? '').get('code') ?? '';
      return parts.every((part) => code.includes(part));
    });
  const broken = listed('construct(self:');
  await replaceText(page, 'class Mine(Scene):\n    def construct(self:\n        pass\n');
  t.match(await (await broken).json(), { error: /SyntaxError/ });
  await page.locator('select[name=className] option[value=Mine]').waitFor({ state: 'attached' });
  t.equal(await sceneIn(page), 'Mine');
  // The lines of the classes stay the same.
  const mended = listed('class Mine', 'construct(self):');
  await replaceText(page, 'class Mine(Scene):\n    def construct(self):\n        pass\n');
  t.same(await (await mended).json(), { scenes: ['Mine'] }, 'the server is asked again');
  t.equal(await page.locator('select[name=className] option').count(), 1);
});

t.test('a scene that was just renamed is rendered, and stays chosen among several', async (t) => {
  const { page, jobs, render } = await editing(t);
  await replaceText(page, TWO);
  await page.locator('select[name=className] option[value=Two]').waitFor({ state: 'attached' });
  await page.getByLabel('Scene').selectOption('Two');
  await replaceText(page, TWO.replace('Two', 'Three'));
  await render(page);
  await page.locator('video').waitFor();
  t.match(await jobs(), [{ className: 'Three', status: 'completed' }]);
  t.equal(await sceneIn(page), 'Three');
});

t.test('an example does not replace a draft: Back and a reload bring it back', async (t) => {
  const { page, playground } = await editing(t);
  await replaceText(page, `${TWO}# mine`);
  await page.getByLabel('Quality').selectOption('high');
  await page.getByRole('link', { name: 'A tree that grows' }).click();
  await page.locator('.cm-line', { hasText: 'class Tree(Scene)' }).waitFor();
  t.equal(await sceneIn(page), 'Tree');
  await page.keyboard.type('# changed\n');
  await page.goBack();
  await page.locator('.cm-line', { hasText: '# mine' }).waitFor();
  t.equal(page.url(), playground);
  t.equal(await page.getByLabel('Quality').inputValue(), 'high');
  await page.reload();
  await page.locator('.cm-line', { hasText: '# mine' }).waitFor();
  await page.goForward();
  await page.locator('.cm-line', { hasText: '# changed' }).waitFor();
  t.match(await textOf(page), 'class Tree(Scene)');
});

t.test(
  'on a slow network, the example that was clicked last is opened, and what is typed meanwhile is kept',
  async (t) => {
    const { page } = await editing(t);
    await page.route('**/playground?example=09-tree', async (route) => {
      await new Promise((resolve) => setTimeout(resolve, 500));
      await route.continue();
    });
    await page.getByRole('link', { name: 'A tree that grows' }).click();
    await replaceText(page, `${ONE}# typed meanwhile`);
    await page.locator('.cm-line', { hasText: 'class Tree(Scene)' }).waitFor();
    await page.goBack();
    await page.locator('.cm-line', { hasText: '# typed meanwhile' }).waitFor();
    await page.getByRole('link', { name: 'A tree that grows' }).click();
    await page.getByRole('link', { name: 'Lorenz: two paths part' }).click();
    await page.waitForURL(/example=06-lorenz/);
    await page.waitForResponse(/example=09-tree/);
    await page.goBack();
    await page.locator('.cm-line', { hasText: '# typed meanwhile' }).waitFor();
    await page.route('**/playground?example=01-hello', (route) => route.abort());
    await page.getByRole('link', { name: 'Hello, circle' }).click();
    await page.getByText("The server can't be reached").waitFor();
    t.match(await textOf(page), '# typed meanwhile');
  },
);

t.test('the playground opens with the code that was rendered last, and its video', async (t) => {
  const { page, url, render } = await editing(t);
  await replaceText(page, `${ONE}# mine`);
  await render(page);
  await page.locator('video').waitFor();
  const rendered = page.url();
  await page.goto(`${url}/dashboard/jobs`);
  await page.getByRole('link', { name: 'Playground' }).click();
  await page.locator('.cm-line', { hasText: '# mine' }).waitFor();
  await page.locator('video').waitFor();
  t.equal(page.url(), rendered);
  await replaceText(page, `${ONE}# not rendered`);
  await page.getByRole('link', { name: 'Jobs', exact: true }).click();
  await page.getByRole('heading', { name: 'Jobs' }).waitFor();
  await page.getByRole('link', { name: 'Playground' }).click();
  await page.locator('.cm-line', { hasText: '# not rendered' }).waitFor();
});

t.test('a job that was forgotten takes nothing of its draft with it', async (t) => {
  const { page, playground, render, jobs, service } = await editing(t);
  await replaceText(page, `${ONE}# mine`);
  await render(page);
  await page.locator('video').waitFor();
  const [job] = await jobs();
  await service.forget(job?.jobId ?? '');
  await page.goto(playground);
  await page.locator('.cm-line', { hasText: '# mine' }).waitFor();
});

t.test('two tabs keep a draft each, also the one that is closed', async (t) => {
  const { page, open } = await editing(t);
  const other = await page.context().newPage();
  await open(other);
  await replaceText(page, `${ONE}# of the first`);
  await replaceText(other, `${ONE}# of the second`);
  await saved(page, '# of the first');
  await saved(page, '# of the second');
  await Promise.all([page.reload(), other.reload()]);
  for (const [tab, text] of [
    [page, '# of the first'],
    [other, '# of the second'],
  ] as const) {
    await tab.locator('.cm-content').waitFor();
    t.match(await textOf(tab), text);
  }
  await page.close();
  const third = await page.context().newPage();
  await open(third, '?example=09-tree');
  t.equal(await third.locator('#kept button').count(), 2);
  await third.locator('#kept button').last().focus();
  await third.keyboard.press('Enter');
  t.match(await textOf(third), '# of the first');
  await third.goBack();
  await third.locator('.cm-line', { hasText: 'class Tree(Scene)' }).waitFor();
});

t.test('of many drafts, the newest are kept, and a full storage gives up old ones', async (t) => {
  const { page, open } = await editing(t);
  const keys = () =>
    page.evaluate(`Object.keys(localStorage).filter((key) => key.startsWith('scenepress.draft.')).length`);
  for (let number = 1; number <= 12; number += 1) {
    await open(page, `?example=09-tree&n=${number}`);
    await replaceText(page, `${ONE}# draft ${number}.`);
    await saved(page, `# draft ${number}.`);
  }
  t.equal(await keys(), 10);
  await page.evaluate(
    `localStorage.setItem('other', 'x'.repeat(5 * 1024 * 1024 - localStorage.length - Object.values(localStorage).join('').length - 1000))`,
  );
  await open(page, '?example=09-tree&n=13');
  await replaceText(page, `${ONE}# draft 13. ${'x'.repeat(1000)}`);
  await saved(page, '# draft 13.');
  t.ok(Number(await keys()) < 10);
});

t.test('rendering during a render replaces it, by keyboard and by mouse', async (t) => {
  const { page, render, jobs, go, service } = await editing(t);
  await replaceText(page, `${ONE}# linger 1`);
  await render(page);
  await page.getByText('Rendering again replaces it.').waitFor();
  await render(page);
  await page.getByText('This is being rendered already.').waitFor();
  t.equal((await jobs()).length, 1, 'the same again is no other job');
  await replaceText(page, `${ONE}# linger 2`);
  await render(page);
  while ((await jobs()).length < 2) await page.waitForTimeout(20);
  await replaceText(page, `${ONE}# linger 3`);
  await page.getByRole('button', { name: 'Render' }).click();
  while ((await jobs()).length < 3) await page.waitForTimeout(20);
  await page.waitForURL(`**/playground?job=${(await jobs())[2]?.jobId}`);
  await page.reload();
  await page.locator('.cm-line', { hasText: '# linger 3' }).waitFor();
  await page.locator('.cm-content').focus();
  await render(page);
  await page.getByText('This is being rendered already.').waitFor();
  go();
  await page.locator('video').waitFor();
  t.match(
    (await jobs()).map(({ error, failedBy, creditsCost }) => [error, failedBy, (creditsCost ?? 0) > 0]),
    [
      ['Canceled', 'cancel', false],
      ['Canceled', 'cancel', false],
      [null, null, true],
    ],
  );
  t.equal(service.status().queued + service.status().running, 0);
});

t.test('what was pressed while an answer was on its way is rendered after it, once', async (t) => {
  const { page, render, jobs, go } = await editing(t);
  const { promise: held, resolve: release } = Promise.withResolvers<void>();
  await page.route('**/dashboard/playground', async (route) => {
    await held;
    await route.continue();
  });
  await replaceText(page, `${ONE}# linger first`);
  await render(page);
  await render(page);
  await replaceText(page, `${ONE}# linger second`);
  await render(page);
  await render(page);
  release();
  while ((await jobs()).length < 2) await page.waitForTimeout(20);
  go();
  await page.locator('video').waitFor();
  t.match(await jobs(), [{ error: 'Canceled' }, { status: 'completed' }]);
  t.equal((await jobs()).length, 2);
});

t.test('a request whose answer was lost is sent again without another charge', async (t) => {
  const { page, render, jobs } = await editing(t);
  await replaceText(page, `${ONE}# mine`);
  await page.route('**/dashboard/playground', async (route) => {
    if (route.request().method() !== 'POST') return route.continue();
    const answer = await route.fetch({ maxRedirects: 0 });
    t.equal(answer.status(), 303, 'the server has answered');
    await route.abort();
  });
  await render(page);
  await page.getByText("The server can't be reached.").waitFor();
  await page.unroute('**/dashboard/playground');
  await render(page);
  await page.locator('video').waitFor();
  t.equal((await jobs()).length, 1);
  await render(page);
  while ((await jobs()).length < 2) await page.waitForTimeout(20);
  t.pass('once it has ended, the same is rendered again when asked for');
});

t.test('a render that replaces another needs neither credits nor a place beside it', async (t) => {
  const { page, render, jobs, installation, member, service } = await editing(t);
  await installation.administration.accounts.setLimits({ account: member, maxQueued: 1 });
  await service.pauseQueue();
  await replaceText(page, `${ONE}# 1`);
  await render(page);
  await page.getByText('Rendering again replaces it.').waitFor();
  await replaceText(page, `${ONE}# 2`);
  await render(page);
  while ((await jobs()).length < 2) await page.waitForTimeout(20);
  t.match(await jobs(), [{ error: 'Canceled' }, { status: 'queued' }]);
});

t.test('without scripts, a render replaces the one that its page shows', async (t) => {
  const { url, member, jobs, go } = await editing(t);
  const page = await openPage(t, await launchBrowser(t), { javaScriptEnabled: false });
  await signIn(page, url, member);
  await page.goto(`${url}/dashboard/playground`);
  for (const number of [1, 2]) {
    await page.getByRole('textbox', { name: 'Code' }).fill(`${ONE}# linger ${number}`);
    await page.getByLabel('Scene').selectOption('');
    await page.getByRole('button', { name: 'Render' }).click();
    await page.getByText('Rendering again replaces it.').waitFor();
  }
  t.match(await jobs(), [{ error: 'Canceled' }, {}]);
  go();
});

t.test('a render that fails leaves the last video', async (t) => {
  const { page, render } = await editing(t);
  await replaceText(page, `${ONE}# good`);
  await render(page);
  await page.locator('video').waitFor();
  const source = await page.locator('video').getAttribute('src');
  for (const number of [1, 2]) {
    await replaceText(page, `${ONE}# fail: mistake ${number}`);
    await render(page);
    await page.locator('#result').getByText(`mistake ${number}`, { exact: true }).waitFor();
    t.equal(await page.locator('video').getAttribute('src'), source);
  }
  await page.getByRole('heading', { name: 'The last video' }).waitFor();
  await page.reload();
  await page.getByText('mistake 2', { exact: true }).first().waitFor();
  t.equal(await page.locator('video').getAttribute('src'), source, 'also after a reload');
});
