import { server as createHapi } from '@hapi/hapi';
import t from 'tap';
import { authenticator } from '../../appliance/http/authentication.ts';
import { KeyRate } from '../../appliance/http/key-rate.ts';
import { KeyUses } from '../../appliance/http/key-uses.ts';
import { type RenderApiOptions, renderApi } from '../../appliance/http/render-api.ts';
import { silentLogger } from '../../lib/base/logger.ts';
import { Accounts, ApiKeys, DataFolder } from '../../lib/index.ts';
import type { KeyScope } from '../../lib/web/index.ts';
import { FakeClock } from '../fixtures/fake-clock.ts';
import { exchange } from '../fixtures/raw-http.ts';
import { testFolder } from '../fixtures/test-folder.ts';
import { listeningAppliance, send, VALID } from './listening-appliance.ts';

const UNAUTHORIZED = { error: 'Unauthorized', message: 'The API key is invalid or missing.' };

t.test('a key that is missing, malformed or unknown gets 401', async (t) => {
  const { ask, key } = await listeningAppliance(t);
  const headers = [
    undefined,
    '',
    'Bearer',
    'Bearer ',
    key,
    `Basic ${key}`,
    `Token ${key}`,
    `Bearer ${key} ${key}`,
    `Bearer ${key}0`,
    `Bearer ${key.slice(0, -1)}`,
    `Bearer ${key.toUpperCase()}`,
    `Bearer svc_live_${'0'.repeat(48)}`,
    `Bearer svc_test_${key.slice(9)}`,
    `Bearer "${key}"`,
    `Bearer ${'x'.repeat(8_000)}`,
  ];
  for (const authorization of headers) {
    const answer = await ask('/api/v2/me', authorization === undefined ? {} : { headers: { authorization } });
    t.equal(answer.status, 401, authorization ?? 'no header');
    t.equal(answer.headers['www-authenticate'], 'Bearer');
    t.strictSame(answer.json, UNAUTHORIZED);
  }
});

t.test('a client that waits for 100 Continue gets 401 instead', async (t) => {
  const { port } = await listeningAppliance(t);
  const head = 'POST /api/v2/render HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n';
  t.match(await exchange({ port }, head), /^HTTP\/1\.1 401 /);
});

t.test('the authentication scheme is case-insensitive', async (t) => {
  const { ask, key } = await listeningAppliance(t);
  for (const scheme of ['bearer', 'BEARER', 'Bearer ']) {
    t.equal(
      (await ask('/api/v2/me', { headers: { authorization: `${scheme} ${key}` } })).status,
      200,
      scheme,
    );
  }
});

t.test('the key is checked before anything else', async (t) => {
  const { ask } = await listeningAppliance(t);
  const requests: [string, string, (string | undefined)?][] = [
    ['GET', '/api/v2/me'],
    ['HEAD', '/api/v2/me'],
    ['GET', '/api/v2/me/'],
    ['GET', '/api/v2'],
    ['GET', '/api/v2/nothing'],
    ['GET', '/api/v2/render/%zz'],
    ['GET', '/api/v2/render/%ff'],
    ['DELETE', '/api/v2/render/1'],
    ['OPTIONS', '/api/v2/render'],
    ['POST', '/api/v2/nothing', 'x'.repeat(300_000)],
    ['POST', '/api/v2/render', 'not json'],
    ['POST', '/api/v2/render', JSON.stringify(VALID)],
    ['POST', '/api/v2/render', 'x'.repeat(3_000_000)],
  ];
  for (const [method, path, body] of requests) {
    const answer = await ask(path, { method, ...(body !== undefined && { body }) });
    t.equal(answer.status, 401, `${method} ${path}`);
  }
});

t.test('the key is checked first on an embedder’s server', async (t) => {
  const unused = () => Promise.reject(new Error('not asked for'));
  const options: RenderApiOptions = {
    service: { enqueue: unused, get: unused, balance: unused },
    authenticate: () => null,
    assetUrl: 'https://assets.example.org',
  };
  const hapi = createHapi({ host: '127.0.0.1', port: 0, debug: false });
  await hapi.register({ plugin: renderApi, options });
  hapi.route({ method: 'GET', path: '/{its}', handler: () => 'own' });
  await hapi.start();
  t.teardown(() => hapi.stop());
  const { origin } = new URL(hapi.info.uri);
  const targets = [
    '/api/v2/render/%zz',
    '/api/v2/render/%zz?%zz',
    '/%61pi/%762/render/%zz',
    `${origin}/api/v2/render/%zz`,
    `${origin}/x/../%61pi/v2/render/%zz`,
    `${origin}/api\\v2/render/%zz`,
  ];
  for (const target of targets) {
    const { status, json } = await send(Number(hapi.info.port), target, {});
    t.strictSame({ status, json }, { status: 401, json: UNAUTHORIZED }, target);
  }
  t.equal((await send(Number(hapi.info.port), '/%zz', {})).status, 400, 'other paths are not affected');
});

