import { writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import t, { type Test } from 'tap';
import { TestAuthority } from '../fixtures/certificates.ts';
import { exchange, type Target } from '../fixtures/raw-http.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { type Serving, scenepress, serve } from './command.ts';
import { send } from './listening-appliance.ts';

const authority = new TestAuthority(await temporaryFolder(t));
const GET = 'GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n';

/** A body longer than its Content-Length on a connection to be closed: hapi replied to it twice. */
const TWICE = 'POST /api/v2/render HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nConnection: close\r\n\r\n{}';

async function serveBoth(t: Test): Promise<{ serving: Serving; target: Target }[]> {
  const folder = await temporaryFolder(t);
  const { cert, key } = authority.issue(['127.0.0.1']);
  const files = { cert: join(folder, 'cert.pem'), key: join(folder, 'key.pem') };
  await writeFile(files.cert, cert);
  await writeFile(files.key, key);
  const plain = await serve(t, ['--data-dir', join(folder, 'plain')]);
  const tls = ['--tls-cert', files.cert, '--tls-key', files.key];
  const secure = await serve(t, ['--data-dir', join(folder, 'secure'), ...tls]);
  return [
    { serving: plain, target: { port: plain.port } },
    { serving: secure, target: { port: secure.port, secure: true } },
  ];
}

const both = serveBoth(t);

function partsOf(answer: string): { status: string; head: string; body: Record<string, string> } {
  const [head = '', body = ''] = answer.split('\r\n\r\n');
  return { status: head.split(' ')[1] ?? '', head: head.toLowerCase(), body: JSON.parse(body) };
}

t.test('a request found to be malformed after its response does not end the service', async (t) => {
  for (const { serving, target } of await both) {
    for (let count = 0; count < 20; count += 1) {
      t.match(await exchange(target, TWICE), /^HTTP\/1\.1 40[01] /);
    }
    const live = exchange(target, GET.replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n'));
    const outcome = await Promise.race([live, serving.ended.then((code) => `ended with ${code}`)]);
    t.match(outcome, '{"status":"live"}');
  }
});

t.test('malformed HTTP gets a JSON error, and the connection is closed', async (t) => {
  const cases: [status: string, bytes: string][] = [
    ['400', '\0\x01\x02\r\n\r\n'],
    ['400', 'NONSENSE / HTTP/1.1\r\n\r\n'],
    ['400', 'GET / HTTP/9.9\r\nHost: x\r\n\r\n'],
    ['400', 'GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n'],
    ['400', 'GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'],
    ['400', 'GET / HTTP/1.1\r\nHost: x\r\nno colon\r\n\r\n'],
    ['431', `GET / HTTP/1.1\r\nHost: x\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`],
    ['431', `GET /${'x'.repeat(20_000)} HTTP/1.1\r\nHost: x\r\n\r\n`],
    ['400', 'GET / HTTP/1.1\r\n\r\n'],
    ['417', 'GET / HTTP/1.1\r\nHost: x\r\nExpect: a miracle\r\n\r\n'],
  ];
  for (const { serving, target } of await both) {
    for (const [expected, bytes] of cases) {
      const { status, head, body } = partsOf(await exchange(target, bytes));
      t.equal(status, expected, bytes.slice(0, 60));
      t.match(head, 'connection: close');
      const [, requestId] = /request-id: ([0-9a-f-]{36})/.exec(head) ?? [];
      t.ok(requestId);
      t.strictSame(Object.keys(body), ['error', 'message']);
      if (expected !== '417' && bytes.includes('Host'))
        await serving.says(new RegExp(`"requestId":"${requestId}","status":${status}`));
    }
  }
});

t.test('requests before a malformed one are answered first', async (t) => {
  for (const { target } of await both) {
    const answer = await exchange(target, `${GET}${GET}nonsense\r\n\r\n`);
    t.same(
      [...answer.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status),
      ['200', '200', '400'],
    );
    t.equal(answer.split('{"status":"live"}').length, 3);
  }
});

t.test('bytes that are not TLS close the connection immediately', async (t) => {
  const [, secure] = await both;
  const { port } = (secure as { target: Target }).target;
  for (const bytes of [GET, '\x16\x03\x01\xff\xff\x00\x00', `\x16\x03\x01\x00\x05${'x'.repeat(5)}`]) {
    const said = await exchange({ port }, Buffer.from(bytes, 'latin1')).catch(({ code }) => code);
    t.notMatch(said, 'HTTP/');
  }
  t.match(await exchange({ port, secure: true }, TWICE), /^HTTP\/1\.1 40[01] /);
});

t.test('CONNECT, upgrades and unusual request targets get a response or a closed connection', async (t) => {
  const [plain] = await both;
  const { target } = plain as { target: Target };
  for (const bytes of [
    'CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n',
    'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
    'OPTIONS * HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n',
    'GET http://[/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n',
    'GET http://a:b@c/d HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n',
    'GET / HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: close, upgrade\r\n\r\n',
    'HEAD / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n',
  ]) {
    t.match(await exchange(target, bytes), /^(HTTP\/1\.1 [24]\d\d |$)/, bytes.slice(0, 40));
  }
  t.equal((await send(target.port, '/health/live', {})).status, 200);
});

t.test('malformed HTTP on the admin socket does not end the service', async (t) => {
  const dataDir = await temporaryFolder(t);
  const { ended } = await serve(t, ['--data-dir', dataDir]);
  const twice = TWICE.replace('/api/v2/render', '/queue/show');
  for (const bytes of [
    twice,
    twice,
    'nonsense\r\n\r\n',
    `${GET}nonsense\r\n\r\n`,
    `GET /${'x'.repeat(20_000)}`,
  ]) {
    const socket = connect({ path: join(dataDir, 'admin.sock'), allowHalfOpen: true });
    socket.on('end', () => socket.end()).write(bytes);
    t.match(await text(socket), /^HTTP\/1\.1 [24]\d\d /);
  }
  const command = scenepress(['queue', 'show', '--data-dir', dataDir]).then(({ code }) => code);
  t.equal(await Promise.race([command, ended.then((code) => `the service ended with ${code}`)]), 0);
});
