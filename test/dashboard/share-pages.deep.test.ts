import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import t, { type Test } from 'tap';
import { completedJob } from '../appliance/completed-job.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { accessibilityFaults, launchBrowser, openPage, peopledAppliance, signIn, until } from './browser.ts';

/** A folder for pictures of the pages, to look at. */
const { SCREENSHOTS } = process.env;

/** Where the code of a job stands to the card that shares its video. */
const PLACES = `(() => {
  const [card, code] = ['#share-card', '#source .card'].map((one) => document.querySelector(one).getBoundingClientRect());
  return code.right < card.left ? 'beside' : code.top > card.bottom ? 'below' : 'elsewhere';
})()`;

/** A member with completed jobs that have a video. */
async function filming(t: Test) {
  const appliance = await peopledAppliance(t);
  const { installation, member } = appliance;
  const { accountId: owner } = await installation.accounts.find(member);
  const folder = await temporaryFolder(t);
  const [video, thumbnail] = [join(folder, 'video.mp4'), join(folder, 'thumbnail.jpg')];
  const source = ['-loglevel', 'error', '-f', 'lavfi', '-i', 'testsrc=s=854x480:r=30:d=6'];
  execFileSync('ffmpeg', [...source, '-pix_fmt', 'yuv420p', '-movflags', '+faststart', video]);
  execFileSync('ffmpeg', [...source, '-frames:v', '1', thumbnail]);
  const files = { 'video.mp4': readFileSync(video), 'thumbnail.jpg': readFileSync(thumbnail) };
  const complete = (title: string) => completedJob(appliance, { files, title, owner });
  return { ...appliance, owner, complete, browser: await launchBrowser(t) };
}

/** The address of another site's page with this code. */
async function lessonWith(t: Test, code: string): Promise<string> {
  const site = createServer((_, response) => {
    response.setHeader('content-type', 'text/html');
    response.end(`<!doctype html><title>Lesson</title>${code}`);
  });
  await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
  t.teardown(() => site.close());
  return `http://127.0.0.1:${(site.address() as AddressInfo).port}/`;
}

/** Plays the video of a page, up to a second. */
async function watch(page: Page, seconds: number): Promise<void> {
  await page.evaluate("document.querySelector('video').play()");
  await until(page, `document.querySelector('video').currentTime > ${seconds}`);
}

t.test('a video is shared from its page, watched elsewhere, and revoked', async (t) => {
  const { url, member, complete, browser, service } = await filming(t);
  const jobId = await complete('Pythagoras’ theorem');
  const page = await openPage(t, browser, { permissions: ['clipboard-read', 'clipboard-write'] });
  await signIn(page, url, member);
  await page.goto(`${url}/dashboard/jobs/${jobId}`);
  await page.getByRole('button', { name: 'Create link' }).focus();
  await page.keyboard.press('Enter');
  const card = page.locator('#share-card');
  await card.getByRole('button', { name: 'Copy' }).first().click();
  await card.getByRole('button', { name: 'Copied' }).waitFor();
  const link = (await page.evaluate('navigator.clipboard.readText()')) as string;
  t.match(link, new RegExp(`^${url}/w/[\\w-]{24}$`));

  const other = await openPage(t, browser);
  await other.goto(link);
  t.equal(await other.getByRole('heading', { level: 1 }).textContent(), 'Pythagoras’ theorem');
  await watch(other, 0.5);
  t.equal((await other.context().cookies()).length, 0, 'without an account');

  await card.locator('summary').click();
  await card.getByRole('button', { name: 'Copy' }).nth(1).click();
  await until(page, "document.querySelectorAll('#share-card [data-copy]')[1].textContent === 'Copied'");
  const code = (await page.evaluate('navigator.clipboard.readText()')) as string;
  await other.goto(await lessonWith(t, code));
  const frame = other.frames()[1];
  await frame?.locator('video').waitFor();
  await other.setViewportSize({ width: 390, height: 800 });
  t.same(
    await other.evaluate(
      "(({ width, height }) => Math.round(100 * width / height))(document.querySelector('iframe').getBoundingClientRect())",
    ),
    178,
    'the frame keeps its shape',
  );
  const opened = other.waitForEvent('popup');
  await frame?.locator('a.title').click();
  t.equal((await opened).url(), link, 'its title opens the page');

  const settings = page.locator('details', { hasText: 'Settings of the link' });
  await settings.locator('summary').click();
  t.notOk(await settings.getByLabel('Seconds from the start').isVisible());
  await settings.getByLabel('Picture before it plays').selectOption('At a time');
  await settings.getByLabel('Seconds from the start').fill('2.5');
  await settings.getByLabel('Offer files for download').uncheck();
  await settings.getByRole('button', { name: 'Save' }).click();
  await page.getByText('The settings were saved.').waitFor();
  t.match(await service.shares.list({ jobId }), [{ poster: { seconds: 2.5 }, allowDownload: false }]);
  await other.goto(link);
  t.equal(await other.getByText('Download').count(), 0);

  await card.getByRole('link', { name: 'Revoke' }).click();
  await page.getByRole('button', { name: 'Revoke link' }).click();
  await page.getByText('The link was revoked.').waitFor();
  t.equal((await other.goto(link))?.status(), 410);
  await other.getByRole('heading', { name: 'This link no longer works' }).waitFor();
  t.equal((await other.goto(`${link}/1/video.mp4`))?.status(), 410);
});