t.test('a revoked key is rejected from the next request on', async (t) => {
  const { askAs, newKey, installation } = await listeningAppliance(t);
  const key = await newKey('eve@example.org');
  t.equal((await askAs(key, '/api/v2/me')).status, 200);
  const [info] = (await installation.administration.keys.list({ account: 'eve@example.org' })).keys;
  await installation.administration.keys.revoke({ keyId: info?.keyId ?? '' });
  t.strictSame((await askAs(key, '/api/v2/me')).json, UNAUTHORIZED);
});

t.test('an expired key is rejected', async (t) => {
  const folder = new DataFolder(testFolder(t));
  await folder.start();
  t.teardown(() => folder.stop());
  const clock = new FakeClock('2026-11-21T10:00:00Z');
  const keys = new ApiKeys({ store: folder.keyStore, masterKeys: await folder.masterKeys(), clock });
  const accounts = new Accounts({ store: folder.accountStore });
  const { accountId } = await accounts.create('ada@example.org');
  const keyUses = new KeyUses({ store: folder.keyUseStore, logger: silentLogger });
  const hapi = createHapi({ host: '127.0.0.1', port: 0, debug: false });
  const unused = () => Promise.reject(new Error('not asked for'));
  const options: RenderApiOptions = {
    service: { enqueue: unused, get: unused, balance: async () => ({ paid: 0, free: 0, total: 0 }) },
    authenticate: authenticator({ keys, accounts, keyUses, keyRate: new KeyRate(0) }),
    assetUrl: 'https://assets.example.org',
  };
  await hapi.register({ plugin: renderApi, options });
  await hapi.start();
  t.teardown(() => hapi.stop());
  const expiresAtMs = clock.now() + 1000;
  const { key } = await keys.mint({ accountId, name: 'n', expiresAtMs });
  const me = () =>
    send(Number(hapi.info.port), '/api/v2/me', { headers: { authorization: `Bearer ${key}` } });
  clock.advance(999);
  t.equal((await me()).status, 200);
  clock.advance(1);
  const { status, json, headers } = await me();
  t.strictSame({ status, json }, { status: 401, json: UNAUTHORIZED });
  t.equal(headers['www-authenticate'], 'Bearer');
});

t.test('a key without the scope of a request gets what an invalid key gets', async (t) => {
  const { askAs, key, post, service, port, installation } = await listeningAppliance(t);
  const { jobId } = (await post(VALID)).json as { jobId: string };
  const keyOf = async (...scopes: KeyScope[]) => {
    const request = { account: 'ada@example.org', name: 'n', scopes };
    return (await installation.administration.keys.create(request)).key;
  };
  const keys = {
    all: key,
    render: await keyOf('render'),
    read: await keyOf('read'),
    check: await keyOf('check'),
    most: await keyOf('check', 'read'),
  };
  const expected: [request: string, statuses: Record<keyof typeof keys, number>][] = [
    ['POST /api/v2/render', { all: 202, render: 202, read: 401, check: 401, most: 401 }],
    [`GET /api/v2/render/${jobId}`, { all: 200, render: 200, read: 200, check: 401, most: 200 }],
    ['GET /api/v2/render/none', { all: 404, render: 404, read: 404, check: 401, most: 404 }],
    ['GET /api/v2/me', { all: 200, render: 200, read: 200, check: 200, most: 200 }],
    ['GET /api/v2/nothing', { all: 404, render: 404, read: 404, check: 404, most: 404 }],
  ];
  for (const [request, statuses] of expected) {
    const [method = '', path = ''] = request.split(' ');
    const body = method === 'POST' ? { body: JSON.stringify(VALID) } : {};
    for (const [name, key] of Object.entries(keys)) {
      const answer = await askAs(key, path, { method, ...body });
      const status = statuses[name as keyof typeof keys];
      t.equal(answer.status, status, `${request} as ${name}`);
      if (status !== 401) continue;
      t.strictSame(answer.json, UNAUTHORIZED);
      t.equal(answer.headers['www-authenticate'], 'Bearer');
    }
  }
  t.equal((await service.list()).length, 3);

  const invalid = { method: 'POST', body: 'x'.repeat(3_000_000) };
  t.equal((await askAs(keys.read, '/api/v2/render', invalid)).status, 401, 'before the body is checked');
  const head =
    'POST /api/v2/render HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nExpect: 100-continue\r\n' +
    `Authorization: Bearer ${keys.read}\r\n\r\n`;
  t.match(await exchange({ port }, head), /^HTTP\/1\.1 401 /);
});

t.test('an invalid cookie is ignored', async (t) => {
  const { ask, askAs, key } = await listeningAppliance(t);
  const headers = { cookie: 'a="b; =;;,' };
  t.equal((await ask('/api/v2/me', { headers })).status, 401);
  t.equal((await askAs(key, '/api/v2/me', { headers })).status, 200);
});
