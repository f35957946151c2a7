// Runs every example with the package as published, in an empty project.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, cp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import t, { type Test } from 'tap';
import { ScenepressClient } from '../../lib/client/index.ts';
import { installPackages } from '../../scripts/install-packages.ts';
import { freePort } from '../fixtures/free-port.ts';
import { emptyFolder, installPacked, packPackage, runClean } from '../fixtures/packed-package.ts';

const EXAMPLES = import.meta.dirname;
const PACKAGES = join(EXAMPLES, 'node_modules');
const bin = (name: string) => join(PACKAGES, '.bin', name);
/** Packages that are in a bundle of the example of Next.js without its setting. */
const BUNDLED = [
  ...['ipaddr.js', 'lowdb', 'node-cron', 'piscina', 'steno'],
  ...['joi', '@hapi/address', '@hapi/formula', '@hapi/hoek', '@hapi/pinpoint', '@hapi/tlds', '@hapi/topo'],
  ...['@fastify/busboy', '@standard-schema/spec'],
];
const TITLE = 'class Hello(Scene):\n  pass\n';

installPackages(EXAMPLES, 'the frameworks of the examples');
const archive = await packPackage(t);

/** A project with the files of an example and of the shared ones, where renders are fake. */
async function project(t: Test, name: string, packages: string[] = []): Promise<string> {
  const folder = await installPacked(t, archive, PACKAGES, packages);
  await copyFile(join(EXAMPLES, 'fake-service.mjs'), join(folder, 'service.mjs'));
  await copyFile(join(EXAMPLES, 'authenticate.mjs'), join(folder, 'authenticate.mjs'));
  const files = await readdir(join(EXAMPLES, name));
  for (const file of files) await copyFile(join(EXAMPLES, name, file), join(folder, file));
  return folder;
}

