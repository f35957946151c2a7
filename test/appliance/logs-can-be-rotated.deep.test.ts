import { existsSync, readFileSync, renameSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { scenepress, serve } from './command.ts';
import { send } from './listening-appliance.ts';

const POLL_MS = 20;

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await delay(POLL_MS);
}

t.test('a log file is reopened on SIGHUP, and without a signal after it was moved', async (t) => {
  const folder = await temporaryFolder(t);
  const file = join(folder, 'scenepress.log');
  const server = await serve(t, ['--data-dir', join(folder, 'data'), '--log-file', file], { logFile: file });
  const logs = (path: string) => (existsSync(path) ? readFileSync(path, 'utf8') : '');
  t.equal((await stat(file)).mode & 0o777, 0o640);
  t.equal(server.stderr(), '');

  renameSync(file, `${file}.1`);
  server.kill('SIGHUP');
  await until(() => existsSync(file));
  await send(server.port, '/first', {});
  await until(() => logs(file).includes('"path":"/first"'));
  t.notMatch(logs(`${file}.1`), '/first');

  renameSync(file, `${file}.2`);
  await until(() => existsSync(file));
  await send(server.port, '/second', {});
  await until(() => logs(file).includes('"path":"/second"'));
  t.notMatch(logs(`${file}.2`), '/second');
  server.kill('SIGTERM');
  t.equal(await server.ended, 0);
  t.match(logs(file), '"msg":"stopped"');
});

t.test('the service does not start if its log file cannot be opened', async (t) => {
  const folder = await temporaryFolder(t);
  const { code, stderr } = await scenepress(
    ['serve', '--data-dir', folder, '--log-file', join(folder, 'nowhere', 'log')],
    {},
  );
  t.equal(code, 1);
  t.match(stderr, /^scenepress: The log file can't be opened: .*--log-file/);
});
