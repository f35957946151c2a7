import { spawnSync } from 'node:child_process';
import { chown, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { scenepress } from './command.ts';

/** The highest accepted score of `systemd-analyze security`, in tenths; scores differ slightly between versions. */
const MAX_EXPOSURE = 35;

t.test('the unit runs this program with its own folder and user', async (t) => {
  const args = ['install-service', '--print', '--user', 'studio', '--data-dir', '/srv/renders'];
  const { code, stdout } = await scenepress(args);
  t.equal(code, 0);
  t.match(stdout, /^# \/etc\/sysusers\.d\/scenepress\.conf\nu studio /m);
  t.match(stdout, /^User=studio$/m);
  t.match(stdout, new RegExp(`^ExecStart=${process.execPath} .*/appliance/main\\.ts serve$`, 'm'));
  t.match(stdout, /^ReadWritePaths=\/srv\/renders$/m);
  t.match(stdout, /^Restart=on-failure$[^[]*^RestartPreventExitStatus=2$/m, 'not with a wrong configuration');
  t.match((await scenepress(['install-service', '--print'])).stdout, /^StateDirectory=scenepress$/m);
});

t.test('the unit’s restrictions are compatible with the sandbox', async (t) => {
  const { stdout } = await scenepress(['install-service', '--print']);
  t.match(stdout, /^RestrictNamespaces=user mnt pid net ipc uts$/m);
  t.match(stdout, /^Delegate=yes$/m);
  t.notMatch(
    stdout,
    /^(ProtectKernelTunables|ProtectKernelLogs|ProtectControlGroups|ProcSubset|MemoryDeny)/m,
  );
  // With these, or without the two calls, renders have the level 'reduced'.
  t.notMatch(stdout, /^(ProtectHostname|RestrictSUIDSGID)/m);
  t.match(stdout, /^SystemCallFilter=.* sethostname setdomainname$/m);
});

const noSystemd = spawnSync('systemd-analyze', ['--version']).error !== undefined && 'there is no systemd';

t.test('the exposure score is as low as documented', { skip: noSystemd }, async (t) => {
  const folder = await temporaryFolder(t);
  const unit = join(folder, 'scenepress.service');
  const { stdout } = await scenepress(['install-service', '--print']);
  await writeFile(unit, stdout.slice(stdout.indexOf('[Unit]')));
  const args = ['security', '--offline=yes', '--no-pager', `--threshold=${MAX_EXPOSURE}`, unit];
  const { status, stdout: said } = spawnSync('systemd-analyze', args, { encoding: 'utf8' });
  t.equal(status, 0, said.split('\n').at(-2) ?? '');
});

t.test('names that are invalid in a unit are incorrect usage', async (t) => {
  for (const wrong of [
    ['--user', 'a b'],
    ['--data-dir', '/a b'],
  ]) {
    const { code, stderr } = await scenepress(['install-service', '--print', ...wrong]);
    t.equal(code, 2);
    t.not(stderr, '');
  }
});

const notRoot = process.geteuid?.() !== 0 && 'only root can try';

t.test('root is told to run commands as the service’s user', { skip: notRoot }, async (t) => {
  const dataDir = await temporaryFolder(t);
  await scenepress(['account', 'list', '--data-dir', dataDir]);
  await chown(join(dataDir, 'lock'), 12345, 12345);
  const { code, stderr } = await scenepress(['account', 'list', '--data-dir', dataDir]);
  t.equal(code, 1);
  t.match(stderr, /belongs to user id 12345.*sudo -u '#12345'/);
});
