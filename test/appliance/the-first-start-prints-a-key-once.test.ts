import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { deepTest } from '../fixtures/depth.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { scenepress, serve } from './command.ts';
import { send } from './listening-appliance.ts';

const KEY = /svc_live_[0-9a-f]{48}/;

t.test('the first start prints a valid key, the next prints none', async (t) => {
  const dataDir = await temporaryFolder(t);
  const first = await serve(t, ['--data-dir', dataDir]);
  const key = KEY.exec(first.stdout())?.[0] ?? '';
  t.match(first.stdout(), `curl ${first.url}/api/v2/render -H 'Authorization: Bearer ${key}'`);
  t.match(first.stdout(), 'owner@localhost');
  t.match(first.stdout(), /^ {2}whsec_\S+$/m, 'the secret of its webhooks');
  t.match(first.stdout(), dataDir);
  t.notMatch(first.stderr(), KEY, 'the log has no key');
  t.notMatch(first.stderr(), /whsec_/);
  const headers = { authorization: `Bearer ${key}` };
  t.match((await send(first.port, '/api/v2/me', { headers })).json, { credits: { total: 1000 } });
  first.kill('SIGTERM');
  t.equal(await first.ended, 0);

  const second = await serve(t, ['--data-dir', dataDir]);
  t.notMatch(second.stdout() + second.stderr(), KEY);
  t.notMatch(first.stdout(), 'key create');
  t.match(second.stdout(), /\n\nTo create another/, 'apart from the link of the dashboard');
  const [, words = ''] = /^To create another API key: npx scenepress (.*)$/m.exec(second.stdout()) ?? [];
  const another = await scenepress(words.replace('NAME', 'Another').split(' '));
  t.match([another.code, KEY.exec(another.stdout)?.[0]], [0, KEY], another.stderr);
  t.equal((await send(second.port, '/api/v2/me', { headers })).status, 200);
});

t.test('the printed command works as it is', async (t) => {
  const { stdout, port } = await serve(t, ['--data-dir', await temporaryFolder(t)]);
  const [, authorization = '', body = ''] =
    /curl \S+\/api\/v2\/render -H 'Authorization: (.*?)' .* -d '(.*)'$/m.exec(stdout()) ?? [];
  const { status } = await send(port, '/api/v2/render', { method: 'POST', headers: { authorization }, body });
  t.equal(status, 202);
});

t.test('the first start creates no account if there is one', async (t) => {
  const dataDir = await temporaryFolder(t);
  await scenepress(['account', 'create', 'ada@example.org', '--data-dir', dataDir]);
  const { stdout } = await serve(t, ['--data-dir', dataDir]);
  t.notMatch(stdout(), KEY);
  t.match(stdout(), 'key create --account ada@example.org ');
  const { stdout: accounts } = await scenepress(['account', 'list', '--json', '--data-dir', dataDir]);
  t.equal((JSON.parse(accounts) as unknown[]).length, 1);
});

deepTest(t, 'a start on loopback explains how to listen on the network', async (t) => {
  const { stdout } = await serve(t, ['--data-dir', await temporaryFolder(t)]);
  t.match(stdout(), 'SCENEPRESS_HOST=0.0.0.0');
  t.match(stdout(), 'SCENEPRESS_PUBLIC_URL');
  const open = await serve(t, ['--data-dir', await temporaryFolder(t), '--host', '0.0.0.0']);
  t.notMatch(open.stdout(), 'SCENEPRESS_HOST');
  t.match(open.stdout(), `http://localhost:${open.port}`);
});

t.test('the full key is not stored in any file', async (t) => {
  const dataDir = await temporaryFolder(t);
  const server = await serve(t, ['--data-dir', dataDir]);
  const key = KEY.exec(server.stdout())?.[0] ?? 'no key';
  server.kill('SIGTERM');
  await server.ended;
  for (const entry of await readdir(dataDir, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    t.notOk((await readFile(join(entry.parentPath, entry.name))).includes(key.slice(20)), entry.name);
  }
});
