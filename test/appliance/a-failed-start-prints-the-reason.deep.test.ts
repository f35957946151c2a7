import { mkdir, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { deepTest } from '../fixtures/depth.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { scenepress, serve } from './command.ts';
import { IDLE_PYTHON } from './listening-appliance.ts';

/** Asserts that the server refuses to start and prints one message without a stack trace. */
async function refused(
  t: Test,
  args: string[],
  exitCode: number,
  message: RegExp,
  { env = {}, launcher = [] }: { env?: Record<string, string>; launcher?: string[] } = {},
) {
  const { code, stdout, stderr } = await scenepress(['serve', ...args], {
    launcher,
    env: { SCENEPRESS_PYTHON: IDLE_PYTHON, SCENEPRESS_LOG_LEVEL: 'fatal', SCENEPRESS_PORT: '0', ...env },
  });
  t.equal(code, exitCode, stderr);
  t.match(stderr, message);
  t.equal(stderr.trim().split('\n').length, 1);
  t.equal(stdout, '');
}

t.test('a port in use', async (t) => {
  const occupant = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => occupant.once('listening', resolve));
  t.teardown(() => occupant.close());
  const { port } = occupant.address() as { port: number };
  const dataDir = await temporaryFolder(t);
  const args = ['--data-dir', dataDir, '--port', String(port)];
  await refused(t, args, 1, /Cannot listen on port \d+ of 127\.0\.0\.1: another program uses it\. .*--port/);
  const later = await serve(t, ['--data-dir', dataDir]);
  t.match(later.stdout(), 'svc_live_', 'the first key had not been printed yet');
});

deepTest(t, 'a data folder in use by another server', async (t) => {
  const dataDir = await temporaryFolder(t);
  await serve(t, ['--data-dir', dataDir]);
  await refused(t, ['--data-dir', dataDir], 1, /in use by another process \(process id \d+\)/);
});

deepTest(t, 'a data folder that is a file', async (t) => {
  const dataDir = join(await temporaryFolder(t), 'file');
  await writeFile(dataDir, '');
  await refused(t, ['--data-dir', dataDir], 1, /can't be used.*--data-dir/);
  await refused(t, ['--data-dir', join(dataDir, 'below')], 1, /can't be used.*--data-dir/);
});

deepTest(t, 'a missing renderer', async (t) => {
  const dataDir = await temporaryFolder(t);
  const python = join(dataDir, 'no-python');
  const message =
    /no Python environment with Manim at \S+no-python\. Name another interpreter \(SCENEPRESS_PYTHON\)/;
  await refused(t, ['--data-dir', dataDir, '--python', python], 1, message);
});

t.test('an invalid configuration', async (t) => {
  await refused(t, ['--workers', 'many'], 2, /--workers must be a whole number of at least 1, not "many"/);
  await refused(t, [], 2, /SCENEPRESS_PORT must be/, { env: { SCENEPRESS_PORT: 'x' } });
  await refused(t, ['--config', 'nowhere.json'], 2, /nowhere\.json can't be read/);
});

t.test('a missing or wrong master key', async (t) => {
  const dataDir = await temporaryFolder(t);
  const { kill, ended } = await serve(t, ['--data-dir', dataDir]);
  kill('SIGTERM');
  await ended;
  await rm(join(dataDir, 'master.key'));
  await refused(t, ['--data-dir', dataDir], 1, /master\.key is missing/);
  const wrong = { env: { SCENEPRESS_MASTER_KEY: 'ab'.repeat(32) } };
  await refused(t, ['--data-dir', dataDir], 1, /not the one/, wrong);
  await mkdir(join(dataDir, 'master.key'));
  await refused(t, ['--data-dir', dataDir, '--master-key-file', dataDir], 1, /master key can't be read/);
});

t.test('a renderer without a sandbox', async (t) => {
  const dataDir = await temporaryFolder(t);
  await refused(t, ['--data-dir', dataDir], 1, /can't be sandboxed here .*--insecure-no-sandbox/s);
});
