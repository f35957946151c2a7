import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { scenepress } from '../appliance/command.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { cluster, MASTER_KEY, newKey } from './machines.ts';

t.test('commands work with a database without a server', async (t) => {
  const machines = await cluster(t);
  await newKey(machines);
  await machines.run(['credits', 'grant', '--account', 'ada@example.org', '--paid', '500']);
  t.match(await machines.json(['credits', 'balance', '--account', 'ada@example.org']), { paid: 500 });
  t.match(await machines.json(['account', 'list']), [{ email: 'ada@example.org' }]);
  t.match(await machines.json(['key', 'list']), [{ account: 'ada@example.org', name: 'Test' }]);
  t.same(await machines.json(['job', 'list']), []);
  t.match(await machines.json(['credits', 'audit']), { problems: [] });
  t.match(await machines.json(['queue', 'show']), { queued: 0, workers: 0, ready: false });
  t.match((await machines.run(['account', 'acts'])).stdout, /credits\.grant/);
});

t.test('only commands about secrets need the master key', async (t) => {
  const machines = await cluster(t);
  await newKey(machines);
  const { SCENEPRESS_MASTER_KEY: _, ...env } = machines.env;
  const run = (args: string[]) => scenepress(args, { env: { ...env, SCENEPRESS_DATA_DIR: '/nonexistent' } });
  t.equal((await run(['machine', 'list'])).code, 0);
  t.match(await run(['key', 'list']), { code: 0, stdout: /Test/ });
  t.match(await run(['key', 'create', '--account', 'ada@example.org', '--name', 'Second']), {
    code: 1,
    stderr: /which this process was not given: set SCENEPRESS_MASTER_KEY/,
  });
});

t.test('commands for data folders say what to use instead', async (t) => {
  const machines = await cluster(t);
  const folder = await temporaryFolder(t);
  await machines.run(['account', 'create', 'ada@example.org']);
  const backup = await machines.run(['backup', join(folder, 'backup')]);
  t.match(backup, { code: 1, stderr: /with pg_dump or base backups and a WAL archive/ });
  const [, section] = /“(.*)” of appliance\/cluster\.md/.exec(backup.stderr) ?? [];
  t.match(readFileSync(join(import.meta.dirname, '../../appliance/cluster.md'), 'utf8'), `\n## ${section}\n`);
  t.match(await machines.run(['restore', folder]), { code: 2, stderr: /such as pg_restore/ });
  t.match(await machines.run(['recover']), {
    code: 2,
    stderr: /Postgres repairs itself[\s\S]*credits audit/,
  });
});

t.test('the master key is replaced while no machine runs', async (t) => {
  const machines = await cluster(t);
  await newKey(machines);
  const server = await machines.start('serve', ['--roles', 'api']);
  const file = join(await temporaryFolder(t), 'new.key');
  const next = '3c'.repeat(32);
  writeFileSync(file, next, { mode: 0o600 });
  const rotate = ['master-key', 'rotate', '--new-key-file', file];
  t.match(await machines.run(rotate), { code: 1, stdout: '', stderr: /Stop all servers and workers first/ });
  server.kill('SIGTERM');
  await server.ended;
  t.match(await machines.run(['master-key', 'rotate']), { code: 1, stderr: /give the new key, too/ });
  const rotated = await machines.run(rotate);
  t.match(rotated, { code: 0, stdout: /secrets of 1 key are encrypted with the new master key/ });
  t.match(await machines.run(['key', 'list']), { code: 1, stderr: /is not the one that the secrets/ });
  t.equal((await machines.run(['key', 'list'], { SCENEPRESS_MASTER_KEY: next })).code, 0);
  t.not(next, MASTER_KEY);
});
