import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { pino } from 'pino';
import t from 'tap';
import { Faults } from '../../appliance/support/faults.ts';
import { DataFolder } from '../../lib/index.ts';
import { restore } from '../../lib/operations.ts';
import { scenepress } from '../appliance/command.ts';
import { listeningAppliance } from '../appliance/listening-appliance.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { launchBrowser, openPage, peopledAppliance, signIn } from './browser.ts';
import { signedIn } from './client.ts';

const INSTANT_PYTHON = join(import.meta.dirname, '../fixtures/instant-renderer/bin/python');

const copiesIn = (folder: string) => readdirSync(folder).filter((name) => name.startsWith('.backup-'));

t.test('the page of the service shows what the readiness endpoint reports', async (t) => {
  const { port, admin, ask, service } = await peopledAppliance(t, { retentionDays: 30, retentionGb: 5 });
  const client = await signedIn(t, port, admin);
  const { json } = await ask('/health/ready');
  const page = await client.get('/dashboard/service');
  t.match(page.text, `<span class="tag good">${json['status']}</span>`);
  t.match(page.text, `<dt>Sandbox</dt><dd>${json['sandbox']}</dd>`);
  t.match(page.text, 'answers 200');
  t.match(page.text, 'The service is ready');
  t.match(page.text, '30 days, at most 5 GiB in all');
  t.match(page.text, 'Recent faults');
  await service.drain();
  const after = (await client.get('/dashboard/service')).text;
  t.match(after, '<span class="tag bad">not ready</span>');
  t.match(after, 'The service is stopping and accepts no more jobs.');
  t.match(after, 'answers 503');
});

