// The package as published, on the oldest and on the newest Node that it supports.
import { cp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { ScenepressClient } from '../../lib/client/index.ts';
import { installPackages } from '../../scripts/install-packages.ts';
import { serve } from '../appliance/command.ts';
import { installPacked, packPackage, runClean } from '../fixtures/packed-package.ts';

const EXAMPLES = import.meta.dirname;
const VERSIONS = join(EXAMPLES, 'node-versions');
const INSTANT_PYTHON = join(EXAMPLES, '../fixtures/instant-renderer/bin/python');

installPackages(VERSIONS, 'the oldest and the newest Node');
const folder = await installPacked(t, await packPackage(t), '', []);
await cp(join(EXAMPLES, 'javascript/main.mjs'), join(folder, 'main.mjs'));
await cp(join(EXAMPLES, 'fake-service.mjs'), join(folder, 'service.mjs'));
const command = join(folder, 'node_modules/scenepress/scripts/scenepress.mjs');

for (const [name, version] of [
  ['node-22', /^v22\.16\.0\n$/],
  ['node-26', /^v26\./],
] as const) {
  t.test(name, async (t) => {
    const node = join(VERSIONS, 'node_modules', name, 'bin/node');
    t.match((await runClean([node, '--version'], folder)).stdout, version);

    const example = await runClean([node, 'main.mjs'], folder);
    t.match(example.stdout, /^queued\n(running\n)*completed\nvideo\/mp4 .*video\.mp4\n$/, 'an example');

    const server = await serve(t, ['--data-dir', join(folder, name)], {
      program: [node, command],
      env: { SCENEPRESS_PYTHON: INSTANT_PYTHON },
    });
    const [key = ''] = /svc_live_[0-9a-f]{48}/.exec(server.stdout()) ?? [];
    const client = new ScenepressClient({ url: server.url, key });
    const job = await client.render({ className: 'Main', code: 'class Main(Scene):\n  pass\n' });
    t.equal(job.status, 'completed', 'a render of the service');
    server.kill('SIGTERM');
    t.equal(await server.ended, 0);
  });
}

t.test('an older Node gets one line', async (t) => {
  for (const version of ['20.20.2', '22.15.1']) {
    const preload = join(folder, 'version.mjs');
    await writeFile(
      preload,
      `Object.defineProperties(process, {
         version: { value: 'v${version}' },
         versions: { value: { ...process.versions, node: '${version}' } },
       });`,
    );
    const run = runClean([process.execPath, '--import', preload, command, 'serve'], folder);
    t.match(await run.catch((error: unknown) => error), {
      code: 1,
      stdout: '',
      stderr: `Scenepress needs Node 22.16 or newer; this is v${version}. For this project: npm install node@24\n`,
    });
  }
});
