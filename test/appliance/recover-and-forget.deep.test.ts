import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import t from 'tap';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { scenepress, serve } from './command.ts';
import { send, VALID } from './listening-appliance.ts';

t.test('recover lists what would be lost, and changes nothing without --yes', async (t) => {
  const dataDir = join(await temporaryFolder(t), 'data');
  const run = (...args: string[]) => scenepress([...args, '--data-dir', dataDir]);
  for (const email of ['ada@example.org', 'bob@example.org']) await run('account', 'create', email);
  t.match(await run('recover'), { code: 0, stdout: /^Nothing in .* is damaged\.\n$/ });

  await run('credits', 'grant', '--account', 'ada@example.org', '--paid', '7');
  await run('credits', 'grant', '--account', 'bob@example.org', '--paid', '7654321');
  const path = join(dataDir, 'database.sqlite');
  const bytes = Buffer.from(
    readFileSync(path, 'latin1').replaceAll('"amountCredits":7654321', '"amountCredits":7654322'),
    'latin1',
  );
  writeFileSync(path, bytes);
  t.match(await run('credits', 'statement', '--account', 'ada@example.org'), { code: 0 });
  t.match(await run('credits', 'statement', '--account', 'bob@example.org'), {
    code: 1,
    stderr: /The row \S+, \S+ of the table ledger_entries is damaged.*`scenepress recover`/,
  });

  const plan = await run('recover');
  t.match(plan, {
    code: 1,
    stdout:
      /is damaged:\nLost: 1 row\n {2}ledger_entries \S+, \S+: .*damaged.*Ledger entries: 3 of 4 can be .*Nothing was changed/s,
  });
  t.ok(readFileSync(path).equals(bytes));
  t.match(await run('recover', '--yes'), {
    code: 1,
    stdout: /The original files are in .*The books are not in order.*the balance is 7655321/s,
  });
  t.match(await run('credits', 'statement', '--account', 'bob@example.org'), { code: 0 });
  const elsewhere = await scenepress(['recover', '--data-dir', join(dataDir, 'nowhere')]);
  t.match(elsewhere, { code: 1, stderr: /contains no Scenepress data/ });
});

t.test('recover does not call books in order that lack entries', async (t) => {
  const dataDir = join(await temporaryFolder(t), 'data');
  const run = (...args: string[]) => scenepress([...args, '--data-dir', dataDir]);
  await run('account', 'create', 'ada@example.org');
  await run('credits', 'grant', '--account', 'ada@example.org', '--paid', '7');
  const database = new DatabaseSync(join(dataDir, 'database.sqlite'));
  database.exec(
    'DROP TRIGGER ledger_entries_stay_as_they_are; UPDATE ledger_entries SET checksum = checksum + 1',
  );
  database.exec('UPDATE grants SET checksum = checksum + 1');
  database.close();
  const report = await run('recover', '--yes');
  t.match(report, { code: 1, stdout: /Ledger entries: 0 of 2 can be recovered.*the books may lack others/s });
  t.notMatch(report.stdout, /in order/);
});

t.test('a job can be forgotten through the server, and GET still returns it', async (t) => {
  const dataDir = join(await temporaryFolder(t), 'data');
  const server = await serve(t, ['--data-dir', dataDir]);
  const run = (...args: string[]) => scenepress([...args, '--data-dir', dataDir]);
  const key = /svc_live_[0-9a-f]{48}/.exec(server.stdout())?.[0];
  const headers = { authorization: `Bearer ${key}` };
  const body = JSON.stringify({ ...VALID, metadata: { name: 'ada' } });
  const { json } = await send(server.port, '/api/v2/render', { method: 'POST', headers, body });
  const jobId = String(json['jobId']);
  t.match(await run('job', 'forget', jobId), { code: 1, stderr: /not ended\. Cancel it first/ });
  await run('job', 'cancel', jobId);
  t.match(await run('job', 'forget', jobId), { code: 0, stdout: /is forgotten; its cost stays/ });
  const job = (await send(server.port, `/api/v2/render/${jobId}`, { headers })).json;
  const fields = ['jobId', 'endpoint', 'status', 'creditsCost', 'durationMs', 'result', 'error', 'metadata'];
  t.same(Object.keys(job).sort(), [...fields, 'createdAt', 'completedAt'].sort());
  t.match(job, { status: 'failed', creditsCost: 0, result: null, metadata: null, error: /removed/ });
});
