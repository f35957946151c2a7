import { once } from 'node:events';
import { mkdir, rm, stat } from 'node:fs/promises';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import t, { type Test } from 'tap';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { scenepress, serve } from './command.ts';
import { send } from './listening-appliance.ts';

/** Runs a command with `--json` on a data folder and returns what it printed. */
async function administrate(dataDir: string, ...args: string[]): Promise<Record<string, unknown>> {
  const { code, stdout, stderr } = await scenepress([...args, '--json', '--data-dir', dataDir]);
  if (code !== 0) throw new Error(stderr);
  return JSON.parse(stdout) as Record<string, unknown>;
}

/** Runs every operation once and returns a live key. */
async function everyOperation(t: Test, dataDir: string): Promise<string> {
  const email = 'ada@example.org';
  const account = await administrate(dataDir, 'account', 'create', email);
  t.match(account, { userId: /^acct_/, email });
  t.match((await administrate(dataDir, 'account', 'list'))['length'], Number);
  const webhookUrl = 'https://example.org/hook';
  const made = await administrate(
    dataDir,
    ...['key', 'create', '--account', email, '--name', 'Studio', '--webhook-url', webhookUrl],
  );
  t.match(made, { keyId: /^key_/, key: /^svc_live_[0-9a-f]{48}$/, webhookSecret: /^whsec_/, webhookUrl });
  t.equal(made['keyPrefix'], String(made['key']).slice(0, 16));
  const second = await administrate(dataDir, 'key', 'create', '--account', email, '--name', 'Old');
  t.match(await administrate(dataDir, 'key', 'revoke', String(second['keyId'])), { keyId: second['keyId'] });
  const keys = await scenepress(['key', 'list', '--account', email, '--json', '--data-dir', dataDir]);
  t.match(JSON.parse(keys.stdout), [
    { keyId: made['keyId'], name: 'Studio', account: email, revokedAt: null },
    { keyId: second['keyId'], name: 'Old', account: email, revokedAt: /Z$/ },
  ]);
  t.notMatch(keys.stdout, String(made['key']).slice(20));
  t.notMatch(keys.stdout, 'whsec_');
  const grant = (...args: string[]) => administrate(dataDir, 'credits', 'grant', '--account', email, ...args);
  t.match(await grant('--paid', '20'), { paid: 20 });
  await grant('--paid', '5', '--idempotency-key', 'invoice 1');
  const balance = await grant('--paid', '5', '--idempotency-key', 'invoice 1');
  t.strictSame(balance, { paid: 25, free: 1000, total: 1025 }, 'the same grant is made once');
  t.strictSame(await administrate(dataDir, 'credits', 'balance', '--account', email), balance);
  return String(made['key']);
}

t.test('without a server, commands open the data folder themselves', async (t) => {
  await everyOperation(t, await temporaryFolder(t));
});

t.test('with a server, commands go through it and take effect immediately', async (t) => {
  const dataDir = await temporaryFolder(t);
  const { port } = await serve(t, ['--data-dir', dataDir]);
  const key = await everyOperation(t, dataDir);
  const headers = { authorization: `Bearer ${key}` };
  const me = await send(port, '/api/v2/me', { headers });
  t.match(me.json, { keyPrefix: key.slice(0, 16), credits: { paid: 25, free: 1000, total: 1025 } });
  await administrate(dataDir, 'key', 'revoke', String(me.json['keyId']));
  t.equal((await send(port, '/api/v2/me', { headers })).status, 401);
});

