import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import t, { type Test } from 'tap';
import { ExchangeFailure, type ExchangeState, exchange } from '../../../lib/webhooks/http-exchange.ts';

const HEAD = 'HTTP/1.1 200 OK\r\n\r\n';

/** An exchange over a plain connection, whose receiver is left to the test. */
async function setUp(t: Test, { signal = new AbortController().signal } = {}) {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  const [receiver] = (await once(server, 'connection')) as [Socket];
  receiver.setNoDelay().on('error', () => {});
  socket.on('error', () => {});
  let request = '';
  receiver.on('data', (chunk) => {
    request += String(chunk);
  });
  // Ends an exchange that hangs.
  const timer = setTimeout(() => socket.destroy(new Error('not in time')), 5_000);
  t.teardown(() => {
    clearTimeout(timer);
    receiver.destroy();
    socket.destroy();
    server.close();
  });
  const state: ExchangeState = { status: 0, answer: [], sent: false, sockets: [] };
  const content = {
    target: '/hook?a=b',
    headers: { host: 'example.org', 'x-a': '1' },
    body: Buffer.from('body'),
  };
  let enough = () => {};
  const onHead = (isEnough: () => void) => {
    enough = isEnough;
  };
  let end: unknown;
  const exchanged = exchange(socket as TLSSocket, content, state, { signal, onHead }).then(
    () => 'completed',
    (error: unknown) => error,
  );
  void exchanged.then((ended) => {
    end = ended;
  });
  /** Sends bytes and waits until the exchange has got them. */
  const send = async (bytes: string | Buffer) => {
    const sentBytes = socket.bytesRead + Buffer.byteLength(bytes);
    receiver.write(bytes);
    while (socket.bytesRead < sentBytes && end === undefined) await new Promise(setImmediate);
    for (let turns = 0; turns < 5; turns++) await new Promise(setImmediate);
  };
  const answer = () => state.answer.map(String);
  const isOver = () => end !== undefined;
  return {
    ...{ socket, receiver, state, exchanged, send, answer, isOver },
    ...{ request: () => request, enough: () => enough() },
  };
}

t.test('the request is sent as it was given, and nothing is added', async (t) => {
  const { receiver, exchanged, request, socket, state } = await setUp(t);
  while (!request().endsWith('body')) await once(receiver, 'data');
  const lines = ['host: example.org', 'x-a: 1', 'content-length: 4', 'connection: close'];
  t.equal(request(), `POST /hook?a=b HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\nbody`);
  t.equal(state.sent, true);
  receiver.end('HTTP/1.1 204 No Content\r\n\r\n');
  t.equal(await exchanged, 'completed');
  t.equal(state.status, 204);
  t.ok(socket.destroyed);
});

t.test('an exchange that was aborted sends nothing', async (t) => {
  const { exchanged, state, request } = await setUp(t, { signal: AbortSignal.abort('stopped') });
  t.equal(await exchanged, 'stopped');
  t.equal(state.sent, false);
  t.equal(request(), '');
});

t.test('an exchange can be aborted while it waits', async (t) => {
  const controller = new AbortController();
  const { exchanged, state, socket, send, isOver } = await setUp(t, controller);
  await send('HTTP/1.1 200 OK\r\n');
  t.notOk(isOver());
  controller.abort('timeout');
  t.equal(await exchanged, 'timeout');
  t.match(state, { status: 200, sent: true });
  t.ok(socket.destroyed);
});

t.test('the status counts from the moment its line has arrived', async (t) => {
  const { send, state, isOver } = await setUp(t);
  for (const part of ['H', 'TTP/1.1 ', '50', '3']) {
    await send(part);
    t.equal(state.status, 0);
  }
  await send(' ');
  t.equal(state.status, 503);
  await send('No\r\nx: HTTP/1.1 200 OK\r\n');
  t.equal(state.status, 503);
  t.notOk(isOver());
});

t.test('a status line elsewhere than at the start does not count', async (t) => {
  const { send, state } = await setUp(t);
  await send('H');
  await send('HTTP/1.1 200 OK');
  t.equal(state.status, 0);
});

for (const [line, status] of [
  ['HTTP/1.0 201 Created', 201],
  ['HTTP/1.1 299 ', 299],
  ['HTTP/1.1 599\r', 599],
  ['HTTP/1.1 103 Early Hints', 0],
  ['HTTP/1.1 2000 OK', 0],
  ['HTTP/1.1 2x0 OK', 0],
  ['HTTP/1.1 20x OK', 0],
  ['HTTP/1.1 600 OK', 0],
  ['HTTP/2.0 200 OK', 0],
  ['220 HTTP/1.1 200 OK', 0],
] as const) {
  t.test(`the status of ${JSON.stringify(line)} is ${status}`, async (t) => {
    const { send, state } = await setUp(t);
    await send(line);
    t.equal(state.status, status);
  });
}

