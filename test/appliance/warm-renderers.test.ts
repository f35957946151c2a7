import { once } from 'node:events';
import { readdirSync, watch } from 'node:fs';
import { chmod, chown, mkdir, symlink, writeFile } from 'node:fs/promises';
import { createConnection, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import t from 'tap';
import { socketLines } from '../../appliance/cli/socket-lines.ts';
import { WarmRenderer, warmSocket } from '../../appliance/cli/warm-renderer.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { scenepress } from './command.ts';

t.test('a socket folder that others can replace is not used', async (t) => {
  const folder = await temporaryFolder(t);
  t.intercept(process, 'env', { value: { ...process.env, XDG_RUNTIME_DIR: folder } });
  const socket = join(folder, 'scenepress/renderer.sock');
  const modes: [mode: number, path: string | undefined][] = [
    [0o700, socket],
    [0o777, undefined],
    [0o1777, socket],
  ];
  for (const [mode, path] of modes) {
    await chmod(folder, mode);
    t.equal(await warmSocket(), path, mode.toString(8));
  }
});

t.test('an answer that names a file of somebody else, or a link, is refused', async (t) => {
  const folder = await temporaryFolder(t);
  const path = join(folder, 'socket');
  const [file, link] = [join(folder, 'file'), join(folder, 'link')];
  await writeFile(file, '');
  await symlink(file, link);
  let named = '';
  const server = createServer((socket) => {
    const files = [{ name: 'video.mp4', path: named }];
    const render = { status: 'completed', durationMs: 0, error: null, output: '', files };
    socket.once('data', () => socket.write(`${JSON.stringify({ kind: 'rendered', render })}\n`));
  }).listen(path);
  await once(server, 'listening');
  t.teardown(() => server.close());
  const request = { code: '', className: 'A', quality: 'low', aspectRatio: '16:9' } as const;
  const renderer = new WarmRenderer({ path, key: '', idleMs: 1, folder: null, config: {} });
  const refused = [link, folder, join(folder, 'missing')];
  if (process.getuid?.() === 0) {
    const foreign = join(folder, 'foreign');
    await writeFile(foreign, '');
    await chown(foreign, 1234, 1234);
    refused.push(foreign);
  }
  for (named of refused) await t.rejects(renderer.render(request), { code: 'renderer_unavailable' }, named);
  named = file;
  const render = await renderer.render(request);
  t.match(render.files, [{ path: file }]);
  await renderer.discard(render);
});

t.test("the call of a renderer that can't be started ends with the reason", async (t) => {
  const folder = await temporaryFolder(t);
  const temporary = await temporaryFolder(t);
  const changes = watch(temporary);
  t.teardown(() => changes.close());
  const place = join(folder, 'environment');
  const reason = 'the module was compiled from the sources of another version';
  await mkdir(join(place, 'bin'), { recursive: true });
  await writeFile(join(place, 'pyvenv.cfg'), 'home = /usr/bin\n');
  await writeFile(join(place, 'bin/python'), `#!/bin/sh\necho '${reason}' >&2\nexit 1\n`, { mode: 0o755 });
  await writeFile(join(folder, 'scenes.py'), 'class Any(Scene): pass\n');
  const args = ['render', 'scenes.py', 'Any', '--no-folder', '--keep-warm', '1', '--insecure-no-sandbox'];
  const { code, stderr } = await scenepress(args, {
    cwd: folder,
    env: { SCENEPRESS_PYTHON: join(place, 'bin/python'), TMPDIR: temporary, XDG_RUNTIME_DIR: folder },
  });
  t.equal(code, 1);
  t.match(stderr, `The renderer could not be started: it ended with exit code 1 (${reason}).`);
  while (readdirSync(temporary).length > 0) await once(changes, 'change');
  t.pass('and so does its host');
});

t.test('a caller that leaves with unread messages only ends its own lines', async (t) => {
  const path = join(await temporaryFolder(t), 'socket');
  const server = createServer({ pauseOnConnect: true }).listen(path);
  t.teardown(() => server.close());
  const caller = createConnection(path).pause();
  const [socket] = (await once(server, 'connection')) as [Socket];
  socket.write('unread\n');
  caller.write('first\nsecond\n');
  const errors: unknown[] = [];
  socket.on('error', (error: NodeJS.ErrnoException) => errors.push(error.code));
  const lines: string[] = [];
  for await (const line of socketLines(socket.resume())) {
    lines.push(line);
    if (line === 'second') caller.destroy();
  }
  t.strictSame(lines, ['first', 'second']);
  t.strictSame(errors, ['ECONNRESET']);
});
