import { once } from 'node:events';
import { connect } from 'node:net';
import { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import { guardedListener, LARGE_BYTES, openConnections } from './guarded-listener.ts';

const LIMITS = { stallMs: 600, sweepMs: 50 };

for (const secure of [false, true]) {
  const layer = secure ? 'TLS' : 'plain';

  t.test(`${layer}: a connection with an unfinished request is closed`, async (t) => {
    const { open, connections } = await guardedListener(t, { secure });
    await open();
    (await open()).write('GET / HT');
    (await open()).write('GET / HTTP/1.1\r\nHost: x\r\nX: ');
    (await open()).write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n1');
    (await open()).write('POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n1');
    (await open()).write('nonsense\r\n\r\n');
    await openConnections(connections, 0);
    t.equal(connections.counts.evicted, 0);
  });

  t.test(`${layer}: a connection whose response is never read is closed`, async (t) => {
    const { open, connections } = await guardedListener(t, { secure, ...LIMITS });
    for (const path of ['/large', '/large']) {
      const socket = await open();
      socket.pause();
      socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`);
    }
    await openConnections(connections, 0);
    t.equal(connections.counts.stalled, 2);
  });

  t.test(`${layer}: a slow download is completed`, async (t) => {
    const { open, connections } = await guardedListener(t, { secure, ...LIMITS });
    const socket = await open();
    socket.pause();
    socket.write('GET /large HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
    let sizeBytes = 0;
    const deadline = performance.now() + 3 * LIMITS.stallMs;
    for (;;) {
      const chunk: Buffer | null = socket.read(32 * 1024) ?? socket.read();
      sizeBytes += chunk?.length ?? 0;
      if (sizeBytes >= LARGE_BYTES || socket.readableEnded || socket.destroyed) break;
      await delay(performance.now() < deadline ? 25 : 0);
    }
    t.ok(sizeBytes >= LARGE_BYTES, `${sizeBytes} bytes`);
    t.ok(performance.now() > deadline, 'it took longer than the stall limit');
    t.equal(connections.counts.stalled, 0);
  });
}

t.test('a connection without a TLS handshake is closed', async (t) => {
  const { target, connections } = await guardedListener(t, { secure: true });
  const silent = connect({ host: '127.0.0.1', port: target.port, allowHalfOpen: true });
  const partial = connect({ host: '127.0.0.1', port: target.port, allowHalfOpen: true });
  for (const socket of [silent, partial]) {
    socket.on('error', () => {});
    t.teardown(() => socket.destroy());
  }
  partial.write('\x16\x03\x01');
  await openConnections(connections, 2);
  await openConnections(connections, 0);
});

t.test('a response ends with its connection, and pipelined requests behind it never start', async (t) => {
  const { open, connections, hapi } = await guardedListener(t);
  const sources: Readable[] = [];
  hapi.route({
    method: 'GET',
    path: '/source',
    handler: () => {
      const source = new Readable({ read: () => source.push(Buffer.alloc(65_536)) });
      sources.push(source);
      return source;
    },
  });
  const get = 'GET /source HTTP/1.1\r\nHost: x\r\n\r\n';
  for (const last of ['', 'CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n']) {
    const socket = await open();
    socket.write(get + get + get);
    await once(socket, 'data');
    if (last === '') socket.destroy();
    else socket.resume().write(last);
    await openConnections(connections, 0);
    t.equal(sources.length, 1);
    await Promise.all(sources.splice(0).map((source) => source.closed || once(source, 'close')));
  }
});
