import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import t from 'tap';
import { listeningAppliance, VALID } from './listening-appliance.ts';

const LIMIT_BYTES = 204_800;

function bodyOf(sizeBytes: number): string {
  const empty = JSON.stringify({ ...VALID, metadata: '' });
  return JSON.stringify({ ...VALID, metadata: 'x'.repeat(sizeBytes - empty.length) });
}

t.test('a body over the limit gets 413', async (t) => {
  const { post } = await listeningAppliance(t);
  t.equal((await post(bodyOf(LIMIT_BYTES))).status, 202, 'at the limit');
  for (const body of [bodyOf(LIMIT_BYTES + 1), bodyOf(3_000_000), 'x'.repeat(LIMIT_BYTES + 1)]) {
    const { status, json } = await post(body);
    t.equal(status, 413, `${body.length} bytes`);
    t.strictSame(Object.keys(json), ['error', 'message']);
  }
  t.equal((await post(bodyOf(LIMIT_BYTES + 1), { 'transfer-encoding': 'chunked' })).status, 413, 'chunked');
});

t.test('the size limit applies to the decompressed body', async (t) => {
  const { post } = await listeningAppliance(t);
  const compressions: [string, (text: string) => Buffer][] = [
    ['gzip', gzipSync],
    ['GZIP', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
  ];
  for (const [encoding, compress] of compressions) {
    const headers = { 'content-encoding': encoding };
    t.equal((await post(compress(JSON.stringify(VALID)), headers)).status, 202, encoding);
    t.equal((await post(compress(bodyOf(LIMIT_BYTES)), headers)).status, 202, `${encoding}, at the limit`);
    t.equal((await post(compress(bodyOf(LIMIT_BYTES + 1)), headers)).status, 413, `${encoding}, over it`);
    t.equal((await post(compress(' '.repeat(20_000_000)), headers)).status, 413, `${encoding} bomb`);
  }
});

t.test('a body that is not a JSON object gets 400, whatever its content type', async (t) => {
  const { post } = await listeningAppliance(t);
  const bodies: [string | Buffer, Record<string, string>?][] = [
    [''],
    [' '],
    ['null'],
    ['true'],
    ['7'],
    ['"text"'],
    ['[]'],
    [JSON.stringify([VALID])],
    ['{'],
    ['{"code":"x",}'],
    ["{'code':'x'}"],
    [`${JSON.stringify(VALID)} x`],
    ['code=x&className=A'],
    [Buffer.from('{"code":"x","className":"A"}', 'utf16le')],
    ['[['.repeat(50_000)],
    ['{"metadata":'.repeat(10_000)],
    [JSON.stringify(VALID), { 'content-encoding': 'gzip' }],
    [gzipSync(JSON.stringify(VALID)).subarray(0, 20), { 'content-encoding': 'gzip' }],
  ];
  for (const [body, headers] of bodies) {
    for (const type of ['application/json', 'text/plain']) {
      const { status, json } = await post(body, { 'content-type': type, ...headers });
      t.equal(status, 400, body.toString('latin1').slice(0, 60));
      t.strictSame(json, { error: 'JSON body required' });
    }
  }
});

t.test('a body that is not UTF-8 gets 400 with a message that says so', async (t) => {
  const { post } = await listeningAppliance(t);
  const bodies = [
    Buffer.from(JSON.stringify({ ...VALID, code: 'text = "Größe"' }), 'latin1'),
    gzipSync(JSON.stringify(VALID)),
  ];
  for (const body of bodies) {
    const { status, json } = await post(body);
    t.equal(status, 400);
    t.strictSame(json, {
      error: 'JSON body required',
      message: 'The body is not UTF-8. A source in another encoding must be converted.',
    });
  }
});

t.test('a JSON object is accepted, whatever its content type', async (t) => {
  const { post } = await listeningAppliance(t);
  const types = [
    'application/json',
    'application/json; charset=utf-8',
    'APPLICATION/JSON',
    'application/x-www-form-urlencoded',
    'multipart/form-data',
    'text/plain',
    'garbage',
    '/',
  ];
  for (const type of types) t.equal((await post(VALID, { 'content-type': type })).status, 202, type);
});

t.test('a connection stays usable after a body was rejected', async (t) => {
  const { url, key } = await listeningAppliance(t);
  const headers = { authorization: `Bearer ${key}` };
  for (const body of [bodyOf(LIMIT_BYTES + 1), 'not json', JSON.stringify(VALID)]) {
    const answer = await fetch(`${url}/api/v2/render`, { method: 'POST', headers, body });
    await answer.arrayBuffer();
    t.ok([413, 400, 202].includes(answer.status));
  }
});

t.test('a body with invalid chunked framing gets 400', async (t) => {
  const { port, key } = await listeningAppliance(t);
  const socket = connect(port, '127.0.0.1');
  const head = `POST /api/v2/render HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n`;
  socket.write(`${head}Transfer-Encoding: chunked\r\n\r\nno length\r\n`);
  const answer = await text(socket);
  t.match(answer, /^HTTP\/1\.1 400 /);
  t.match(answer, '{"error":"Bad Request","message":"');
});
