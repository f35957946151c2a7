import type { Locator } from 'playwright-core';
import t, { type Test } from 'tap';
import {
  accessibilityFaults,
  launchBrowser,
  openPage,
  peopledAppliance,
  replaceText,
  signIn,
} from './browser.ts';
import { signedIn } from './client.ts';

const FAULTY = `from manim import *

class Lesson(Scene):
    def construct(self):
        title = Text("On the left").shift(7 * LEFT)
        self.play(FadeIn(title), run_time=0.4)
        self.play(Create(Circle()), run_time=0.4)
        self.wait(0.4)
`;

async function playground(t: Test, options: { javaScriptEnabled?: boolean } = {}) {
  const appliance = await peopledAppliance(t, { renders: true });
  const page = await openPage(t, await launchBrowser(t), options);
  await signIn(page, appliance.url, appliance.member);
  await page.goto(`${appliance.url}/dashboard/playground`);
  return { ...appliance, page };
}

/** In pixels, when the picture has been loaded. */
const widthOf = (image: Locator) =>
  image.evaluate(async (element) => {
    const loaded = element as unknown as { decode: () => Promise<void>; naturalWidth: number };
    await loaded.decode();
    return loaded.naturalWidth;
  });

t.test('pictures of a scene and what is wrong with them lead to the lines', async (t) => {
  const { page, installation, service, member } = await playground(t);
  await page.locator('.cm-content').focus();
  await replaceText(page, FAULTY);
  await page.getByRole('button', { name: 'Inspect' }).click();
  const inspection = page.locator('#inspection');
  await inspection.getByRole('heading', { name: 'Inspection' }).waitFor();
  t.match(await inspection.locator('header').textContent(), /3 plays.*1\.2 s.*\d credits?/);
  const sheet = inspection.getByAltText(/Contact sheet/);
  await sheet.waitFor();
  t.ok((await widthOf(sheet)) > 400, 'the sheet is shown');
  const finding = inspection.locator('.findings li');
  t.match(await finding.textContent(), /Line 5 title leaves the frame at the left.*Move title right/s);
  await finding.getByRole('link', { name: 'Line 5' }).click();
  t.equal(await page.evaluate('document.activeElement.id'), 'editor');
  await finding.getByText(/^Picture \d+$/).click();
  const picture = finding.getByAltText(/The scene at/);
  await picture.scrollIntoViewIfNeeded();
  t.equal(await widthOf(picture), 480, 'its picture is shown');
  t.same(await accessibilityFaults(page), []);
  if (process.env['SCREENSHOT']) await page.screenshot({ path: process.env['SCREENSHOT'], fullPage: true });
  const { accountId } = await installation.accounts.find(member);
  t.same(await service.list({ owner: accountId }), [], 'there is no job');

  await page.getByRole('button', { name: 'Render' }).click();
  await page.locator('#result [data-job]').waitFor();
  t.equal(await inspection.locator('section').count(), 0, 'the render takes its place');
});

t.test('without scripts, the page shows the inspection', async (t) => {
  const { page } = await playground(t, { javaScriptEnabled: false });
  await page.getByRole('textbox', { name: 'Code' }).fill(FAULTY);
  await page.getByLabel('Scene').selectOption('');
  await page.getByRole('button', { name: 'Inspect' }).click();
  await page.getByText('leaves the frame at the left').waitFor();
  t.match(await page.getByRole('textbox', { name: 'Code' }).inputValue(), 'class Lesson');
});

t.test('why a scene cannot be inspected is shown, with the error of its code', async (t) => {
  const { port, member, admin } = await peopledAppliance(t, { renders: true });
  const client = await signedIn(t, port, member);
  const inspect = (fields: Record<string, string>) =>
    client.post('/dashboard/playground/inspect', { code: FAULTY, className: 'Lesson', ...fields });
  for (const [fields, message] of [
    [{ code: '' }, 'code is required'],
    [{ quality: 'best' }, 'quality must be one of'],
    [{ fps: '0' }, 'fps must be a positive integer'],
    [{ code: 'x = 1', className: '' }, 'defines no scene'],
  ] as const) {
    const answer = await inspect(fields);
    t.match([answer.status, answer.text], [400, message]);
  }
  const failed = await inspect({ code: FAULTY.replace('FadeIn', 'FadeInn') });
  t.equal(failed.status, 200);
  t.match(failed.text, /Line 6.*NameError.*Did you mean <code>FadeIn<\/code>/s);

  const { text } = await inspect({});
  const [path = ''] = /\/dashboard\/pictures\/\w+\/sheet\.jpg/.exec(text) ?? [];
  t.equal((await client.get(path)).status, 200);
  t.equal((await client.get(path.replace('sheet', 'other'))).status, 404);
  t.equal((await (await signedIn(t, port, admin)).get(path)).status, 404, 'it belongs to another account');
});
