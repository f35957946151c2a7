import { chmod, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { openInstallation } from '../../appliance/app/installation.ts';
import { loadConfig } from '../../appliance/config/config.ts';
import { examineData } from '../../appliance/doctor/data.ts';
import { ClockWatch, examineDisk } from '../../appliance/doctor/machine.ts';
import { rendererRemedies } from '../../appliance/doctor/remedies.ts';
import { smallDisk } from '../fixtures/small-disk.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { scenepress } from './command.ts';

t.test('the set-up is recommended only for a renderer that it installed', (t) => {
  const advice = (...of: Parameters<typeof rendererRemedies>) =>
    Object.values(rendererRemedies(...of)).join();
  t.match(advice({}, undefined), /`npx scenepress setup`/);
  t.notMatch(advice({}, { path: '/data/renderer/root-1' }), /setup|npx/);
  t.match(advice({}, { path: '/data/renderer/root-1' }), /remove \/data\/renderer\/root-1/);
  t.notMatch(advice({ python: '/opt/python' }, undefined), /setup|npx/);
  t.match(advice({ python: '/opt/python' }, undefined), /\/opt\/python.*--python/);
  t.end();
});

t.test('the set-up is not recommended for a missing Python that was configured', async (t) => {
  const args = ['doctor', '--json', '--python', '/nowhere/python', '--port', '0'];
  const { code, stdout } = await scenepress([...args, '--data-dir', await temporaryFolder(t)], {
    renders: true,
  });
  t.equal(code, 1, 'a check failed');
  const { ok, findings } = JSON.parse(stdout) as {
    ok: boolean;
    findings: { check: string; message: string; remedy: string }[];
  };
  t.equal(ok, false);
  const { message, remedy } = findings.find(({ check }) => check === 'Renderer') ?? {};
  t.match(`${message}`, /no Python environment with Manim at \/nowhere\/python.*SCENEPRESS_PYTHON/);
  t.notMatch(`${message} ${remedy}`, /setup/);
});

t.test('a disk with space, but few inodes, fails', async (t) => {
  const dataDir = smallDisk(t, 512, 200);
  if (dataDir === undefined) {
    t.pass('needs the right to mount', { skip: true });
    return;
  }
  t.match(await examineDisk({ dataDir }), {
    status: 'failed',
    message: /^1\d\d free inodes on the file system of \//,
    remedy: /Remove files from it; `df -i`/,
  });
});

t.test('modes 700 and 711 of the data folder are accepted, wider ones get a warning', async (t) => {
  const dataDir = await temporaryFolder(t);
  await scenepress(['account', 'create', 'ada@example.org', '--data-dir', dataDir]);
  const config = loadConfig({ flags: { dataDir }, env: {} });
  const warnings = async () => (await examineData(config)).findings.filter(({ status }) => status !== 'ok');
  for (const mode of [0o700, 0o711]) {
    await chmod(dataDir, mode);
    t.same(await warnings(), [], mode.toString(8));
  }
  for (const mode of [0o755, 0o750, 0o733]) {
    await chmod(dataDir, mode);
    t.match(await warnings(), [
      { message: `other users can read or write ${dataDir}`, remedy: /chmod go-rw / },
    ]);
  }
  await chmod(dataDir, 0o700);
  await chmod(join(dataDir, 'keys.json'), 0o644);
  t.match(await warnings(), [
    { message: /other users can read or write .*keys\.json/, remedy: /chmod 600 / },
  ]);
});

t.test('interrupted operations and invalid documents are reported with a remedy', async (t) => {
  const dataDir = await temporaryFolder(t);
  const config = loadConfig({ flags: { dataDir }, env: {} });
  const installation = await openInstallation(config);
  const { accountId } = await installation.accounts.create('ada@example.org');
  await installation.accounts.beginDeletion(accountId);
  await installation.place.masterKeyFiles.begin(undefined);
  await installation.close();
  const findings = async () => (await examineData(config)).findings.filter(({ status }) => status !== 'ok');
  t.match(await findings(), [
    {
      status: 'warning',
      message: /deletion of account \S+ is incomplete/,
      remedy: `account delete ${accountId} --yes`,
    },
    { status: 'warning', message: /rotation of the master key is incomplete/, remedy: /master-key rotate/ },
  ]);
  const accounts = await readFile(join(dataDir, 'accounts.json'), 'utf8');
  await writeFile(join(dataDir, 'accounts.json'), accounts.replace('ada@', ''));
  t.match(await findings(), [
    {
      status: 'failed',
      message: /accounts\.json can't be used: entry 1 .*"email" must be an e-mail address/,
    },
  ]);
});

t.test('a clock that differs from that of the database is found in both directions', async (t) => {
  const finding = (aheadMs: number) => new ClockWatch().finding(null, aheadMs);
  t.match(finding(3_600_000), {
    status: 'failed',
    message: /3600 s ahead of that of the database/,
    remedy: /NTP/,
  });
  t.match(finding(-3_600_000), { status: 'failed', message: /3600 s behind that of the database/ });
  t.match(finding(-2_000), { status: 'ok' });
});