t.test('videos of a link are added and moved with the keyboard, without scripts', async (t) => {
  const { url, member, complete, browser, service, owner } = await filming(t);
  const [first, second, third] = [await complete('Areas'), await complete('Limits'), await complete('Sums')];
  const { shareId } = await service.shares.create({ owner, jobIds: [first] });
  const page = await openPage(t, browser, { javaScriptEnabled: false });
  await signIn(page, url, member);
  await page.goto(`${url}/dashboard/shares/${shareId}`);
  const press = async (role: 'button' | 'link', name: string, key: 'Enter' | 'Space' = 'Enter') => {
    await page.getByRole(role, { name }).focus();
    await Promise.all([page.waitForEvent('load'), page.keyboard.press(key)]);
  };
  await press('link', 'Add videos');
  await press('button', 'Add Sums');
  await page.getByRole('searchbox').fill('lim');
  await Promise.all([page.waitForEvent('load'), page.keyboard.press('Enter')]);
  await press('button', 'Add Limits', 'Space');
  t.same((await service.shares.get(shareId)).jobIds, [first, third, second]);
  await press('button', 'Move Areas down');
  // The next one after the video, where it is now.
  await page.keyboard.press('Tab');
  t.equal(await page.locator(':focus').textContent(), 'Areas');
  await press('button', 'Take out Sums');
  t.same((await service.shares.get(shareId)).jobIds, [first, second]);
});

t.test('the pages of links fit every screen, light and dark', async (t) => {
  const { url, member, complete, browser, service, owner } = await filming(t);
  const jobIds = [
    await complete('Pythagoras’ theorem'),
    await complete('Areas'),
    await complete('W'.repeat(200)),
  ];
  const [first = ''] = jobIds;
  const { shareId } = await service.shares.create({ owner, jobIds, title: 'Geometry, lesson 3' });
  const description = 'Why the squares over the legs\nfill the square over the hypotenuse.';
  const shown = await service.shares.create({ owner, jobIds: [first], description, poster: { play: 2 } });
  const revoked = await service.shares.create({ owner, jobIds: [first], title: 'Old' });
  await service.shares.revoke(revoked.shareId);
  await service.shares.create({
    owner,
    jobIds,
    title: 'For the web',
    visibility: 'public',
    expiresAt: '2100-01-31T12:00:00Z',
  });
  await service.shares.create({ owner, jobIds: jobIds.slice(2), visibility: 'private' });
  const pages = {
    job: `/jobs/${first}`,
    list: '/shares',
    share: `/shares/${shown.shareId}`,
    playlist: `/shares/${shareId}`,
    adding: `/shares/${shown.shareId}?find=`,
    revoked: `/shares/${revoked.shareId}`,
    jobs: '/jobs',
  };
  const page = await openPage(t, browser);
  await signIn(page, url, member);
  for (const [name, path] of Object.entries(pages)) {
    await page.goto(`${url}/dashboard${path}`);
    for (const width of [390, 1366, 1920]) {
      await page.setViewportSize({ width, height: 900 });
      const wide =
        "document.documentElement.scrollWidth + [...document.querySelectorAll('.scroll')].filter((box) => box.scrollWidth > box.clientWidth).length";
      t.equal(await page.evaluate(wide), width, `${name} at ${width}`);
      if (name === 'job') t.match(await page.evaluate(PLACES), width === 390 ? 'below' : 'beside');
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme });
        if (width === 390) t.same(await accessibilityFaults(page), [], `${name}, ${colorScheme}`);
        if (SCREENSHOTS)
          await page.screenshot({
            path: join(SCREENSHOTS, `${name}-${width}-${colorScheme}.png`),
            fullPage: true,
          });
      }
    }
  }
});
