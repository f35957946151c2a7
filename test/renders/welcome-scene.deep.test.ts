import t from 'tap';
import { scenepress, serve } from '../appliance/command.ts';
import { send } from '../appliance/listening-appliance.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';

const WATCH = /Watch it: http:\/\/127\.0\.0\.1:\d+(\/artifacts\/\S+\/video\.mp4)/;

t.test('each start with --welcome renders and serves a scene without charging an account', async (t) => {
  const dataDir = await temporaryFolder(t);
  for (const start of ['first', 'next']) {
    const server = await serve(t, ['--welcome', '--data-dir', dataDir], { renders: true });
    await server.says(WATCH);
    const path = WATCH.exec(server.stdout())?.[1] ?? '';
    const { status, headers, bytes } = await send(server.port, path, {});
    t.match({ status, headers }, { status: 200, headers: { 'content-type': 'video/mp4' } }, start);
    t.equal(bytes.toString('latin1', 4, 8), 'ftyp');
    const range = await send(server.port, path, { headers: { range: 'bytes=4-7' } });
    t.match(range, { status: 206, text: 'ftyp' });
    t.equal(/svc_live_[0-9a-f]{48}/.test(server.stdout()), start === 'first');
    server.kill('SIGTERM');
    t.equal(await server.ended, 0);
  }
  const list = async (...args: string[]) =>
    JSON.parse((await scenepress([...args, '--json', '--data-dir', dataDir])).stdout) as unknown;
  t.match(await list('account', 'list'), [{ email: 'owner@localhost' }]);
  t.equal(((await list('key', 'list')) as unknown[]).length, 1, 'no other key is left');
  t.match(await list('credits', 'balance', '--account', 'owner@localhost'), { free: 1000, total: 1000 });
});