t.test('the page of the service shows scheduled backups', async (t) => {
  const backupDir = await temporaryFolder(t);
  const { port, admin, installation } = await peopledAppliance(t, { backupDir });
  const client = await signedIn(t, port, admin);
  const shown = async () =>
    /<dt>Scheduled<\/dt><dd>(.*?)<\/dd>/.exec((await client.get('/dashboard/service')).text)?.[1];
  t.equal(await shown(), `in <code>${backupDir}</code>, none is complete yet`);
  await installation.backups?.run();
  t.match(await shown(), /, the last is of <time /);
  rmSync(backupDir, { recursive: true });
  await installation.backups?.run();
  t.match(await shown(), /the last is of .*; one failed at .*can(&#39;|')t be read or written \(ENOENT\)/);
});

t.test('the open page of the service shows new accounts and pauses, and keeps the focus', async (t) => {
  const { url, admin, installation } = await peopledAppliance(t);
  const page = await openPage(t, await launchBrowser(t));
  await signIn(page, url, admin);
  await page.goto(`${url}/dashboard/service`);
  await page.getByRole('button', { name: 'Pause the queue' }).focus();
  const { accounts, queue } = installation.administration;
  await accounts.create({ email: 'new@example.org' });
  await page.locator('.figures', { hasText: 'Accounts4' }).waitFor();
  t.equal(await page.evaluate('document.activeElement.textContent'), 'Pause the queue');
  await queue.pause();
  await page.getByText('The queue has been paused since').waitFor();
});

t.test('the command line shows the same', async (t) => {
  const { dataDir } = await listeningAppliance(t);
  const { code, stdout } = await scenepress(['status', '--data-dir', dataDir]);
  t.equal(code, 0);
  t.match(stdout, /^Service +ready$/m);
  t.match(stdout, /^Workers +1: 1 idle, 1 warm$/m);
  t.match(stdout, /^Retention +artifacts are kept$/m);
  const { stdout: text } = await scenepress(['status', '--json', '--data-dir', dataDir]);
  t.match(JSON.parse(text), { health: { status: 'ready' }, faults: [], disk: { artifactBytes: 0 } });
});

t.test('a backup is downloaded, restored, and leaves nothing behind', async (t) => {
  const appliance = await peopledAppliance(t, { python: INSTANT_PYTHON, insecureNoSandbox: true });
  const { port, admin, installation, service, dataDir } = appliance;
  const { accountId } = await installation.accounts.find(admin);
  const { jobId } = await service.enqueue({ owner: accountId, className: 'A', code: 'x' });
  await service.wait(jobId);
  const client = await signedIn(t, port, admin);
  const answer = await client.post('/dashboard/service/backup', {});
  t.equal(answer.status, 200);
  t.match(answer.headers, {
    'content-type': 'application/x-tar',
    'content-disposition': /^attachment; filename="scenepress-backup-\d{4}-\d\d-\d\d\.tar"$/,
    'cache-control': 'no-store',
  });
  const folder = await temporaryFolder(t);
  writeFileSync(join(folder, 'backup.tar'), answer.bytes);
  execFileSync('tar', ['xf', 'backup.tar'], { cwd: folder });
  t.notOk(existsSync(join(folder, 'scenepress-backup', 'master.key')));
  const restored = await restore(join(folder, 'scenepress-backup'), join(folder, 'restored'));
  t.match(restored, { jobs: 1, masterKey: 'missing' });
  const copy = new DataFolder(join(folder, 'restored'));
  await copy.start();
  t.match(await copy.accountStore.findAccountByEmail(admin), { role: 'admin' });
  await copy.stop();
  const [act] = await installation.place.actStore.listActs({ limit: 1 });
  t.match(act, { action: 'data.backUp', actor: accountId });
  while (copiesIn(dataDir).length > 0) await new Promise((next) => setImmediate(next));
  t.match((await client.get('/dashboard/service')).text, '<dt>Artifacts</dt><dd>');
});

t.test('one backup is downloaded at a time, and an abandoned one is removed', async (t) => {
  const { port, admin, dataDir, installation } = await peopledAppliance(t);
  mkdirSync(join(installation.place.path, 'assets'), { recursive: true });
  // More than the sockets take.
  writeFileSync(join(installation.place.path, 'assets', 'large'), Buffer.alloc(64 * 1024 * 1024));
  const client = await signedIn(t, port, admin);
  const csrf = /name="csrf" value="([^"]+)"/.exec((await client.get('/dashboard/account')).text)?.[1] ?? '';
  const cookie = Array.from(client.cookies, ([name, value]) => `${name}=${value}`).join('; ');
  const sent = request({
    port,
    host: '127.0.0.1',
    path: '/dashboard/service/backup',
    method: 'POST',
    headers: { cookie, 'content-type': 'application/x-www-form-urlencoded' },
  }).end(new URLSearchParams({ csrf }).toString());
  await new Promise((resolve) => sent.once('response', resolve));
  t.equal(copiesIn(dataDir).length, 1);
  const refused = await client.post('/dashboard/service/backup', {});
  t.match([refused.status, refused.text], [409, 'Another backup is being downloaded']);
  sent.on('error', () => {}).destroy();
  while (copiesIn(dataDir).length > 0) await new Promise((next) => setImmediate(next));
  t.equal((await client.post('/dashboard/service/backup', {})).status, 200);
});

t.test('leftovers of a download of a killed service are removed', async (t) => {
  const { dataDir, stop } = await listeningAppliance(t);
  await stop();
  mkdirSync(join(dataDir, '.backup-1', 'artifacts'), { recursive: true });
  mkdirSync(join(dataDir, '.backup-2.part'), { recursive: true });
  await listeningAppliance(t, { dataDir });
  while (copiesIn(dataDir).length > 0) await new Promise((next) => setImmediate(next));
});

t.test('faults are kept in memory, a limited number, without secrets', async (t) => {
  const lines: string[] = [];
  const faults = new Faults();
  const logger = faults.watch(pino({ level: 'error' }, { write: (line: string) => lines.push(line) }));
  const err = new Error(`no route to ada@example.org with svc_live_${'a'.repeat(48)}`);
  for (let count = 0; count < 3; count += 1) logger.warn({ err }, 'a webhook failed');
  logger.info('nothing');
  logger.error({ jobId: 'x' }, 'another');
  t.match(faults.list(), [
    { level: 'error', message: 'another', cause: null, times: 1 },
    { level: 'warn', message: 'a webhook failed', cause: 'no route to …@… with svc_live_…', times: 3 },
  ]);
  t.equal(lines.length, 1, 'the log has its own level');
  for (let count = 0; count < 100; count += 1) logger.error({}, `number ${count}`);
  t.equal(faults.list().length, 50);
  t.match(faults.list()[0], { message: 'number 99' });
});
