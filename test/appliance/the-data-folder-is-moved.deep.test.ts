import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { scenepress, serve } from './command.ts';
import { send, VALID } from './listening-appliance.ts';

/** A service with one job. */
async function serving(t: Test) {
  const parent = await temporaryFolder(t);
  const dataDir = join(parent, 'data');
  const server = await serve(t, ['--data-dir', dataDir]);
  const key = /svc_live_[0-9a-f]{48}/.exec(server.stdout())?.[0];
  const headers = { authorization: `Bearer ${key}` };
  const post = () =>
    send(server.port, '/api/v2/render', { method: 'POST', headers, body: JSON.stringify(VALID) });
  const get = (path: string) => send(server.port, path, { headers });
  const { jobId } = (await post()).json;
  /** Resolves when the service is ready, or not. */
  const until = async (status: number) => {
    while ((await get('/health/ready')).status !== status) await delay(50);
    return get('/health/ready');
  };
  return { ...server, parent, dataDir, post, get, until, jobPath: `/api/v2/render/${jobId}` };
}

t.test(
  'a data folder that is replaced is not written to, and the service continues once it is back',
  async (t) => {
    const { parent, dataDir, post, get, until, jobPath, stderr, kill, ended } = await serving(t);
    const moved = join(parent, 'moved');
    renameSync(dataDir, moved);
    mkdirSync(dataDir);
    const { json } = await until(503);
    t.match(json, {
      problems: [{ part: 'storage', message: /The data folder was moved or replaced .*Put the folder back/ }],
    });
    t.equal((await post()).status, 503);
    t.match((await get(jobPath)).json, { status: /queued|running/ });
    t.match(
      await scenepress(['job', 'list', '--data-dir', moved]),
      { code: 0 },
      'commands find it by its new place',
    );
    const granted = await scenepress(['account', 'create', 'eve@example.org', '--data-dir', moved]);
    t.match(granted, { code: 1, stderr: /moved or replaced.*Nothing was written/ });
    await delay(1_500);
    t.match((await get('/health/ready')).json['problems'], { length: 1 }, 'it is the only problem');
    t.same(readdirSync(dataDir, { recursive: true }), []);
    t.equal(
      stderr().match(/"msg":"The data folder \S+ was moved or replaced/g)?.length,
      1,
      'it is logged once',
    );

    rmSync(dataDir, { recursive: true });
    renameSync(moved, dataDir);
    await until(200);
    t.match(stderr(), /in its place again/);
    t.equal((await post()).status, 202);
    kill('SIGTERM');
    t.equal(await ended, 0);
  },
);

t.test('a service whose data folder is gone stops, and makes no other', async (t) => {
  const { parent, dataDir, until, kill, ended } = await serving(t);
  renameSync(dataDir, join(parent, 'moved'));
  await until(503);
  kill('SIGTERM');
  t.equal(await ended, 0);
  t.notOk(existsSync(dataDir));
  t.ok(existsSync(join(parent, 'moved/database.sqlite')));
  const again = await serve(t, ['--data-dir', join(parent, 'moved')]);
  t.match((await send(again.port, '/health/ready', {})).json, { status: 'ready' });
});

t.test('the socket for commands is made again when it was removed or replaced', async (t) => {
  const { dataDir, stderr, says } = await serving(t);
  const socket = join(dataDir, 'admin.sock');
  const doctor = () => scenepress(['doctor', '--json', '--data-dir', dataDir, '--port', '0']);
  rmSync(socket);
  const { stdout } = await doctor();
  t.match(stdout, /it is running and ready/);
  t.notMatch(stdout, /End that process|kill/);
  t.match(stderr(), /admin\.sock was removed or replaced\. It is made again/);
  rmSync(socket);
  writeFileSync(socket, '');
  await says(/made again(.|\n)*made again/);
  t.match(await scenepress(['job', 'list', '--data-dir', dataDir]), { code: 0 });
});
