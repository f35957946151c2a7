import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { PlayerPage } from '../../appliance/cli/player-page.ts';
import { FAKE_VIDEO } from '../../lib/testing/fake-artifacts.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { launchBrowser, openPage, until } from './browser.ts';

const VIDEO = FAKE_VIDEO;

t.test('a page shows the last videos, errors as text, and new ones without being loaded again', async (t) => {
  const folder = await temporaryFolder(t);
  const video = join(folder, 'Hello & <b>.mp4');
  await writeFile(video, VIDEO);
  const player = new PlayerPage();
  t.teardown(() => player.stop());
  const url = await player.start();
  const page = await openPage(t, await launchBrowser(t));
  await page.goto(url);
  player.show([{ scene: 'Hello', video, error: null }]);
  await until(page, `document.querySelector('video')?.readyState >= 3`);
  await page.getByText('Hello: Hello & <b>.mp4').waitFor();

  player.show([{ scene: 'Hello', video: null, error: 'NameError: <b>x</b>\nline 4: x()' }]);
  await page.getByText('NameError: <b>x</b>').waitFor();
  t.equal(await page.locator('video').count(), 0);
  player.show([], 'The scenes can’t be listed');
  await page.getByText('can’t be listed').waitFor();

  player.show([{ scene: 'Hello', video, error: null }]);
  await until(page, `document.querySelector('video')?.readyState >= 3`);
  await page.evaluate(`window.first = document.querySelector('video')`);
  player.show([
    { scene: 'Hello', video, error: null },
    { scene: 'Other', video: join(folder, 'pictures'), error: null },
  ]);
  await page.getByText('Other: pictures').waitFor();
  t.ok(await page.evaluate(`window.first === document.querySelector('video')`), 'the player stays');
  await until(page, `/version=5$/.test(window.first.src) && window.first.readyState >= 3`);

  player.stop();
  await page.getByText('The command has ended.').waitFor();
});

t.test('the player answers its own page only, and ranges of the videos shown', async (t) => {
  const folder = await temporaryFolder(t);
  const video = join(folder, 'a.mp4');
  await writeFile(video, VIDEO);
  const player = new PlayerPage();
  t.teardown(() => player.stop());
  const url = await player.start();
  player.show([{ scene: 'Größe', video, error: null }]);
  const file = `${url}files/${encodeURIComponent('Größe')}`;
  const part = await fetch(`${file}?version=1`, { headers: { range: 'bytes=4-7' } });
  t.match([part.status, await part.text()], [206, 'ftyp']);
  t.equal(part.headers.get('content-range'), `bytes 4-7/${VIDEO.length}`);
  t.equal((await (await fetch(file)).arrayBuffer()).byteLength, VIDEO.length);
  t.equal((await fetch(file, { headers: { range: 'bytes=9999999-' } })).status, 416);
  const { origin } = new URL(url);
  const others = [`${origin}/`, `${origin}/events`, `${url}files/Other`, `${url}files/..%2Fa.mp4`, `${url}x`];
  for (const other of others) t.equal((await fetch(other)).status, 404, other);
  t.equal((await fetch(url, { method: 'POST' })).status, 404);
  t.match((await fetch(url)).headers.get('content-security-policy'), /default-src 'none'/);
});