t.test('a backup of a running server can be restored and passes the audit', async (t) => {
  const dataDir = await temporaryFolder(t);
  await serve(t, ['--data-dir', dataDir]);
  await everyOperation(t, dataDir);
  const [backup, restored] = [join(dataDir, '../backup-of-a-test'), join(dataDir, 'restored')];
  t.teardown(() => rm(backup, { recursive: true, force: true }));
  t.match(await administrate(dataDir, 'backup', backup), { folder: backup, jobs: 0 });
  t.match(await administrate(restored, 'restore', backup), { folder: restored });
  t.match(await administrate(dataDir, 'credits', 'audit'), { problems: [] });
  const { stderr, code } = await scenepress(['restore', backup, '--data-dir', restored]);
  t.match(stderr, /exists and isn't empty/);
  t.equal(code, 1);
  // A backup does not include the master key.
  const { stderr: lost } = await scenepress(['account', 'list', '--data-dir', restored]);
  t.match(lost, /master\.key is missing/);
  const { stdout } = await scenepress([
    'credits',
    'statement',
    '--account',
    'ada@example.org',
    '--data-dir',
    dataDir,
  ]);
  t.match(stdout, /grant +20/);
});

t.test('errors are the same with and without a server', async (t) => {
  const dataDir = await temporaryFolder(t);
  const mistakes: [string[], RegExp][] = [
    [['account', 'create', 'no address'], /is not an e-mail address/],
    [['key', 'create', '--account', 'noone@example.org', '--name', 'x'], /no account with the address noone/],
    [['key', 'create', '--account', 'owner@localhost', '--name', 'x', '--webhook-url', 'http://x'], /https:/],
    [['key', 'revoke', 'key_unknown'], /no key key_unknown/],
    [
      ['credits', 'grant', '--account', 'owner@localhost', '--paid', '-5'],
      /whole number from 1 to 1,000,000,000,000/,
    ],
  ];
  const outcomes = async () => {
    const said: string[] = [];
    for (const [args, expected] of mistakes) {
      const { code, stdout, stderr } = await scenepress([...args, '--data-dir', dataDir]);
      t.equal(code, 1, args.join(' '));
      t.match(stderr, expected);
      t.notMatch(stderr, /\n {4}at /);
      t.equal(stdout, '');
      said.push(stderr);
    }
    return said;
  };
  const server = await serve(t, ['--data-dir', dataDir]);
  const beside = await outcomes();
  server.kill('SIGTERM');
  t.equal(await server.ended, 0);
  t.strictSame(await outcomes(), beside);
});

t.test('a data folder may have a long path, and only its user can run commands on it', async (t) => {
  const dataDir = join(await temporaryFolder(t), 'deep'.repeat(30), 'deeper'.repeat(20));
  await mkdir(dataDir, { recursive: true });
  await serve(t, ['--data-dir', dataDir]);
  t.equal((await stat(join(dataDir, 'admin.sock'))).mode & 0o777, 0o600);
  t.match(await administrate(dataDir, 'account', 'create', 'ada@example.org'), { userId: /^acct_/ });
});

t.test('the admin socket accepts administration operations only', async (t) => {
  const dataDir = await temporaryFolder(t);
  await serve(t, ['--data-dir', dataDir]);
  const ask = async (path: string) => {
    const options = { socketPath: join(dataDir, 'admin.sock'), method: 'POST', path };
    const [response] = (await once(httpRequest(options).end('{}'), 'response')) as [IncomingMessage];
    return text(response);
  };
  t.match(await ask('/queue/show'), /"answer":\{"pausedAt":null/);
  for (const path of [
    '/queue/constructor',
    '/queue/toString',
    '/queue/__proto__',
    '/constructor/name',
    '/jobs/',
  ]) {
    t.notMatch(await ask(path), /"answer"/, path);
  }
  t.match(await ask('/queue/vanish'), /The server of this data folder runs another version/);
});

t.test('files left by a killed server do not block commands or the next start', async (t) => {
  const dataDir = await temporaryFolder(t);
  const killed = await serve(t, ['--data-dir', dataDir]);
  killed.kill('SIGKILL');
  await killed.ended;
  t.ok((await stat(join(dataDir, 'admin.sock'))).isSocket());
  await administrate(dataDir, 'account', 'create', 'ada@example.org');
  await serve(t, ['--data-dir', dataDir]);
  t.equal((await administrate(dataDir, 'account', 'list'))['length'], 2);
});

t.test('concurrent commands wait for each other', async (t) => {
  const dataDir = await temporaryFolder(t);
  const emails = ['a@example.org', 'b@example.org', 'c@example.org'];
  await Promise.all(emails.map((email) => administrate(dataDir, 'account', 'create', email)));
  t.equal((await administrate(dataDir, 'account', 'list'))['length'], 3);
});

t.test('credits cannot be granted in unmetered mode', async (t) => {
  const dataDir = await temporaryFolder(t);
  await administrate(dataDir, 'account', 'create', 'ada@example.org');
  const grant = ['credits', 'grant', '--account', 'ada@example.org', '--paid', '5', '--data-dir', dataDir];
  const { code, stderr } = await scenepress(grant, { env: { SCENEPRESS_CREDITS_MODE: 'unmetered' } });
  t.equal(code, 1);
  t.match(stderr, /Renders are free here/);
});

t.test('only `account create` creates a missing data folder', async (t) => {
  const dataDir = join(await temporaryFolder(t), 'not-there');
  const { code, stderr } = await scenepress(['account', 'list', '--data-dir', dataDir]);
  t.equal(code, 1);
  t.match(stderr, /There is no data folder .*not-there\. Set the correct one/);
  await t.rejects(stat(dataDir), { code: 'ENOENT' });
  await administrate(dataDir, 'account', 'create', 'ada@example.org');
  t.equal((await administrate(dataDir, 'account', 'list'))['length'], 1);
});