t.test('eight interim responses are accepted, nine are not', async (t) => {
  const interim = 'HTTP/1.1 103 Early Hints\r\n\r\n';
  const accepted = await setUp(t);
  await accepted.send(interim.repeat(8));
  accepted.receiver.end('HTTP/1.1 202 Accepted\r\n\r\n');
  t.equal(await accepted.exchanged, 'completed');
  t.equal(accepted.state.status, 202);
  const rejected = await setUp(t);
  rejected.receiver.write(interim.repeat(9));
  const error = await rejected.exchanged;
  t.type(error, ExchangeFailure);
  t.match(error, { reason: 'protocol', message: /more than 8 interim responses/ });
  t.equal(rejected.state.status, 0);
  t.ok(rejected.socket.destroyed);
});

for (const [what, bytes] of [
  ['something else than HTTP', '220 mail.example.org ESMTP\r\n'],
  ['an upgrade', 'HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n'],
  ['headers of more than 16 KiB', `HTTP/1.1 200 OK\r\nx: ${'y'.repeat(16 * 1024)}\r\n\r\n`],
  ['a malformed body', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n'],
] as const) {
  t.test(`${what} is a violation of the protocol`, async (t) => {
    const { receiver, exchanged } = await setUp(t);
    receiver.write(bytes);
    const error = await exchanged;
    t.type(error, ExchangeFailure);
    t.match(error, { reason: 'protocol' });
  });
}

t.test('headers of almost 16 KiB are accepted', async (t) => {
  const { receiver, exchanged, state } = await setUp(t);
  receiver.end(`HTTP/1.1 200 OK\r\nx: ${'y'.repeat(15 * 1024)}\r\n\r\n`);
  t.equal(await exchanged, 'completed');
  t.equal(state.status, 200);
});

t.test('errors of the connection are passed on, with or without a code', async (t) => {
  const { exchanged, socket, receiver, request } = await setUp(t);
  while (!request()) await once(receiver, 'data');
  const error = new Error('broken');
  socket.destroy(error);
  t.equal(await exchanged, error);
  const reset = await setUp(t);
  while (!reset.request()) await once(reset.receiver, 'data');
  reset.receiver.resetAndDestroy();
  t.match(await reset.exchanged, { code: 'ECONNRESET' });
});

t.test('the first 1,024 bytes of a body are kept', async (t) => {
  const { receiver, exchanged, send, answer } = await setUp(t);
  await send(HEAD);
  await send('a'.repeat(1_000));
  await send('b'.repeat(23));
  await send('c');
  t.same(answer(), ['a'.repeat(1_000), 'b'.repeat(23), 'c']);
  await send('d');
  receiver.end('e');
  t.equal(await exchanged, 'completed');
  t.equal(answer().join(''), `${'a'.repeat(1_000)}${'b'.repeat(23)}c`);
  t.equal(answer().length, 3);
  const long = await setUp(t);
  await long.send(HEAD);
  await long.send('a'.repeat(1_000));
  await long.send('b'.repeat(25));
  t.equal(long.answer().join(''), `${'a'.repeat(1_000)}${'b'.repeat(24)}`);
});

t.test('a body is read up to 64 KiB, then the status suffices', async (t) => {
  const { exchanged, send, state, isOver } = await setUp(t);
  await send(HEAD);
  for (let sent = 0; sent < 64; sent++) await send(Buffer.alloc(1024));
  t.notOk(isOver());
  await send(Buffer.alloc(1));
  t.equal(await exchanged, 'completed');
  t.equal(state.status, 200);
});

t.test('a body is complete by its length, or when the receiver closes', async (t) => {
  const byLength = await setUp(t);
  byLength.receiver.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok');
  t.equal(await byLength.exchanged, 'completed');
  t.same(byLength.answer(), ['ok']);
  const byEnd = await setUp(t);
  await byEnd.send(`${HEAD}ok`);
  t.notOk(byEnd.isOver());
  byEnd.receiver.end();
  t.equal(await byEnd.exchanged, 'completed');
  const incomplete = await setUp(t);
  incomplete.receiver.end('HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\nok');
  const error = await incomplete.exchanged;
  t.type(error, ExchangeFailure);
  t.match(error, { reason: 'reset', message: /before the end of the response/ });
  t.equal(incomplete.state.status, 200);
});

t.test('the receiver of the head may decide that it suffices', async (t) => {
  const { exchanged, send, isOver, enough, state } = await setUp(t);
  enough();
  await send('HTTP/1.1 200 OK\r\n');
  enough();
  t.notOk(isOver());
  await send('\r\nsome');
  t.notOk(isOver());
  enough();
  t.equal(await exchanged, 'completed');
  t.equal(state.status, 200);
});
