import { join } from 'node:path';
import t, { type Test } from 'tap';
import { listeningAppliance } from '../listening-appliance.ts';
import { httpClient, REVISIONS, SCENE, textOf } from './clients.ts';

const PYTHON = join(import.meta.dirname, '../../fixtures/instant-renderer/bin/python');
const INITIALIZE = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
});

function appliance(t: Test, options: Parameters<typeof listeningAppliance>[1] = {}) {
  return listeningAppliance(t, { python: PYTHON, insecureNoSandbox: true, ...options });
}

/** A request of a client, with these headers, too. */
function post(headers: Record<string, string> = {}, body: string | Buffer = INITIALIZE) {
  const accept = 'application/json, text/event-stream';
  return { method: 'POST', headers: { 'content-type': 'application/json', accept, ...headers }, body };
}

for (const revision of REVISIONS)
  t.test(`a client of ${revision} renders with a key`, async (t) => {
    const { url, key, ask, log } = await appliance(t);
    const client = await httpClient(t, `${url}/mcp`, {
      revision,
      headers: { authorization: `Bearer ${key}` },
    });
    const told: unknown[] = [];
    const made = await client.callTool(
      { name: 'render', arguments: { code: SCENE, className: 'Hello' } },
      { onprogress: ({ message }) => void told.push(message) },
    );
    t.match(textOf(made), /^Hello was rendered in/);
    t.ok(told.includes('Finishing'), 'the answer is a stream');
    const [, link] = made.content;
    t.match(link, { type: 'resource_link', uri: /^http:\/\/127\.0\.0\.1:\d+\/artifacts\// });
    const { pathname } = new URL(link?.type === 'resource_link' ? link.uri : '');
    t.match(await ask(pathname), { status: 200, headers: { 'content-type': 'video/mp4' } });
    t.match(log(), /"path":"\/mcp"/);
    t.notMatch(log(), key);
  });

t.test('without a live key, nothing leads a client to a sign-in', async (t) => {
  const { ask, askAs } = await appliance(t);
  for (const authorization of [undefined, 'Bearer svc_live_0', 'Basic YTpi']) {
    const refused = await ask('/mcp', post(authorization === undefined ? {} : { authorization }));
    t.match(refused, { status: 401, json: { error: 'Unauthorized' } });
    t.equal(refused.headers['www-authenticate'], 'Bearer');
  }
  t.match(await askAs('svc_live_1', '/mcp', { method: 'GET' }), { status: 401 });
  for (const path of [
    'oauth-protected-resource',
    'oauth-protected-resource/mcp',
    'oauth-authorization-server',
  ])
    t.match(await ask(`/.well-known/${path}`), { status: 404 });
});

t.test('only pages of the service, and of permitted origins, may call it', async (t) => {
  const { url, key, askAs, ask } = await appliance(t, { corsOrigins: ['https://studio.example'] });
  for (const origin of [url, 'https://studio.example']) {
    const { status } = await askAs(key, '/mcp', post({ origin }));
    t.equal(status, 200, origin);
  }
  for (const origin of ['https://evil.example', 'null', 'http://studio.example', `${url}.evil.example`]) {
    const refused = await askAs(key, '/mcp', post({ origin }));
    t.match(refused, { status: 403, json: { error: 'Forbidden' } }, origin);
    t.equal(refused.headers['access-control-allow-origin'], undefined);
  }
  const asked = { 'access-control-request-method': 'POST', 'access-control-request-headers': 'mcp-method' };
  const preflight = { method: 'OPTIONS', headers: { origin: 'https://studio.example', ...asked } };
  t.match((await ask('/mcp', preflight)).headers, { 'access-control-allow-headers': /Mcp-Method/ });
});

t.test('no origin is permitted by default', async (t) => {
  const { key, askAs } = await appliance(t);
  t.match(await askAs(key, '/mcp', post({ origin: 'https://studio.example' })), { status: 403 });
});

t.test('a body has at most 1 MiB', async (t) => {
  const { key, askAs } = await appliance(t);
  const padded = (bytes: number) => INITIALIZE.padEnd(bytes);
  t.match(await askAs(key, '/mcp', post({}, padded(1024 * 1024))), { status: 200 });
  const refused = await askAs(key, '/mcp', post({}, padded(1024 * 1024 + 1)));
  t.match(refused, { status: 413, json: { message: /larger than 1048576 bytes/ } });
});

t.test('what is no request of a client is refused', async (t) => {
  const { key, askAs } = await appliance(t);
  for (const method of ['GET', 'DELETE', 'PUT', 'OPTIONS'])
    t.match(await askAs(key, '/mcp', { method }), { status: 405, headers: { allow: 'POST' } }, method);
  t.match(await askAs(key, '/mcp', post({}, '{"jsonrpc":')), { status: 400 });
  t.match(await askAs(key, '/mcp', post({ 'content-type': 'text/plain' })), { status: 415 });
});

t.test('jobs belong to the account of the key', async (t) => {
  const { url, key, newKey, post } = await appliance(t);
  const { json } = await post({ code: SCENE, className: 'Hello' });
  const arguments_ = { jobId: String(json['jobId']) };
  const ask = async (key: string) => {
    const client = await httpClient(t, `${url}/mcp`, { headers: { authorization: `Bearer ${key}` } });
    return client.callTool({ name: 'job', arguments: arguments_ });
  };
  t.match((await ask(key)).structuredContent, { status: 'completed' });
  const refused = await ask(await newKey('eve@example.org'));
  t.match(refused, { isError: true, content: [{ text: 'There is no such job.' }] });
});

t.test('a client that leaves cancels its render', async (t) => {
  const { url, key, service } = await appliance(t);
  const client = await httpClient(t, `${url}/mcp`, { headers: { authorization: `Bearer ${key}` } });
  const running = new Promise<string>((resolve) => {
    service.on('job', ({ jobId, status }) => status === 'running' && resolve(jobId));
  });
  const leaving = new AbortController();
  const call = client.callTool(
    { name: 'render', arguments: { code: `${SCENE}# linger`, className: 'Hello' } },
    { signal: leaving.signal },
  );
  const jobId = await running;
  leaving.abort();
  await t.rejects(call);
  t.match(await service.wait(jobId), { status: 'failed', failedBy: 'cancel' });
});

t.test('a machine that only renders has no tools', async (t) => {
  const { ask } = await appliance(t, { roles: ['worker'] });
  t.match(await ask('/mcp', post()), { status: 404 });
});
