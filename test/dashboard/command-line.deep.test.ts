import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { DataFolder } from '../../lib/index.ts';
import { scenepress, serve } from '../appliance/command.ts';
import { send } from '../appliance/listening-appliance.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { PASSWORD } from './browser.ts';
import { Client } from './client.ts';

const LINK = /^ {2}(http:\S+\/dashboard\/set-up\?token=[\w.-]{72,})$/m;

async function actsIn(dataDir: string) {
  const folder = new DataFolder(dataDir);
  await folder.start();
  try {
    return (await folder.actStore.listActs({ limit: 10 })).map(({ actor, action }) => [actor, action]);
  } finally {
    await folder.stop();
  }
}

async function setUp(t: Test, port: number, link: string, email: string) {
  const client = new Client(port);
  const from = link.slice(link.indexOf('/dashboard'));
  const token = new URL(link).searchParams.get('token') ?? '';
  const answer = await client.post('/dashboard/set-up', { token, email, password: PASSWORD }, { from });
  t.equal(answer.status, 303);
  return client;
}

t.test('the first start prints a link that sets up the dashboard once', async (t) => {
  const dataDir = await temporaryFolder(t);
  const first = await serve(t, ['--data-dir', dataDir]);
  const [, link = ''] = LINK.exec(first.stdout()) ?? [];
  t.notMatch(first.stderr(), /token=/, 'the log has no token');
  const shown = await scenepress(['setup-link', '--data-dir', dataDir]);
  t.equal(shown.stdout.trim(), link);
  const client = await setUp(t, first.port, link, 'ada@example.org');
  t.equal((await client.get('/dashboard')).status, 200);
  const after = await scenepress(['setup-link', '--data-dir', dataDir]);
  t.match([after.code, after.stderr], [1, 'account set-password']);
  t.notMatch(first.stderr(), /token=/);
  first.kill('SIGTERM');
  await first.ended;

  const second = await serve(t, ['--data-dir', dataDir]);
  t.notMatch(second.stdout(), LINK);
  t.match(second.stdout(), `Dashboard: ${second.url}/dashboard\n`);
  second.kill('SIGTERM');
  await second.ended;
});

t.test('the configured administrator claims the account of the first start, and no other', async (t) => {
  const dataDir = await temporaryFolder(t);
  const file = join(await temporaryFolder(t), 'password');
  await writeFile(file, `${PASSWORD}\n`);
  const env = { SCENEPRESS_ADMIN_EMAIL: 'ada@example.org', SCENEPRESS_ADMIN_PASSWORD_FILE: file };
  const first = await serve(t, ['--data-dir', dataDir], { env });
  t.notMatch(first.stdout(), LINK);
  t.equal((await new Client(first.port).signIn('ada@example.org')).status, 303);
  const changed = await scenepress(['account', 'set-password', 'ada@example.org', '--data-dir', dataDir], {
    stdin: 'changed later\n',
  });
  t.match(
    [changed.code, changed.stdout],
    [0, 'ada@example.org can sign in with the new password, as admin.'],
  );
  first.kill('SIGTERM');
  await first.ended;

  const second = await serve(t, ['--data-dir', dataDir], { env });
  t.equal((await new Client(second.port).signIn('ada@example.org')).status, 401, 'the change stays');
  t.equal((await new Client(second.port).signIn('ada@example.org', 'changed later')).status, 303);
  const { stdout } = await scenepress(['account', 'list', '--json', '--data-dir', dataDir]);
  t.match(JSON.parse(stdout), [{ email: 'ada@example.org', role: 'admin', hasPassword: true }]);
  t.equal((JSON.parse(stdout) as unknown[]).length, 1);
});

t.test('acts of the command line are recorded, with and without a server', async (t) => {
  const dataDir = await temporaryFolder(t);
  const run = (...args: string[]) => scenepress([...args, '--data-dir', dataDir], { stdin: `${PASSWORD}\n` });
  await run('account', 'create', 'ada@example.org');
  const weak = await scenepress(['account', 'set-password', 'ada@example.org', '--data-dir', dataDir], {
    stdin: 'short\n',
  });
  t.match([weak.code, weak.stderr], [1, 'A password has 10 to 200 characters.']);
  await run('account', 'set-password', 'ada@example.org', '--role', 'member');
  const server = await serve(t, ['--data-dir', dataDir]);
  await run('queue', 'pause');
  await run('queue', 'show');
  server.kill('SIGTERM');
  await server.ended;
  t.same(await actsIn(dataDir), [
    [null, 'queue.pause'],
    [null, 'accounts.setPassword'],
    [null, 'accounts.create'],
  ]);
});

t.test('a service without dashboard serves none of it', async (t) => {
  const dataDir = await temporaryFolder(t);
  const env = { SCENEPRESS_DASHBOARD: 'off' };
  const { stdout, port } = await serve(t, ['--data-dir', dataDir], { env });
  t.notMatch(stdout(), 'dashboard');
  const headers = { accept: 'text/html' };
  for (const path of ['/dashboard', '/dashboard/sign-in', '/dashboard/keys']) {
    const { status, json } = await send(port, path, { headers });
    t.match([status, json], [404, { error: 'Not Found' }]);
  }
  t.match((await send(port, '/', { headers })).json, { name: 'Scenepress' });
});

t.test('browsers are led to the dashboard, programs are not', async (t) => {
  const { port } = await serve(t, ['--data-dir', await temporaryFolder(t)]);
  const browser = await send(port, '/', { headers: { accept: 'text/html,application/xhtml+xml' } });
  t.match([browser.status, browser.headers.location], [302, '/dashboard']);
  t.match((await send(port, '/', {})).json, { name: 'Scenepress' });
});
