// From an invitation to a video that others watch: no key, no command, in three minutes.
import type { Page } from 'playwright-core';
import t from 'tap';
import { launchBrowser, openPage, peopledAppliance } from '../dashboard/browser.ts';

const MOST_MS = 3 * 60_000;

t.test('an invited teacher changes an example, renders it and shares the video', async (t) => {
  const { url, installation } = await peopledAppliance(t, { renders: true });
  const { accounts } = installation.administration;
  const teacher = 'teacher@example.org';
  await accounts.create({ email: teacher });
  const { url: invitation } = await accounts.invite({ account: teacher });
  const browser = await launchBrowser(t);
  const page = await openPage(t, browser);
  const texts: string[] = [];
  const read = async () => texts.push(await page.locator('main').innerText());
  const begunMs = performance.now();

  await page.goto(invitation);
  await page.getByLabel('Password').fill('a password for tests');
  await read();
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Make your first video' }).waitFor();
  await read();
  await page.getByRole('button', { name: 'Render Pythagoras, without a word' }).click();
  const length = (page: Page) =>
    page.evaluate(`new Promise((resolve) => {
      const video = document.querySelector('video');
      const look = () => (video.duration > 0 ? resolve(video.duration) : requestAnimationFrame(look));
      video.load();
      look();
    })`) as Promise<number>;
  await page.locator('video').waitFor({ timeout: 60_000 });
  const before = await length(page);
  await page.getByRole('link', { name: 'Open in playground' }).click();
  await page.locator('.cm-content').focus();
  await page.keyboard.press('Control+End');
  await page.keyboard.type('        self.wait(1)');
  await page.keyboard.press('Control+Enter');
  await page.locator('[data-status=running], [data-status=queued]').first().waitFor();
  await page.locator('[data-status=completed] video').waitFor({ timeout: 60_000 });
  await page.getByRole('link', { name: 'Open job' }).click();
  await page.getByRole('button', { name: 'Create link' }).click();
  const link = String(await page.locator('#share-card code').first().textContent()).trim();
  t.ok(link.startsWith(`${url}/w/`), link);

  const viewer = await openPage(t, browser);
  await viewer.goto(link);
  await viewer.evaluate(`(async () => {
    const video = document.querySelector('video');
    video.muted = true;
    await video.play();
    await new Promise((resolve) => {
      const look = () => (video.currentTime > 0.3 ? resolve() : requestAnimationFrame(look));
      look();
    });
  })()`);
  const tookMs = performance.now() - begunMs;
  t.ok(tookMs < MOST_MS, `${Math.round(tookMs / 1000)} s`);
  t.equal(Math.round((await length(viewer)) - before), 1, 'with the change');
  t.notMatch(texts.join('\n'), /svc_live|curl|API key/, 'the first pages mention neither keys nor commands');
  t.same(await viewer.context().cookies(), [], 'viewers get no cookie');
});
