import { join } from 'node:path';
import type { Page } from 'playwright-core';
import t, { type Test } from 'tap';
import {
  accessibilityFaults,
  launchBrowser,
  openPage,
  peopledAppliance,
  replaceText,
  signIn,
} from './browser.ts';

const INSTANT = {
  python: join(import.meta.dirname, '../fixtures/instant-renderer/bin/python'),
  insecureNoSandbox: true,
};
const codeOf = (comment: string) => `class Intro(Scene):\n    pass\n# ${comment}\n`;

const textOf = async (page: Page) => (await page.locator('.cm-line').allTextContents()).join('\n');
const saved = (page: Page) => page.locator('#saved', { hasText: /^Saved$/ }).waitFor();
const conflict = (page: Page) => page.locator('#conflict .conflict');

/** A member, whose scene two browsers have open. */
async function editing(t: Test) {
  const appliance = await peopledAppliance(t, INSTANT);
  const { url, member, installation, service } = appliance;
  const { scenes } = installation.administration;
  const { sceneId } = await scenes.create({
    account: member,
    name: 'Intro',
    code: codeOf('begun'),
    className: 'Intro',
    settings: { quality: 'low' },
  });
  const browser = await launchBrowser(t);
  const address = `${url}/dashboard/playground?scene=${sceneId}`;
  const open = async (page: Page) => {
    await page.goto(address);
    await page.locator('.cm-content').waitFor();
  };
  const enter = async () => {
    const page = await openPage(t, browser);
    await signIn(page, url, member);
    await open(page);
    return page;
  };
  const draft = async () => (await scenes.show({ sceneId })).code;
  /** What all drafts have, the newest first. */
  const kept = async () => {
    const { drafts } = await scenes.drafts({ sceneId });
    const found = drafts.map(({ revision }) => scenes.draft({ sceneId, revision }));
    return (await Promise.all(found)).map(({ code }) => /# (.*)/.exec(code)?.[1]);
  };
  return { ...appliance, scenes, sceneId, open, enter, draft, kept, address, service };
}

t.test('a draft is saved while it is written, and each render is a version', async (t) => {
  const { enter, draft, open, scenes, sceneId, url } = await editing(t);
  const page = await enter();
  t.match(await page.title(), 'Intro');
  await replaceText(page, codeOf('typed'));
  await page.getByText('Not saved yet').waitFor();
  await saved(page);
  t.equal(await draft(), codeOf('typed'));
  t.notMatch(await page.evaluate('JSON.stringify(localStorage)'), 'typed', 'the server has it');
  await page.getByLabel('Quality').selectOption('high');
  await page.keyboard.press('Control+s');
  await saved(page);
  t.match(await scenes.show({ sceneId }), { settings: { quality: 'high' } });
  await page.locator('.cm-content').focus();
  await replaceText(page, codeOf('rendered'));
  await page.keyboard.press('Control+Enter');
  await page.locator('#result video').waitFor();
  t.match((await scenes.versions({ sceneId })).versions, [{ version: 1, job: { quality: 'high' } }]);
  t.equal(await draft(), codeOf('rendered'));
  await replaceText(page, codeOf('after it'));
  await saved(page);
  t.equal(await draft(), codeOf('after it'), 'saves go on after a render');
  await replaceText(page, codeOf('left at once'));
  await open(page);
  await page
    .locator('.cm-line', { hasText: 'left at once' })
    .or(page.locator('#kept button'))
    .first()
    .waitFor();
  await page.goto(`${url}/dashboard/scenes/${sceneId}`);
  await page.getByRole('link', { name: 'Version 1', exact: true }).waitFor();
});

t.test('of two browsers, the second to save sees both texts, and nothing is lost', async (t) => {
  const { enter, draft, kept } = await editing(t);
  const [one, two] = [await enter(), await enter()];
  await replaceText(one, codeOf('of one'));
  await saved(one);
  await replaceText(two, codeOf('of two'));
  await conflict(two).waitFor();
  t.equal(await draft(), codeOf('of one'), 'nothing was replaced');
  t.match(await textOf(two), '# of two');
  t.match(await conflict(two).locator('del').first().textContent(), '- # of one');
  t.match(await conflict(two).locator('ins').first().textContent(), '+ # of two');
  t.same(await accessibilityFaults(two), []);
  await two.reload();
  await conflict(two).waitFor();
  t.match(await textOf(two), '# of two', 'a reload keeps the text and the question');
  await two.getByRole('button', { name: 'Save mine', exact: true }).click();
  await conflict(two).waitFor({ state: 'detached' });
  await saved(two);
  t.same(await kept(), ['of two', 'of one', 'begun']);

  await replaceText(one, codeOf('later of one'));
  await conflict(one).waitFor();
  await one.getByRole('button', { name: 'Take theirs' }).click();
  await one.locator('.cm-line', { hasText: '# of two' }).waitFor();
  t.same(await kept(), ['of two', 'later of one', 'of two', 'of one', 'begun']);
  await replaceText(one, codeOf('in turn'));
  await saved(one);
  t.equal(await draft(), codeOf('in turn'));
});

t.test('a render of an earlier draft asks, too, and mine is kept as another scene', async (t) => {
  const { enter, scenes, member, sceneId } = await editing(t);
  const [one, two] = [await enter(), await enter()];
  await replaceText(one, codeOf('of one'));
  await saved(one);
  await replaceText(two, codeOf('of two'));
  await two.keyboard.press('Control+Enter');
  await conflict(two).waitFor();
  t.same((await scenes.versions({ sceneId })).versions, []);
  await two.getByRole('button', { name: 'Save mine as another scene' }).click();
  await two.getByRole('heading', { name: 'Intro (copy)' }).waitFor();
  t.match(await textOf(two), '# of two');
  t.match((await scenes.list({ account: member })).scenes, [{ name: 'Intro (copy)' }, { name: 'Intro' }]);
});

t.test('without a connection the text stays in the browser, and is saved later', async (t) => {
  const { enter, draft, open } = await editing(t);
  const page = await enter();
  await page.route('**/save', (route) => route.abort());
  await replaceText(page, codeOf('away'));
  await page.getByText("the server can't be reached").waitFor();
  const other = await page.context().newPage();
  await open(other);
  await other.getByText('Texts of this scene that were not saved are kept:').waitFor();
  t.equal(await other.locator('#kept button').count(), 1);
  t.equal(await draft(), codeOf('begun'));
  await page.unroute('**/save');
  await page.evaluate(`dispatchEvent(new Event('online'))`);
  await saved(page);
  t.equal(await draft(), codeOf('away'));
  // Too long to be sent while the page is left.
  const long = codeOf(`long ${'x'.repeat(70_000)}`);
  await page.route('**/save', (route) => route.abort());
  await replaceText(page, long);
  await page.getByText("the server can't be reached").waitFor();
  await page.unroute('**/save');
  await page.reload();
  await page.locator('.cm-line', { hasText: '# long' }).waitFor();
  await saved(page);
  t.equal(await draft(), long, 'a reload keeps the text, and saves it');
});

t.test('differences are shown, a version is restored, and code is saved as a scene', async (t) => {
  const { enter, url, scenes, member, sceneId, draft } = await editing(t);
  const page = await enter();
  await replaceText(page, codeOf('changed'));
  await page.keyboard.press('Control+s');
  await saved(page);
  await page.getByRole('link', { name: 'Versions and drafts' }).click();
  await page.getByText('Earlier drafts').click();
  await page.getByRole('link', { name: /^Differences between Draft/ }).click();
  await page.locator('.diff del', { hasText: '- # begun' }).waitFor();
  await page.locator('.diff ins', { hasText: '+ # changed' }).waitFor();
  await page.getByRole('button', { name: /^Restore Draft/ }).click();
  await page.getByText('Restored.').waitFor();
  t.equal(await draft(), codeOf('begun'));

  await page.goto(`${url}/dashboard/playground?example=09-tree`);
  await page.getByRole('button', { name: 'Save as scene' }).click();
  await page.getByRole('heading', { name: 'Tree' }).waitFor();
  t.equal(await page.locator('#examples').count(), 0);
  const [tree] = (await scenes.list({ account: member })).scenes;
  t.match(page.url(), tree?.sceneId);
  await page.goto(`${url}/dashboard/playground`);
  await page.locator('.cm-content').waitFor();
  t.not(await page.title(), 'Intro · Scenepress', 'drafts of scenes are apart from those of the playground');
  await page.goto(`${url}/dashboard/scenes/${sceneId}/remove`);
  await page.getByRole('button', { name: 'Remove scene' }).click();
  await page.getByText('Intro was removed.').waitFor();
});
