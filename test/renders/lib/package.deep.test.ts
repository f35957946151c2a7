import { execFile } from 'node:child_process';
import { copyFile, mkdir, stat, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import { testFolder } from '../../fixtures/test-folder.ts';
import { inspectVideo } from '../../fixtures/video.ts';

const run = promisify(execFile);
const checkout = join(import.meta.dirname, '../../..');
const folder = testFolder(t);
const program = join(checkout, 'test/fixtures/ten-lines.mjs');

/** Runs a program without the modules that tap loads into every Node process. */
const runClean = (command: string[], cwd: string, env: NodeJS.ProcessEnv = {}) =>
  run('env', ['-u', 'NODE_OPTIONS', ...command], { cwd, env: { ...process.env, ...env }, timeout: 60_000 });

t.test('a short program renders a scene with the package as published', async (t) => {
  const app = join(folder, 'app');
  const installed = join(app, 'node_modules/scenepress');
  await mkdir(installed, { recursive: true });
  const packed = await runClean(['npm', 'pack', '--silent', '--pack-destination', app], checkout);
  const archive = join(app, packed.stdout.trim().split('\n').at(-1) ?? '');
  t.ok((await stat(archive)).size < 3_000_000, 'the package has no files of installations and builds');
  await run('tar', ['--extract', '--file', archive, '--directory', installed, '--strip-components=1']);
  await symlink(join(checkout, 'node_modules'), join(installed, 'node_modules'));
  await copyFile(program, join(app, 'program.mjs'));

  // Uses the checkout's Python environment.
  const { stdout, stderr } = await runClean([process.execPath, 'program.mjs'], app, {
    SCENEPRESS_PYTHON: join(checkout, '.venv/bin/python'),
  });
  t.equal(stderr, '');
  const video = await inspectVideo(stdout.trim());
  t.match(video, { widthPx: 854, heightPx: 480, fps: 15, codec: 'h264' });
  t.ok(video.frames > 10);

  const names = ['scenepress', 'scenepress/hapi', 'scenepress/testing'];
  const script = `Promise.all(${JSON.stringify(names)}.map((name) => import(name))).then(
    (modules) => console.log(JSON.stringify(modules.map((module) => Object.keys(module)))))`;
  const imported = await runClean([process.execPath, '--eval', script], app);
  const [library, hapi, testing] = JSON.parse(imported.stdout) as [string[], string[], string[]];
  t.ok(library.includes('RenderService'));
  t.ok(hapi.includes('renderApi'));
  t.ok(testing.includes('ledgerSuite'));
});
