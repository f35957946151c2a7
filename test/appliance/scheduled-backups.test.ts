import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { openInstallation } from '../../appliance/app/installation.ts';
import { loadConfig } from '../../appliance/config/config.ts';
import { examineBackups } from '../../appliance/doctor/backups.ts';
import { examineData } from '../../appliance/doctor/data.ts';
import { restore } from '../../lib/operations.ts';
import { smallDisk } from '../fixtures/small-disk.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { until } from '../fixtures/until.ts';
import { scenepress } from './command.ts';
import { listeningAppliance } from './listening-appliance.ts';

const TOKEN = 'a-token-for-prometheus';

t.test('the last success and failure are in health, metrics, status and doctor', async (t) => {
  const backupDir = await temporaryFolder(t);
  const { ask, installation, dataDir, stop } = await listeningAppliance(t, {
    backupDir,
    metricsToken: TOKEN,
  });
  const { backups } = installation;
  const warnings = async () => (await ask('/health/ready')).json['warnings'];
  const metrics = async () =>
    (await ask('/metrics', { headers: { authorization: `Bearer ${TOKEN}` } })).text
      .split('\n')
      .filter((line) => line.startsWith('scenepress_backup_'));
  const config = loadConfig({ flags: { dataDir, backupDir }, env: {} });
  const doctor = async () => examineBackups(config, (await examineData(config)).backups);
  t.same(await warnings(), []);
  t.same(await metrics(), []);
  await backups?.run();
  const [name = ''] = readdirSync(backupDir);
  t.match(name, /^scenepress-\d{4}-\d\d-\d\dT\d{6}Z$/);
  t.same(await warnings(), []);
  t.match(await metrics(), [/^scenepress_backup_last_success_timestamp_seconds \d{10}/]);
  t.match(await doctor(), { message: `${backupDir}: the last one is of ` });

  rmSync(backupDir, { recursive: true });
  await backups?.run();
  t.match(await warnings(), [
    /^The scheduled backup failed at \S+: the backup folder can't be read or written \(ENOENT\)\. It must exist/,
  ]);
  t.notMatch((await ask('/health/ready')).text, backupDir, 'health is public');
  t.equal((await ask('/health/ready')).status, 200);
  t.match(await metrics(), [/last_success/, /^scenepress_backup_last_failure_timestamp_seconds \d{10}/]);
  mkdirSync(backupDir);
  t.match(await doctor(), {
    status: 'failed',
    message: /the last one failed: .*ENOENT/,
    remedy: /It must exist/,
  });
  const status = await scenepress(['status', '--data-dir', dataDir]);
  t.match(status.stdout, /Backups +in \S+, the last is of .*\n +one failed at .*ENOENT/);

  await backups?.run();
  t.same(await warnings(), []);
  const [second = ''] = readdirSync(backupDir);
  await stop();
  const restored = join(await temporaryFolder(t), 'restored');
  const masterKey = readFileSync(join(dataDir, 'master.key'), 'utf8').trim();
  await restore(join(backupDir, second), restored, { masterKey, storeMasterKey: true });
  const copy = await openInstallation(loadConfig({ flags: { dataDir: restored }, env: {} }));
  t.teardown(() => copy.close());
  t.match(await copy.administration.accounts.list({}), { accounts: [{ email: 'ada@example.org' }] });
});

t.test('a server knows after a restart when the last backup succeeded', async (t) => {
  const backupDir = await temporaryFolder(t);
  const first = await listeningAppliance(t, { backupDir });
  await first.installation.backups?.run();
  const { lastSuccessAtMs } = first.installation.backups?.state() ?? {};
  await first.stop();
  const { installation } = await listeningAppliance(t, { backupDir, dataDir: first.dataDir });
  await until(() => installation.backups?.state().lastSuccessAtMs !== null);
  const seconds = Math.floor((lastSuccessAtMs ?? 0) / 1000);
  t.equal(installation.backups?.state().lastSuccessAtMs, seconds * 1000);
});

t.test('the doctor examines the folder of backups', async (t) => {
  const dataDir = await temporaryFolder(t);
  t.equal(await examineBackups({ dataDir }, null), undefined);
  t.match(await examineBackups({ dataDir, backupDir: '/nowhere/backups' }, null), {
    status: 'failed',
    message: "/nowhere/backups can't be used (ENOENT)",
    remedy: /--backup-dir/,
  });
  const beside = await temporaryFolder(t);
  t.match(await examineBackups({ dataDir, backupDir: beside }, null), {
    status: 'warning',
    message: /no complete backup yet; it is on the same file system as the data folder/,
  });
  const elsewhere = smallDisk(t, 1);
  if (elsewhere !== undefined)
    t.match(await examineBackups({ dataDir, backupDir: elsewhere }, null), { status: 'ok' });

  const args = ['doctor', '--json', '--python', '/nowhere/python', '--port', '0'];
  const { stdout } = await scenepress([...args, '--data-dir', dataDir, '--backup-dir', beside]);
  t.match(
    JSON.parse(stdout).findings.filter(({ check }: { check: string }) => check === 'Backups'),
    [{ status: 'warning', remedy: /another disk/ }],
  );
});

t.test('backups are not scheduled with a database, without a folder, or in the data folder', async (t) => {
  const load = (env: Record<string, string>) => () => loadConfig({ flags: {}, env });
  t.equal(load({})().backupDir, undefined);
  t.match(load({ SCENEPRESS_BACKUP_DIR: '/backups' })(), { backupSchedule: '30 2 * * *', backupsKept: 7 });
  const SCENEPRESS_DATABASE_URL = 'postgres://localhost/x';
  for (const [name, value] of Object.entries({
    SCENEPRESS_BACKUP_DIR: '/backups',
    SCENEPRESS_BACKUP_SCHEDULE: '0 1 * * *',
    SCENEPRESS_BACKUPS_KEPT: '3',
  })) {
    t.throws(load({ SCENEPRESS_DATABASE_URL, [name]: value }), {
      exitCode: 2,
      message: new RegExp(
        `${name}\\) is for a data folder, not for a database: remove it\\..*pg_dump.*cluster\\.md`,
      ),
    });
    if (name !== 'SCENEPRESS_BACKUP_DIR')
      t.throws(load({ [name]: value }), { message: /set --backup-dir \(SCENEPRESS_BACKUP_DIR\) too/ });
  }
  t.throws(load({ SCENEPRESS_BACKUP_DIR: './data/backups' }), { message: /is in the data folder/ });
  for (const SCENEPRESS_BACKUP_SCHEDULE of ['daily', '* * * * * *', '30 25 * * *', '0 0 31 2 *'])
    t.throws(load({ SCENEPRESS_BACKUP_DIR: '/backups', SCENEPRESS_BACKUP_SCHEDULE }), {
      message: /must be a cron pattern such as "30 2 \* \* \*": minute, hour, day, month and weekday, not/,
    });
  t.throws(load({ SCENEPRESS_BACKUP_DIR: '/backups', SCENEPRESS_BACKUPS_KEPT: '0' }), {
    message: /at least 1/,
  });
});
