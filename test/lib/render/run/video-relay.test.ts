import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { VideoRelay } from '../../../../lib/render/run/video-relay.ts';
import { OneConnection } from '../../../../lib/render/start/one-connection.ts';

/** Paths of sockets have at most 107 bytes. */
function shortFolder(t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), 'relay-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  return folder;
}

/** The two ends of a connection: the service's and that of a fork. */
async function pair(t: Test, name: string): Promise<[Socket, Socket]> {
  const folder = shortFolder(t);
  const accepted = Promise.withResolvers<Socket>();
  const listening = await OneConnection.open({
    ...{ folder, name, uid: undefined },
    onConnection: accepted.resolve,
  });
  const fork = connect(join(folder, name));
  const service = await accepted.promise;
  listening.close();
  t.teardown(() => {
    fork.destroy();
    service.destroy();
  });
  return [service, fork];
}

async function readAll(socket: Socket): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of socket) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

t.test('what a render has sent before its inspection begins is passed on, and its end', async (t) => {
  const [render, scene] = await pair(t, 'render');
  const relay = new VideoRelay();
  relay.from(render);
  scene.end('a video');
  t.notOk(relay.isSent);
  const [inspection, inspector] = await pair(t, 'inspection');
  relay.to(inspection);
  t.equal(await readAll(inspector), 'a video');
  t.ok(relay.isSent);
});

t.test('the end of a render that has sent nothing is passed on, too', async (t) => {
  const [render, scene] = await pair(t, 'render');
  const relay = new VideoRelay();
  relay.from(render);
  const closed = once(render, 'close');
  scene.destroy();
  await closed;
  const [inspection, inspector] = await pair(t, 'inspection');
  relay.to(inspection);
  t.equal(await readAll(inspector), '');
  t.ok(relay.isSent);
});

t.test('a render whose inspection has ended loses its connection, and has not sent all', async (t) => {
  const [render, scene] = await pair(t, 'render');
  const [inspection, inspector] = await pair(t, 'inspection');
  const relay = new VideoRelay();
  relay.from(render);
  relay.to(inspection);
  scene.on('error', () => {});
  const closed = once(scene, 'close');
  scene.write('garbage');
  await once(inspector, 'data');
  inspector.destroy();
  await closed;
  t.notOk(relay.isSent);
});

t.test('a render that sends faster than its inspection reads waits', async (t) => {
  const [render, scene] = await pair(t, 'render');
  const [inspection, inspector] = await pair(t, 'inspection');
  const relay = new VideoRelay();
  relay.from(render);
  relay.to(inspection);
  const chunk = Buffer.alloc(1024 * 1024, 'v');
  const chunks = 32;
  for (let i = 0; i < chunks; i += 1) scene.write(chunk);
  await once(inspection, 'drain', { signal: AbortSignal.timeout(100) }).catch(() => {});
  t.ok(scene.writableLength > (chunks / 2) * chunk.length, 'most is still with the render');
  scene.end();
  t.equal((await readAll(inspector)).length, chunks * chunk.length);
});

t.test('a second connection is not accepted', async (t) => {
  const folder = shortFolder(t);
  const accepted = Promise.withResolvers<Socket>();
  const listening = await OneConnection.open({
    ...{ folder, name: 'socket', uid: undefined },
    onConnection: accepted.resolve,
  });
  const first = connect(join(folder, 'socket'));
  const service = await accepted.promise;
  await t.rejects(once(connect(join(folder, 'socket')), 'connect'), { code: 'ENOENT' });
  for (const socket of [first, service]) socket.destroy();
  listening.close();
});
