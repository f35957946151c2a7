import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { getEventListeners, once } from 'node:events';
import type { AddressInfo, Server } from 'node:net';
import { connect, createServer as createTcp, type Socket } from 'node:net';
import { createServer as createTls, type TLSSocket } from 'node:tls';
import { Worker } from 'node:worker_threads';
import t, { type Test } from 'tap';
import { type Clock, systemClock, turn } from '../../../lib/time/clock.ts';
import { ANSWER_BYTES } from '../../../lib/webhooks/http-exchange.ts';
import { assertOutboundOptions, Outbound, type OutboundOptions } from '../../../lib/webhooks/outbound.ts';
import { TestAuthority } from '../../fixtures/certificates.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import { testFolder } from '../../fixtures/test-folder.ts';
import { until } from '../../fixtures/until.ts';
import { webhookReceiver } from '../../fixtures/webhook-receiver.ts';

const authority = new TestAuthority(testFolder(t));
const certificate = authority.issue(['receiver.test', '127.0.0.1']);
const LOOPBACK = '127.0.0.0/8';
const BODY = Buffer.from('{"jobId":"1","metadata":"数学"}');
/** A signal that never aborts. */
const never = new AbortController().signal;

function outbound(options: OutboundOptions = {}, clock: Clock = systemClock): Outbound {
  const defaults = { allowNetworks: [LOOPBACK], ca: authority.ca, resolve: async () => ['127.0.0.1'] };
  return new Outbound({ ...defaults, ...options }, clock);
}

function post(
  port: number,
  options?: OutboundOptions,
  url = `https://receiver.test:${port}/hook?a=b`,
  clock?: Clock,
) {
  return outbound(options, clock).post(
    { url, headers: { 'content-type': 'application/json' }, body: BODY },
    never,
  );
}

async function listen(t: Test, server: Server): Promise<number> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket.on('error', () => {}));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

/** A TLS server that leaves the response to `answer`. */
function speaking(t: Test, answer: (socket: TLSSocket) => void): Promise<number> {
  const server = createTls(certificate, (socket) => {
    socket.on('error', () => {}).once('data', () => answer(socket));
  });
  return listen(t, server);
}

t.test('body and headers arrive unchanged, with the name as Host', async (t) => {
  const { port, received } = await webhookReceiver(t, certificate);
  t.strictSame(await post(port), { status: 200, reason: null, detail: null, answer: 'thanks', sent: true });
  t.equal(received.length, 1);
  t.match(received[0], {
    method: 'POST',
    path: '/hook?a=b',
    headers: {
      host: `receiver.test:${port}`,
      'content-type': 'application/json',
      'content-length': `${BODY.length}`,
    },
  });
  t.strictSame(received[0]?.body, BODY);
});

t.test('an exchange leaves no timer, no listener and no connection', async (t) => {
  const clock = new FakeClock('2026-11-21T10:00:00Z');
  const { signal } = new AbortController();
  const connections: Socket[] = [];
  const server = createTls(certificate, (socket) => {
    socket.on('error', () => {}).once('data', () => socket.write('HTTP/1.1 200 OK\r\n\r\nok'));
  });
  server.on('connection', (socket: Socket) => connections.push(socket));
  const port = await listen(t, server);
  const request = { url: `https://receiver.test:${port}/`, headers: {}, body: BODY };
  const posted = outbound({}, clock).post(request, signal);
  await until(() => connections.length === 1);
  const closed = once(connections[0] as Socket, 'close');
  clock.advance(10_000);
  t.match(await posted, { reason: 'timeout' });
  await closed;
  t.same(getEventListeners(signal, 'abort'), []);
  const { port: other } = await webhookReceiver(t, certificate);
  t.match(await outbound({}, clock).post({ ...request, url: `https://receiver.test:${other}/` }, signal), {
    status: 200,
    reason: null,
  });
  t.equal(clock.nextInMs, undefined);
  t.same(getEventListeners(signal, 'abort'), []);
});

