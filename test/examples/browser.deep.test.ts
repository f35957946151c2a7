// The client in Chromium: in pages of the API's origin and of others, and in a Web Worker.
import { once } from 'node:events';
import { copyFile, readFile } from 'node:fs/promises';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import t from 'tap';
import { fakeRenderService } from '../../lib/testing/index.ts';
import { nodeHandler, webHandler } from '../../lib/web/index.ts';
import { installPackages } from '../../scripts/install-packages.ts';
import { launchBrowser, openPage, until } from '../dashboard/browser.ts';
import { installPacked, packPackage, runClean } from '../fixtures/packed-package.ts';
import { testFolder } from '../fixtures/test-folder.ts';

const EXAMPLES = import.meta.dirname;
const CODE = JSON.stringify('class Hello(Scene):\n  pass\n');
const PAGE = '<!doctype html><link rel="icon" href="data:,"><video id="video" muted></video>';

installPackages(EXAMPLES, 'the frameworks of the examples');
const folder = await installPacked(t, await packPackage(t), '', []);
for (const file of ['page.mjs', 'worker.mjs']) {
  await copyFile(join(EXAMPLES, 'browser', file), join(folder, file));
  const esbuild = join(EXAMPLES, 'node_modules/.bin/esbuild');
  await runClean([esbuild, file, '--bundle', '--format=esm', `--outfile=bundle/${file}`], folder);
}

/** Serves the page and its scripts, and all else with `handle`. Returns the origin. */
async function serve(handle?: RequestListener): Promise<string> {
  const server = createServer(async (request, response) => {
    const { url = '/' } = request;
    if (handle && url.startsWith('/renders/')) return handle(request, response);
    const isScript = url.endsWith('.mjs');
    response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html');
    response.end(isScript ? await readFile(join(folder, 'bundle', url)) : PAGE);
  }).listen(0, '127.0.0.1');
  t.teardown(() => server.close() && server.closeAllConnections());
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const service = fakeRenderService({ folder: testFolder(t) });
t.teardown(() => service.stop());
await service.start();
let own = '';
const [allowed, forbidden] = [await serve(), await serve()];
const handle = webHandler({
  service,
  authenticate: (token) =>
    token === 'token' ? { owner: 'ada', keyId: null, keyPrefix: 'token', webhookUrl: null } : null,
  assetUrl: () => `${own}/renders`,
  basePath: '/renders',
  corsOrigins: [allowed],
});
own = await serve(nodeHandler(handle));
const browser = await launchBrowser(t);

const show = (url: string) => `import('/page.mjs').then(async ({ show }) => {
  const said = [];
  await show(${JSON.stringify(url)}, 'token', ${CODE}, document.getElementById('video'), (text) => said.push(text));
  return said;
})`;

t.test('a page of the same origin, and one of an allowed origin, show a video', async (t) => {
  for (const [origin, url] of [
    [own, '/renders'],
    [allowed, `${own}/renders`],
  ] as const) {
    const page = await openPage(t, browser);
    await page.goto(origin);
    await page.evaluate(show(url));
    t.ok(((await page.evaluate('video.src')) as string).startsWith(`${own}/renders/artifacts/`), origin);
    await until(page, 'video.readyState >= HTMLMediaElement.HAVE_METADATA');
    t.equal(await page.evaluate('video.videoWidth'), 32);
  }
});

t.test('a page of another origin can’t call the API', async (t) => {
  const page = await browser.newPage();
  t.teardown(() => page.close());
  await page.goto(forbidden);
  const call = (headers: string) =>
    page.evaluate(
      `fetch('${own}/renders/api/v2/me', { headers: ${headers} }).then(({ status }) => status, String)`,
    );
  t.equal(await call("{ authorization: 'Bearer token' }"), 'TypeError: Failed to fetch');
  t.equal(await call('{}'), 'TypeError: Failed to fetch');
});

t.test('a Web Worker renders and downloads', async (t) => {
  const page = await openPage(t, browser);
  await page.goto(own);
  const result = await page.evaluate(`new Promise((resolve, reject) => {
    const worker = new Worker('/worker.mjs', { type: 'module' });
    worker.onerror = ({ message }) => reject(new Error(message));
    worker.onmessage = ({ data }) => resolve({ type: data.video?.type, error: data.error });
    worker.postMessage({ url: '/renders', token: 'token', code: ${CODE} });
  })`);
  t.same(result, { type: 'video/mp4', error: undefined });
});
