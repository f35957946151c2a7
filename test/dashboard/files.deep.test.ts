import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import t, { type Test } from 'tap';
import { testFolder } from '../fixtures/test-folder.ts';
import { accessibilityFaults, launchBrowser, openPage, peopledAppliance, signIn, until } from './browser.ts';

const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
/** Would tell that its script runs. */
const SVG = `<svg xmlns="http://www.w3.org/2000/svg" width="200" height="100" onload="fetch('/dashboard/hacked')">
<script>fetch('/dashboard/hacked'); top.document.title = 'hacked';</script><rect width="200" height="100" fill="#3d4fc4"/></svg>`;

/** Drops files on the page: texts by their names, and a picture. */
async function drop(page: Page, texts: Record<string, string>): Promise<void> {
  await page.evaluate(`(async () => {
    const dataTransfer = new DataTransfer();
    for (const [name, text] of Object.entries(${JSON.stringify(texts)})) dataTransfer.items.add(new File([text], name));
    const bytes = Uint8Array.from(atob('${PNG}'), (character) => character.charCodeAt(0));
    dataTransfer.items.add(new File([bytes], 'dot.png'));
    for (const name of ['dragenter', 'dragover', 'drop']) {
      document.getElementById('main').dispatchEvent(new DragEvent(name, { dataTransfer, bubbles: true, cancelable: true }));
      if (name === 'dragover') window.wasTarget = document.body.classList.contains('dropping');
    }
  })()`);
}

async function open(t: Test, options: Parameters<typeof openPage>[2] = {}) {
  const appliance = await peopledAppliance(t);
  const { url, member } = appliance;
  const page = await openPage(t, await launchBrowser(t), options);
  await signIn(page, url, member);
  await page.getByRole('link', { name: 'Files' }).click();
  await page.getByRole('heading', { name: 'No files yet' }).waitFor();
  return { ...appliance, page };
}

t.test('files are dropped on the page, and errors stand beside their names', async (t) => {
  const { page, installation, member } = await open(t);
  await page.getByLabel('Folder').fill('brand');
  await drop(page, { 'logo.svg': SVG, 'wrong.png': 'text', 'table.csv': 'a,b\n1,2\n', 'program.exe': 'x' });
  t.equal(await page.evaluate('window.wasTarget'), true, 'the page shows that files can be dropped');
  await page.getByText('3 of 5 uploaded, 2 failed.').waitFor();
  const lines = await page.locator('#uploads li').allTextContents();
  t.match(lines, [
    'logo.svgUploaded',
    'wrong.pngThe content is not that of a .png file.',
    'table.csvUploaded',
    /^program\.exebrand\/program\.exe is of no kind that scenes use\./,
    'dot.pngUploaded',
  ]);
  // The list is loaded again.
  await page.getByRole('link', { name: 'table.csv' }).waitFor();
  t.same(await page.locator('#files tbody th .file > :last-child').allTextContents(), [
    'brand/dot.png',
    'brand/logo.svg',
    'brand/table.csv',
  ]);
  await page.getByText('3 of 5,000 files').waitFor();
  t.same(await accessibilityFaults(page), []);
  const { files } = await installation.administration.files.list({ account: member });
  t.equal(files.length, 3);
});

t.test('a drawing is shown, and its script does not run', async (t) => {
  const { page, url } = await open(t);
  const requests: string[] = [];
  page.on('request', (request) => requests.push(request.url()));
  await drop(page, { 'logo.svg': SVG });
  await page.getByRole('link', { name: 'logo.svg' }).click();
  await until(page, `document.querySelector('img.shown')?.naturalWidth === 200`);
  t.match(await page.locator('#usage').textContent(), 'SVGMobject("logo.svg")');
  t.same(await accessibilityFaults(page), []);
  const content = `${url}/dashboard/files/${page.url().split('/').at(-1)}/content`;
  const download = page.waitForEvent('download');
  await page.goto(content).catch(() => {});
  t.equal((await download).suggestedFilename(), 'logo.svg', 'opened alone, it is saved');
  t.same(
    requests.filter((request) => request.endsWith('/hacked')),
    [],
  );
  t.match(await page.title(), 'logo.svg');
});

t.test('the progress of a large file is shown', async (t) => {
  const { page } = await open(t);
  const network = await page.context().newCDPSession(page);
  await network.send('Network.emulateNetworkConditions', {
    ...{ offline: false, latency: 0, downloadThroughput: -1, uploadThroughput: 1_000_000 },
  });
  const path = join(testFolder(t), 'large.csv');
  writeFileSync(path, 'x'.repeat(2_000_000));
  await page.getByLabel('Files', { exact: false }).and(page.locator('input[type=file]')).setInputFiles(path);
  await page.getByRole('button', { name: 'Upload' }).click();
  await until(page, `/^[1-9][0-9]? %$/.test(document.querySelector('#uploads li span + span')?.textContent)`);
  t.equal(await page.locator('#uploads progress').count(), 1);
  await page.getByText('1 of 1 uploaded.').waitFor();
  await page.getByRole('link', { name: 'large.csv' }).waitFor();
});

t.test('a sound is played, and what can be done is told where a session has ended', async (t) => {
  const { page, installation, member } = await open(t);
  const samples = 8000;
  const header = Buffer.alloc(44);
  header.write('RIFF');
  header.writeUInt32LE(36 + samples, 4);
  header.write('WAVEfmt ', 8);
  header.writeUInt32LE(16, 16);
  for (const [place, value] of [
    [20, 1],
    [22, 1],
    [32, 1],
    [34, 8],
  ] as const)
    header.writeUInt16LE(value, place);
  header.writeUInt32LE(8000, 24);
  header.writeUInt32LE(8000, 28);
  header.write('data', 36);
  header.writeUInt32LE(samples, 40);
  const content = (async function* () {
    yield Buffer.concat([header, Buffer.alloc(samples, 128)]);
  })();
  await installation.administration.files.put({ account: member, name: 'tone.wav', content });
  await page.reload();
  await page.getByRole('link', { name: 'tone.wav' }).click();
  await until(page, `document.querySelector('audio')?.duration === 1`);
  await page.getByRole('link', { name: 'All files' }).click();
  await page.getByRole('link', { name: 'tone.wav' }).waitFor();
  await page.context().clearCookies();
  await drop(page, {});
  await page.getByText('Your session has ended. Sign in, then upload it again.').waitFor();
});

t.test('without scripts, files are uploaded, seen and removed', async (t) => {
  const { page } = await open(t, { javaScriptEnabled: false });
  const folder = testFolder(t);
  const paths = ['logo.svg', 'notes.md', 'dot.png'].map((name) => join(folder, name));
  writeFileSync(paths[0] ?? '', SVG);
  writeFileSync(paths[1] ?? '', '# Notes\n');
  writeFileSync(paths[2] ?? '', 'no picture');
  t.equal(await page.locator('#drop-hint').isVisible(), false);
  await page.getByLabel('Folder').fill('brand');
  await page.locator('input[type=file]').setInputFiles(paths);
  await page.getByRole('button', { name: 'Upload' }).click();
  await page.getByText('dot.png: The content is not that of a .png file.').waitFor();
  await page.getByText('2 files were uploaded.').waitFor();
  await page.getByRole('link', { name: 'notes.md' }).click();
  await page.getByText('# Notes').waitFor();
  await page.getByRole('link', { name: 'Remove …' }).click();
  await page.getByRole('button', { name: 'Remove file' }).click();
  await page.getByText('brand/notes.md was removed.').waitFor();
  t.same(await page.locator('#files tbody th .file > :last-child').allTextContents(), ['logo.svg']);
});