t.test('a connection without a handshake is closed after the timeout', async (t) => {
  const server = createTcp();
  const port = await listen(t, server);
  const closed = once(server, 'connection').then(([socket]) => once(socket.resume(), 'close'));
  t.match(await post(port, { timeoutMs: 100 }), { status: 0, reason: 'timeout' });
  await closed;
});

t.test('TLS is asked for the name and for HTTP/1.1', async (t) => {
  const seen: unknown[] = [];
  const server = createTls({ ...certificate, ALPNProtocols: ['h2', 'http/1.1'] }, (socket) => {
    seen.push([socket.servername, socket.alpnProtocol]);
    socket.on('error', () => {}).once('data', () => socket.end('HTTP/1.1 200 OK\r\n\r\n'));
  });
  const port = await listen(t, server);
  t.match(await post(port), { status: 200 });
  t.match(await post(port, {}, `https://127.0.0.1:${port}/`), { status: 200 });
  t.same(seen, [
    ['receiver.test', 'http/1.1'],
    [false, 'http/1.1'],
  ]);
});

t.test('what TLS adds to the headers is limited', async (t) => {
  const port = await speaking(t, (socket) => {
    socket.setNoDelay(true).write('HTTP/1.1 200 OK\r\nx: ');
    // Each write waits for the one before; otherwise TLS would merge single bytes into one record.
    const more = () => socket.destroyed || socket.write('y', () => setImmediate(more));
    more();
  });
  const detail = 'more than 128 KiB before the response headers were complete';
  t.match(await post(port), { status: 200, reason: 'too_large', detail, sent: true });
});

t.test('a body is read after its headers have been counted', async (t) => {
  const port = await speaking(t, (socket) => {
    socket.write(`HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n${'a'.repeat(500)}`);
    setTimeout(() => socket.write('b'.repeat(500)), 100);
  });
  t.match(await post(port), { status: 200, answer: `${'a'.repeat(500)}${'b'.repeat(500)}` });
});

t.test('an error of TLS after the handshake is reported', async (t) => {
  // Only TLS 1.2 has renegotiation.
  const server = createTls({ ...certificate, maxVersion: 'TLSv1.2' }, (socket) => {
    socket
      .on('error', () => {})
      .once('data', () => {
        socket.write('HTTP/1.1 200 OK\r\n');
        socket.renegotiate({}, () => {});
      });
  });
  t.match(await post(await listen(t, server)), { status: 200, reason: 'tls', sent: true });
});

t.test('the status is that of the response', async (t) => {
  for (const status of [200, 201, 204, 301, 307, 400, 404, 410, 500, 503]) {
    const { port, received } = await webhookReceiver(t, certificate, (response) => {
      response.writeHead(status, { location: '/elsewhere' }).end();
    });
    t.match(await post(port), { status, reason: null });
    t.equal(received.length, 1, 'no redirect is followed');
  }
});

