import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import t from 'tap';
import { completedJob } from '../appliance/completed-job.ts';
import { listeningAppliance } from '../appliance/listening-appliance.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { accessibilityFaults, launchBrowser, openPage, until } from './browser.ts';

const CAPTIONS = 'WEBVTT\n\n00:00.000 --> 00:06.000\nA circle\n';

t.test('a shared video plays on its page and in a sandboxed frame of another origin', async (t) => {
  const appliance = await listeningAppliance(t);
  const { url, service } = appliance;
  const file = join(await temporaryFolder(t), 'video.mp4');
  execFileSync('ffmpeg', [
    ...['-loglevel', 'error', '-f', 'lavfi', '-i', 'testsrc=s=854x480:r=30:d=6', '-pix_fmt', 'yuv420p'],
    ...['-movflags', '+faststart', file],
  ]);
  const files = { 'video.mp4': readFileSync(file), 'captions.vtt': CAPTIONS };
  const jobId = await completedJob(appliance, { files, title: 'Pythagoras’ theorem' });
  const { owner } = await service.get(jobId);
  const description = 'Why the squares over the legs\nfill the square over the hypotenuse.';
  const { token } = await service.shares.create({
    owner,
    jobIds: [jobId],
    description,
    poster: { seconds: 3 },
  });
  const browser = await launchBrowser(t);

  const page = await openPage(t, browser, { viewport: { width: 1366, height: 900 } });
  await page.goto(`${url}/w/${token}`);
  await until(page, "document.querySelector('video').currentTime === 3");
  t.same(await accessibilityFaults(page), []);
  await page.keyboard.press('.');
  await until(page, "document.querySelector('video').currentTime > 3.03");
  await page.locator('[data-seek]').nth(1).click();
  await until(page, "document.querySelector('video').currentTime >= 4");
  t.equal(await page.evaluate('document.cookie + localStorage.length'), '0');
  const folder = process.env['SCREENSHOTS'];
  for (const [width, colorScheme] of [
    [1366, 'light'],
    [1366, 'dark'],
    [390, 'light'],
    [390, 'dark'],
  ] as const) {
    await page.setViewportSize({ width, height: 900 });
    await page.emulateMedia({ colorScheme });
    t.equal(await page.evaluate('document.documentElement.scrollWidth'), width);
    if (folder) await page.screenshot({ path: join(folder, `watch-${width}-${colorScheme}.png`) });
  }

  const other = createServer((_, response) => {
    response.setHeader('content-type', 'text/html');
    response.end(
      `<!doctype html><title>Other</title><iframe sandbox="allow-scripts" src="${url}/embed/${token}"></iframe>`,
    );
  });
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
  t.teardown(() => other.close());
  const host = await openPage(t, browser);
  await host.goto(`http://127.0.0.1:${(other.address() as AddressInfo).port}/`);
  const frame = host.frames()[1];
  const state = `new Promise((resolve) => {
    const video = document.querySelector('video');
    const look = () => {
      const track = video.textTracks[0];
      if (video.currentTime === 3 && track.cues?.length) resolve([origin, track.cues[0].text]);
      else requestAnimationFrame(look);
    };
    video.textTracks[0].mode = 'hidden';
    look();
  })`;
  t.same(await frame?.evaluate(state), ['null', 'A circle']);
});
