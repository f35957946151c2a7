// /dev/full fails each write with ENOSPC.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { openLog } from '../../appliance/support/log.ts';
import { fill, smallDisk } from '../fixtures/small-disk.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { scenepress, serve } from './command.ts';
import { send } from './listening-appliance.ts';

const skip = process.getuid?.() === 0 ? false : 'only root may mount a disk';
const into = (redirection: string) => ['sh', '-c', `exec "$@" ${redirection}`, 'sh'];

t.test('a service whose standard error cannot be written starts, answers and stops', async (t) => {
  const dataDir = await temporaryFolder(t);
  const { port, kill, ended } = await serve(t, ['--data-dir', dataDir], {
    launcher: into('2>/dev/full'),
    logFile: '/dev/full',
  });
  t.equal((await send(port, '/health/ready', {})).status, 200);
  kill('SIGTERM');
  t.equal(await ended, 0);
});

t.test('a service whose standard output cannot be written starts, answers and stops', async (t) => {
  const { port, kill, ended } = await serve(t, ['--data-dir', await temporaryFolder(t)], {
    launcher: into('>/dev/full'),
    saysItListens: false,
  });
  t.equal((await send(port, '/health/ready', {})).status, 200);
  kill('SIGTERM');
  t.equal(await ended, 0);
});

t.test('a command whose errors cannot be written ends with its exit code', async (t) => {
  const { code } = await scenepress(['serve', '--no-such-option'], { launcher: into('2>/dev/full') });
  t.equal(code, 2);
});

t.test('a log on a full disk is continued once there is space', { skip }, async (t) => {
  const disk = smallDisk(t, 4) as string;
  const logFile = join(disk, 'log');
  const { logger } = openLog({ logLevel: 'info', logFormat: 'json', logFile });
  logger.info('before');
  const filler = fill(disk);
  for (let kib = 0; kib < 2048; kib++) logger.info('x'.repeat(1024));
  filler.free();
  logger.info('after');
  logger.info('later');
  const lines = readFileSync(logFile, 'utf8');
  t.match(lines, /"before".*"later"/s);
  t.ok(lines.length < 1.5 * 1024 * 1024, 'not everything was kept');
});

t.test('a service whose disk fails says why it exits with code 74', async (t) => {
  // Flushes fail once the service is ready, as after an I/O error of the disk.
  const failing = `import fs from 'node:fs';
    import { syncBuiltinESMExports } from 'node:module';
    const { fdatasync } = fs;
    const failure = Object.assign(new Error('EIO: i/o error, fdatasync'), { code: 'EIO' });
    let fails = false;
    process.on('SIGUSR2', () => { fails = true; });
    fs.fdatasync = (fd, done) => (fails ? done(failure) : fdatasync(fd, done));
    syncBuiltinESMExports();`;
  const dataDir = await temporaryFolder(t);
  const server = await serve(t, ['--data-dir', dataDir], {
    env: { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(failing)}` },
  });
  server.kill('SIGUSR2');
  const grant = ['credits', 'grant', '--paid', '5', '--data-dir', dataDir];
  const accounts = await scenepress(['account', 'list', '--json', '--data-dir', dataDir]);
  const [, userId = ''] = /"userId": "([^"]+)"/.exec(accounts.stdout) ?? [];
  await scenepress([...grant, '--account', userId]);
  t.equal(await server.ended, 74);
  t.match(
    server.stderr(),
    /"level":50.*"err".*EIO.*exits with code 74: Writing .* failed: the on-disk state is unknown/,
  );
});
