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
/** A folder for pictures of the pages, to look at. */
const { SCREENSHOTS } = process.env;
const PHONE = { width: 390, height: 844 };
const PASSWORD = 'the password of Ann';
const code = 'class Circles(Scene):\n    pass\n# two circles\n';

async function pictured(t: Test, page: Page, name: string): Promise<void> {
  t.same(await accessibilityFaults(page), [], name);
  const wide = await page.evaluate('document.documentElement.scrollWidth > innerWidth');
  t.notOk(wide, `${name} fits the screen`);
  if (SCREENSHOTS) await page.screenshot({ path: join(SCREENSHOTS, `${name}.png`), fullPage: true });
}

t.test('a link leads a student without an account to a rendered copy of the assignment', async (t) => {
  const { url, admin, member, installation, service } = await peopledAppliance(t, INSTANT);
  const { administration } = installation;
  const scene = { account: member, name: 'Circles', className: 'Circles', code };
  const { sceneId } = await administration.scenes.create({ ...scene, settings: { quality: 'low' } });
  const browser = await launchBrowser(t);

  const administrator = await openPage(t, browser);
  await signIn(administrator, url, admin);
  await administrator.getByRole('link', { name: 'Assignments' }).click();
  await administrator.getByText('New class link').click();
  await administrator.getByLabel('Class', { exact: true }).fill('Class 7b');
  await administrator.getByLabel('Seats').fill('2');
  await administrator.getByLabel('Credits for each').fill('40');
  await administrator.getByLabel('Account of the teacher').fill(member);
  await pictured(t, administrator, 'class-link-form');
  await administrator.getByRole('button', { name: 'Create link' }).click();
  await administrator.getByText('Whoever has it can make an account.').waitFor();

  const teacher = await openPage(t, browser, { permissions: ['clipboard-read', 'clipboard-write'] });
  await signIn(teacher, url, member);
  await teacher.goto(`${url}/dashboard/scenes/${sceneId}`);
  await teacher.getByRole('link', { name: 'Assign …' }).click();
  await teacher.getByLabel('Title').fill('Your first circles');
  await teacher.getByLabel('Instructions').fill('Read the code.\nThen render it.');
  await teacher.getByLabel('Class link').selectOption('Class 7b');
  await pictured(t, teacher, 'new-assignment');
  await teacher.getByRole('button', { name: 'Create link' }).click();
  await teacher.getByRole('button', { name: 'Copy' }).first().click();
  await teacher.getByRole('button', { name: 'Copied' }).waitFor();
  await pictured(t, teacher, 'assignment');
  const link = (await teacher.evaluate('navigator.clipboard.readText()')) as string;
  t.match(link, new RegExp(`^${url}/dashboard/a/[\\w-]{24}$`));

  const student = await openPage(t, browser, { viewport: PHONE });
  await student.goto(link);
  await pictured(t, student, 'landing');
  await student.getByRole('link', { name: 'Create an account' }).click();
  await student.getByLabel('E-mail address').fill(member);
  await student.getByLabel('Password').fill(PASSWORD);
  await student.getByRole('button', { name: 'Create an account' }).click();
  await student.getByText('There is an account with this address').waitFor();
  await student.getByLabel('E-mail address').fill('ann@example.org');
  await student.getByLabel('Password').fill(PASSWORD);
  await pictured(t, student, 'join');
  await student.getByRole('button', { name: 'Create an account' }).click();
  await student.getByText('Then render it.').waitFor();
  await pictured(t, student, 'received');
  await student.getByRole('button', { name: 'Open in the playground' }).click();
  await student.locator('.cm-line', { hasText: 'two circles' }).waitFor();
  await student.getByText('Then render it.').waitFor();
  await pictured(t, student, 'playground');
  await student.getByRole('button', { name: 'Render', exact: true }).click();
  await student.locator('#result video').waitFor();

  const { accountId } = await installation.accounts.find('ann@example.org');
  const [job] = await service.list({ owner: accountId, limit: 9 });
  t.match(job, { title: 'Your first circles', quality: 'low', status: 'completed' });
  t.match(await administration.credits.balance({ account: accountId }), { paid: 40 });
  await replaceText(student, 'class Circles(Scene):\n    pass\n# three circles\n');
  await student.locator('#saved', { hasText: /^Saved$/ }).waitFor();
  t.match(await administration.scenes.show({ sceneId }), { code }, 'the scene of the teacher stays');

  const atHome = await openPage(t, browser);
  await atHome.goto(link);
  await atHome.getByRole('link', { name: 'Sign in' }).click();
  await atHome.getByLabel('E-mail address').fill('ann@example.org');
  await atHome.getByLabel('Password').fill(PASSWORD);
  await atHome.getByRole('button', { name: 'Sign in' }).click();
  await atHome.locator('.cm-line', { hasText: 'three circles' }).waitFor();
  t.equal(
    (await service.scenes.list({ owner: accountId })).scenes.length,
    1,
    'the link leads back to the copy',
  );

  await teacher.getByRole('link', { name: 'Assignments', exact: true }).click();
  await teacher.getByRole('row', { name: /Your first circles.*Works.* 1 / }).waitFor();
  await pictured(t, teacher, 'assignments');
  await teacher.getByRole('link', { name: 'Class 7b', exact: true }).click();
  await teacher.getByRole('rowheader', { name: 'ann@example.org' }).waitFor();
  await pictured(t, teacher, 'class-link');
  await teacher.setViewportSize(PHONE);
  await teacher.goto(`${url}/dashboard/assignments`);
  await pictured(t, teacher, 'assignments-phone');
});

t.test('code of the playground is assigned without leaving a text behind', async (t) => {
  const { url, member, service, installation } = await peopledAppliance(t, INSTANT);
  const page = await openPage(t, await launchBrowser(t));
  await signIn(page, url, member);
  await page.goto(`${url}/dashboard/playground`);
  await replaceText(page, 'class Fresh(Scene):\n    pass\n');
  await page.getByRole('button', { name: 'Assign …' }).click();
  await page.getByRole('button', { name: 'Create link' }).click();
  await page.getByText('This is the link.').waitFor();
  const { accountId: owner } = await installation.accounts.find(member);
  t.match(await service.assignments.list({ owner }), [{ code: 'class Fresh(Scene):\n    pass\n' }]);
  t.notMatch(await page.evaluate('JSON.stringify(localStorage)'), 'Fresh');
});