/** Starts a server, which prints its URL. */
async function serve(t: Test, folder: string): Promise<string> {
  const { NODE_OPTIONS: _, ...env } = process.env;
  const server = spawn('env', ['-u', 'NODE_OPTIONS', process.execPath, 'main.mjs'], {
    cwd: folder,
    env: { ...env, PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.teardown(async () => {
    server.kill('SIGKILL');
    await once(server, 'close');
  });
  const [url] = await once(createInterface({ input: server.stdout }), 'line');
  return url as string;
}

/** Renders with a server as its clients do. */
async function render(t: Test, url: string): Promise<void> {
  const client = new ScenepressClient({ url, key: 'secret-of-ada' });
  const job = await client.render({ className: 'Hello', code: TITLE, metadata: { lesson: 7 } });
  t.match(job, { status: 'completed', metadata: { lesson: 7 } });
  const part = await client.download(job, 'video', { range: { start: 4, end: 7 } });
  t.equal(await part.text(), 'ftyp');
  t.match(await client.account(), { userId: 'ada' });
  const other = new ScenepressClient({ url, key: 'wrong' });
  t.match(await other.account().catch((error: unknown) => error), { status: 401 });
}

t.test('JavaScript', async (t) => {
  const { stdout, stderr } = await runClean([process.execPath, 'main.mjs'], await project(t, 'javascript'));
  t.equal(stderr, '');
  t.match(stdout, /^queued\n(running\n)*completed\nvideo\/mp4 .*video\.mp4\n$/);
});

t.test('CommonJS', async (t) => {
  const { stdout } = await runClean([process.execPath, 'main.cjs'], await project(t, 'commonjs'));
  t.equal(stdout, 'true\ncompleted\ntrue\n');
});

t.test('TypeScript, strict, without @types/node, also with other settings', async (t) => {
  const folder = await project(t, 'typescript');
  await writeFile(join(folder, 'package.json'), '{"type":"module"}');
  await runClean([bin('tsc')], folder);
  await runClean([bin('tsc'), '--module', 'esnext', '--moduleResolution', 'bundler'], folder);
  await runClean([bin('tsc'), '--target', 'es2020', '--lib', 'es2022,dom'], folder);
  await writeFile(
    join(folder, 'main.ts'),
    "import { RenderService } from 'scenepress';\nnew RenderService({ folder: 7 });\n",
  );
  const failed = await runClean([bin('tsc')], folder).catch((error: unknown) => error);
  t.match(failed, { stdout: /Type 'number' is not assignable to type 'string'/ });
});

t.test('TypeScript, strict, with the types of Fastify', async (t) => {
  const folder = await project(t, 'typescript', ['fastify', '@types/node']);
  await writeFile(join(folder, 'package.json'), '{"type":"module"}');
  await writeFile(
    join(folder, 'main.ts'),
    "import fastify from 'fastify';\nimport { fastifyPlugin, type WebHandler } from 'scenepress/web';\n" +
      'export const mount = (handle: WebHandler) =>\n' +
      "  fastify().register(fastifyPlugin(handle), { prefix: '/renders' });\n",
  );
  await runClean([bin('tsc'), '--skipLibCheck', '--types', 'node'], folder);
});

for (const [name, packages] of Object.entries({
  express: ['express'],
  fastify: ['fastify'],
  hono: ['hono', '@hono/node-server'],
  hapi: [],
})) {
  t.test(`a server with ${name}`, async (t) => {
    await render(t, await serve(t, await project(t, name, packages)));
  });
}

t.test('Next.js, built and started', async (t) => {
  const next = join(EXAMPLES, 'next');
  installPackages(next, 'Next.js');
  const folder = await project(t, 'javascript');
  await rm(join(folder, 'main.mjs'));
  // With its packages: Next.js rejects links to folders outside of the project.
  await cp(next, folder, { recursive: true, verbatimSymlinks: true });
  const port = await freePort();
  const env = { PUBLIC_URL: `http://127.0.0.1:${port}`, NEXT_TELEMETRY_DISABLED: '1' };
  const command = join(folder, 'node_modules/.bin/next');
  // A bundler reads them, and follows no links out of the folder, either.
  for (const name of BUNDLED) {
    await rm(join(folder, 'node_modules', name), { force: true });
    await cp(join(EXAMPLES, '../../node_modules', name), join(folder, 'node_modules', name), {
      recursive: true,
    });
  }
  const config = join(folder, 'next.config.mjs');
  const shown = await readFile(config, 'utf8');
  await writeFile(config, 'export default {};');
  const bundled = await runClean([command, 'build'], folder, env).catch((error: unknown) => error);
  t.match(bundled, { code: 1, stderr: /scenepress must not be bundled, .* serverExternalPackages: / });
  await writeFile(config, shown);
  await runClean([command, 'build'], folder, env);
  const { NODE_OPTIONS: _, ...own } = process.env;
  const server = spawn(
    'env',
    ['-u', 'NODE_OPTIONS', command, 'start', '-H', '127.0.0.1', '-p', String(port)],
    {
      cwd: folder,
      env: { ...own, ...env },
      stdio: ['ignore', 'pipe', 'inherit'],
      detached: true,
    },
  );
  t.teardown(async () => {
    if (server.pid) process.kill(-server.pid, 'SIGKILL');
    await once(server, 'close');
  });
  for await (const line of createInterface({ input: server.stdout })) if (line.includes('Ready')) break;
  await render(t, `${env.PUBLIC_URL}/renders`);
});

t.test('routes of one’s own beside the API', async (t) => {
  const express = await serve(t, await project(t, 'express', ['express']));
  const canceled = await fetch(new URL('/my/cancel/nothing', express), { method: 'POST' });
  t.equal(canceled.status, 404);
  const fastify = await serve(t, await project(t, 'fastify', ['fastify']));
  const headers = { 'content-type': 'application/json' };
  const own = await fetch(new URL('/mine', fastify), { method: 'POST', headers, body: '{"a":1}' });
  t.same(await own.json(), { a: 1 });
});

t.test('a worker', async (t) => {
  const folder = await project(t, 'worker');
  const { stdout } = await runClean(
    [process.execPath, 'main.mjs', 'a', TITLE, 'b', TITLE.replace('Hello', 'Bye')],
    folder,
  );
  t.equal(stdout, 'Hello completed \nBye completed \n');
});

for (const name of ['ledger', 'asset-store', 'database']) {
  t.test(`own ${name}`, async (t) => {
    const { stdout } = await runClean(
      [process.execPath, '--test', '--test-reporter=tap'],
      await project(t, name),
    );
    t.match(stdout, /^# fail 0$/m);
    t.notMatch(stdout, /^# pass 0$/m);
  });
}

t.test('a client in Python', async (t) => {
  const url = await serve(t, await project(t, 'express', ['express']));
  const folder = await project(t, 'python');
  const { stdout } = await runClean(['python3', 'client.py', url, 'secret-of-ada'], folder);
  t.equal(stdout, 'video.mp4\n');
  t.equal((await readFile(join(folder, 'video.mp4'))).subarray(4, 8).toString(), 'ftyp');
});

t.test('a client in a page, bundled by esbuild, Vite and webpack', async (t) => {
  const url = await serve(t, await project(t, 'express', ['express']));
  const folder = await project(t, 'browser');
  await writeFile(
    join(folder, 'vite.config.mjs'),
    "export default { build: { outDir: 'vite', lib: { entry: 'page.mjs', formats: ['es'], fileName: () => 'page.mjs' } } };",
  );
  await writeFile(
    join(folder, 'build.cjs'),
    `const webpack = require(${JSON.stringify(join(PACKAGES, 'webpack'))});
     webpack({ mode: 'production', entry: './page.mjs', context: __dirname, experiments: { outputModule: true },
       output: { path: __dirname + '/webpack', filename: 'page.mjs', library: { type: 'module' } } },
       (error, stats) => { if (error || stats.hasErrors()) { console.log(error ?? stats.toString()); process.exit(1); } });`,
  );
  await runClean(
    [
      bin('esbuild'),
      'page.mjs',
      '--bundle',
      '--format=esm',
      '--platform=browser',
      '--outfile=esbuild/page.mjs',
    ],
    folder,
  );
  await runClean([bin('vite'), 'build'], folder);
  await runClean([process.execPath, 'build.cjs'], folder);
  for (const bundler of ['esbuild', 'vite', 'webpack']) {
    const { show } = await import(join(folder, bundler, 'page.mjs'));
    const video: { src?: string } = {};
    await show(url, 'secret-of-ada', TITLE, video, () => {});
    t.match(video.src, /\/artifacts\/.*\/video\.mp4$/, bundler);
  }
});

t.test('publint and attw find nothing', async (t) => {
  const folder = await emptyFolder(t);
  await runClean([bin('publint'), 'run', archive, '--strict'], folder).catch(({ stdout }) => t.fail(stdout));
  await runClean([bin('attw'), archive, '--profile', 'esm-only'], folder).catch(({ stdout }) =>
    t.fail(stdout),
  );
  t.pass('both have run');
});