t.test('a response is complete by its Content-Length, or when the receiver closes', async (t) => {
  const open = await speaking(t, (socket) => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok'));
  const startedAt = performance.now();
  t.match(await post(open), { status: 200, reason: null, answer: 'ok' });
  t.ok(performance.now() - startedAt < 5_000, 'although the connection stays open');
  const old = await speaking(t, (socket) => socket.end('HTTP/1.0 200 OK\r\n\r\nok'));
  t.match(await post(old), { status: 200, reason: null, answer: 'ok' });
});

t.test('a long response is read completely although the receiver closes immediately', async (t) => {
  const port = await speaking(t, (socket) => {
    socket.end(`HTTP/1.1 200 OK\r\ncontent-length: 50000\r\n\r\n${'x'.repeat(50_000)}`);
  });
  for (let i = 0; i < 20; i += 1) t.match(await post(port), { status: 200, reason: null });
});

t.test('an interim response is not the response', async (t) => {
  const { port } = await webhookReceiver(t, certificate, (response) => {
    response.writeEarlyHints({ link: '</x>; rel=preload' });
    response.writeHead(202).end();
  });
  t.match(await post(port), { status: 202, reason: null });
});

t.test('only the first part of a long response is kept, and an endless one is not read on', async (t) => {
  const long = await webhookReceiver(t, certificate, (response) => response.end('é'.repeat(100_000)));
  const { answer, status } = await post(long.port);
  t.equal(status, 200);
  t.equal(Buffer.byteLength(answer ?? ''), ANSWER_BYTES);
  let written = 0;
  const endless = await speaking(t, (socket) => {
    socket.write('HTTP/1.1 200 OK\r\n\r\n');
    const more = () => {
      while (!socket.destroyed && socket.write(Buffer.alloc(65_536, 'x'))) written += 65_536;
    };
    socket.on('drain', more);
    more();
  });
  t.match(await post(endless), { status: 200, reason: null, answer: 'x'.repeat(ANSWER_BYTES) });
  t.ok(written < 64 * 1024 * 1024);
});

t.test('a response with more overhead than content is cut, and its status counts', async (t) => {
  const port = await speaking(t, (socket) => {
    socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n');
    socket.write('1\r\nx\r\n'.repeat(30_000));
  });
  t.match(await post(port), { status: 200, reason: null, answer: 'x'.repeat(ANSWER_BYTES) });
});

t.test('refused, reset and aborted connections are reported', async (t) => {
  const server = createTcp();
  const port = await listen(t, server);
  server.close();
  await once(server, 'close');
  const refused = { status: 0, reason: 'refused', answer: null, sent: false };
  t.match(await post(port), { ...refused, detail: /^127\.0\.0\.1: connect ECONNREFUSED/ });

  const resets = await listen(
    t,
    createTcp((socket) => socket.once('data', () => socket.resetAndDestroy())),
  );
  t.match(await post(resets), { status: 0, reason: 'reset', sent: false });

  const closes = await speaking(t, (socket) => socket.destroy());
  t.match(await post(closes), { status: 0, reason: 'reset', answer: null, sent: true });

  const breaksOff = await speaking(t, (socket) => {
    socket.end('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nonly this');
  });
  t.match(await post(breaksOff), { status: 200, reason: 'reset', answer: 'only this' });
  const breaksChunks = await speaking(t, (socket) => {
    socket.end('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nabc');
  });
  t.match(await post(breaksChunks), { status: 200, reason: 'reset' });
});

t.test('malformed HTTP is reported', async (t) => {
  const talks = await speaking(t, (socket) => socket.end('220 mail.example.org ESMTP\r\n'));
  t.match(await post(talks), { status: 0, reason: 'protocol' });
  const headers = await speaking(t, (socket) => {
    socket.write(`HTTP/1.1 200 OK\r\n${'x: yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy\r\n'.repeat(2000)}`);
  });
  t.match(await post(headers), { status: 200, reason: 'protocol' }, 'endless headers');
  const upgrades = await speaking(t, (socket) => {
    socket.write('HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n');
  });
  t.match(await post(upgrades), { reason: 'protocol' });
});

t.test('a certificate must be trusted, valid and issued for the name', async (t) => {
  const { port } = await webhookReceiver(t, certificate);
  t.match(await post(port, {}, `https://other.test:${port}/`), { status: 0, reason: 'tls', sent: false });
  t.match(await post(port, {}, `https://127.0.0.1:${port}/`), { status: 200 });
  const stranger = new Outbound(
    { allowNetworks: [LOOPBACK], resolve: async () => ['127.0.0.1'] },
    systemClock,
  );
  const request = { url: `https://receiver.test:${port}/`, headers: {}, body: BODY };
  t.match(await stranger.post(request, never), { status: 0, reason: 'tls', detail: /certificate/ });
  t.teardown(() => {
    delete process.env['NODE_TLS_REJECT_UNAUTHORIZED'];
  });
  process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0';
  t.match(
    await stranger.post(request, never),
    { status: 0, reason: 'tls' },
    'verification cannot be disabled',
  );

  const expired = await webhookReceiver(t, authority.issue(['receiver.test'], { days: -1 }));
  t.match(await post(expired.port), { status: 0, reason: 'tls', detail: /expired/ });
  const plain = await listen(
    t,
    createTcp((socket) => socket.end('HTTP/1.1 200 OK\r\n\r\n')),
  );
  t.match(await post(plain), { status: 0, reason: 'tls' }, 'no TLS at all');
});

t.test('every phase is limited by the timeout', async (t) => {
  const options = { timeoutMs: 300 };
  const silent = await listen(t, createTcp());
  t.match(await post(silent, options), { status: 0, reason: 'timeout', sent: false }, 'no handshake');
  const mute = await speaking(t, () => {});
  t.match(await post(mute, options), { status: 0, reason: 'timeout', sent: true }, 'no answer');
  const drip = (head: string, drop: string) =>
    speaking(t, (socket) => {
      socket.write(head);
      const timer = setInterval(() => socket.write(drop), 20);
      socket.once('close', () => clearInterval(timer));
    });
  const headers = await drip('HTTP/1.1 200 OK\r\n', 'x: y\r\n');
  t.match(await post(headers, options), { status: 200, reason: 'timeout' }, 'slow headers');
  const body = await drip('HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n', 'x');
  t.match(await post(body, options), { status: 200, reason: 'timeout', answer: /^x+$/ }, 'slow body');
  const lookup = () => new Promise<string[]>(() => {});
  t.match(await post(1, { ...options, resolve: lookup }), { status: 0, reason: 'timeout' }, 'no name server');
});

t.test('the default timeout is ten seconds', async (t) => {
  const clock = new FakeClock('2026-11-21T10:00:00Z');
  const { promise: asked, resolve: ask } = Promise.withResolvers<void>();
  const port = await speaking(t, (socket) => {
    socket.write('HTTP/1.1 200 OK\r\n');
    ask();
  });
  let hasEnded = false;
  const posted = post(port, {}, undefined, clock).finally(() => {
    hasEnded = true;
  });
  await asked;
  clock.advance(9_999);
  await turn();
  t.notOk(hasEnded);
  clock.advance(1);
  t.match(await posted, { reason: 'timeout', detail: 'not finished within 10 s' });
  t.equal(clock.nextInMs, undefined, 'no timer is left');
});

t.test('a name is resolved once, and the checked address is the one connected to', async (t) => {
  const { port, received } = await webhookReceiver(t, certificate);
  const answers = [['127.0.0.1'], ['10.0.0.1'], ['10.0.0.1']];
  let lookups = 0;
  const resolve = async () => answers[lookups++] as string[];
  t.match(await post(port, { resolve }), { status: 200 });
  t.equal(lookups, 1, 'the name is not resolved again');
  t.match(await post(port, { resolve }), { status: 0, reason: 'blocked', detail: /10\.0\.0\.1 \(private\)/ });
  t.equal(received.length, 1);
});

t.test('a name with one forbidden address is not called at all', async (t) => {
  const { port, received } = await webhookReceiver(t, certificate);
  for (const other of ['10.0.0.1', '169.254.169.254', '::1', '::ffff:10.0.0.1', 'fd00::1']) {
    const resolve = async () => ['127.0.0.1', other];
    t.match(await post(port, { resolve }), { status: 0, reason: 'blocked', sent: false }, other);
  }
  t.equal(received.length, 0);
});

t.test('the next address is tried if one refuses', async (t) => {
  const { port } = await webhookReceiver(t, certificate);
  t.match(await post(port, { resolve: async () => ['127.0.0.9', '127.0.0.1'] }), { status: 200 });
});

t.test('IPv4 is tried before IPv6', async (t) => {
  const { port, received } = await webhookReceiver(t, certificate);
  const other = createTcp((socket) => socket.destroy());
  other.listen(port, '::1');
  const [event] = await Promise.race([
    once(other, 'listening').then(() => ['listening']),
    once(other, 'error').then(() => ['error']),
  ]);
  t.teardown(() => other.close());
  if (event === 'error') return t.comment('This machine has no IPv6, or the port is in use.');
  const allowNetworks = [LOOPBACK, '::1/128'];
  for (const addresses of [
    ['::1', '127.0.0.1'],
    ['127.0.0.1', '::1'],
  ]) {
    t.match(await post(port, { allowNetworks, resolve: async () => addresses }), { status: 200 });
  }
  t.equal(received.length, 2);
});

/** Lets 127.0.0.9 drop connections to a port: a server there accepts none, and its backlog is full. */
async function silence(t: Test, port: number): Promise<void> {
  const program = `const { createServer } = require('node:net');
    const { parentPort, workerData: port } = require('node:worker_threads');
    createServer().listen({ host: '127.0.0.9', port, backlog: 1 }, () => {
      parentPort.postMessage('listening');
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
    });`;
  const worker = new Worker(program, { eval: true, workerData: port });
  t.teardown(() => worker.terminate());
  await once(worker, 'message');
  for (let isFull = false; !isFull; ) {
    const socket = connect(port, '127.0.0.9').on('error', () => {});
    t.teardown(() => socket.destroy());
    await new Promise((resolve) => setTimeout(resolve, 100));
    await turn();
    isFull = socket.connecting;
  }
}

t.test('an address that does not respond is given up for the next after 2.5 seconds', async (t) => {
  const { port } = await webhookReceiver(t, certificate);
  await silence(t, port);
  const clock = new FakeClock('2026-11-21T10:00:00Z');
  const resolve = async () => ['127.0.0.9', '127.0.0.1'];
  let hasEnded = false;
  const posted = post(port, { resolve }, undefined, clock).finally(() => {
    hasEnded = true;
  });
  await until(() => clock.nextInMs === 2_500);
  clock.advance(2_499);
  await new Promise((resolve) => setTimeout(resolve, 50));
  t.notOk(hasEnded);
  clock.advance(1);
  t.match(await posted, { status: 200, reason: null });
  t.equal(clock.nextInMs, undefined);
});

t.test('connecting can be aborted, and the next address is not tried', async (t) => {
  const cut = new AbortController();
  const { port, received } = await webhookReceiver(t, certificate);
  await silence(t, port);
  const sockets: Socket[] = [];
  const opened = (message: unknown) => void sockets.push((message as { socket: Socket }).socket);
  subscribe('net.client.socket', opened);
  t.teardown(() => unsubscribe('net.client.socket', opened));
  const clock = new FakeClock('2026-11-21T10:00:00Z');
  const request = { url: `https://receiver.test:${port}/`, headers: {}, body: BODY };
  const resolve = async () => ['127.0.0.9', '127.0.0.1'];
  const posted = outbound({ resolve }, clock).post(request, cut.signal);
  await until(() => clock.nextInMs === 2_500);
  cut.abort();
  t.match(await posted, { reason: 'stopped', sent: false });
  t.match(sockets, [{ destroyed: true }]);
  t.equal(clock.nextInMs, undefined);
  t.same(received, []);
});

t.test('other errors of the network mean that the receiver is unreachable', async (t) => {
  const broadcast = { allowNetworks: ['255.255.255.255/32'], resolve: async () => ['255.255.255.255'] };
  t.match(await post(1, broadcast), { status: 0, reason: 'unreachable', sent: false });
});

t.test('a lookup that fails after the timeout has no effect', async (t) => {
  const { promise, reject } = Promise.withResolvers<string[]>();
  t.match(await post(1, { timeoutMs: 10, resolve: () => promise }), { reason: 'timeout' });
  reject(new Error('too late'));
  await turn();
});

t.test('private addresses are not called by default', async (t) => {
  const { port, received } = await webhookReceiver(t, certificate);
  const closed = { allowNetworks: [] };
  const hosts = [
    '127.0.0.1',
    '2130706433',
    '0x7f.1',
    '0177.0.0.1',
    '[::1]',
    '[::ffff:127.0.0.1]',
    '[::]',
    '0.0.0.0',
  ];
  const resolve = async () => t.fail('an address is not looked up') as never;
  for (const host of hosts) {
    const answer = await post(port, { ...closed, resolve }, `https://${host}:${port}/`);
    t.match(answer, { status: 0, reason: 'blocked' }, host);
  }
  const byDefault = new Outbound({ resolve: async () => ['127.0.0.1'] }, systemClock);
  const request = { url: `https://receiver.test:${port}/`, headers: {}, body: BODY };
  t.match(await byDefault.post(request, never), { reason: 'blocked' }, 'without options');
  t.match(await post(port, closed), { status: 0, reason: 'blocked' }, 'by its name');
  const urls = ['user:secret@', 'user@', ':secret@'].map((user) => `https://${user}127.0.0.1:${port}/`);
  for (const url of [`http://127.0.0.1:${port}/`, ...urls, 'nonsense']) {
    t.match(await post(port, {}, url), { status: 0, reason: 'blocked' }, url);
  }
  t.equal(received.length, 0);
});

t.test('a name without an address gets the reason dns', async (t) => {
  const none = { status: 0, reason: 'dns', detail: 'the name has no address' };
  t.match(await post(1, { resolve: async () => [] }), none);
  const long = `https://${'a'.repeat(60)}.${'b'.repeat(60)}.${'c'.repeat(60)}.${'d'.repeat(60)}/`;
  const { detail } = await post(1, { resolve: () => Promise.reject(new Error('no')) }, long);
  t.equal(detail?.length, 200, 'details are cut');
  const fails = async () => Promise.reject(Object.assign(new Error('no'), { code: 'ESERVFAIL' }));
  t.match(await post(1, { resolve: fails }), { status: 0, reason: 'dns', detail: /ESERVFAIL/ });
});

t.test('proxy settings in the environment are ignored', async (t) => {
  const proxied: string[] = [];
  const proxy = await listen(
    t,
    createTcp((socket) => socket.once('data', (data) => proxied.push(String(data)))),
  );
  const { port } = await webhookReceiver(t, certificate);
  const variables = [
    'HTTPS_PROXY',
    'https_proxy',
    'HTTP_PROXY',
    'http_proxy',
    'ALL_PROXY',
    'NODE_USE_ENV_PROXY',
  ];
  t.teardown(() => {
    for (const name of variables) delete process.env[name];
  });
  for (const name of variables)
    process.env[name] = name.startsWith('NODE') ? '1' : `http://127.0.0.1:${proxy}`;
  t.match(await post(port), { status: 200 });
  t.same(proxied, []);
});

t.test('an exchange can be aborted and reports whether anything was sent', async (t) => {
  const request = (port: number) => ({ url: `https://receiver.test:${port}/`, headers: {}, body: BODY });
  const cut = new AbortController();
  const { promise: heard, resolve: hear } = Promise.withResolvers<void>();
  const mute = await speaking(t, () => hear());
  const sent = outbound().post(request(mute), cut.signal);
  await heard;
  cut.abort();
  t.match(await sent, { status: 0, reason: 'stopped', sent: true });
  t.match(await outbound().post(request(mute), AbortSignal.abort()), { reason: 'stopped', sent: false });
  const unanswered = outbound({ resolve: () => new Promise(() => {}) });
  t.match(await unanswered.post(request(mute), AbortSignal.abort()), { reason: 'stopped', sent: false });
});

t.test('invalid options throw immediately', async (t) => {
  const code = 'invalid_request';
  t.throws(() => outbound({ allowNetworks: ['10.0.0.0/33'] }), {
    code,
    message: /"10.0.0.0\/33" is not a network/,
  });
  t.throws(() => outbound({ ca: 'not a certificate' }), {
    code,
    message: /webhooks is not a PEM certificate/,
  });
  t.throws(() => assertOutboundOptions({ allowNetworks: ['10.0.0.0/33'] }), { code });
  t.throws(() => assertOutboundOptions({ ca: 'not a certificate' }), { code, message: /webhooks/ });
  assertOutboundOptions({});
});
