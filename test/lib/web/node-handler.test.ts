import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import t, { type Test } from 'tap';
import { ScenepressClient } from '../../../lib/client/index.ts';
import { fakeRenderService } from '../../../lib/testing/index.ts';
import { nodeHandler, webHandler } from '../../../lib/web/index.ts';
import { exchange } from '../../fixtures/raw-http.ts';
import { testFolder } from '../../fixtures/test-folder.ts';

async function listen(t: Test, listener: RequestListener): Promise<{ url: string; port: number }> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, port };
}

async function open(t: Test, { renderMs = 0 } = {}) {
  const service = fakeRenderService({ folder: testFolder(t), renderMs });
  t.teardown(() => service.stop());
  await service.start();
  let links = '';
  const handle = webHandler({
    service,
    authenticate: (token) =>
      token === 'ada' ? { owner: 'ada', keyId: 'k', keyPrefix: 'svc', webhookUrl: null } : null,
    assetUrl: () => links,
  });
  const listening = await listen(t, nodeHandler(handle));
  links = listening.url;
  return { service, handle, ...listening };
}

const VALID = { code: 'x', className: 'Main' };

t.test('a Node server renders for a client', async (t) => {
  const { url } = await open(t);
  const client = new ScenepressClient({ url, key: 'ada' });
  const { jobId } = await client.enqueue({ ...VALID, metadata: 'Grüße' });
  const states: string[] = [];
  for await (const event of client.follow(jobId)) if (event.type === 'job') states.push(event.job.status);
  t.equal(states.at(-1), 'completed');
  const job = await client.wait(jobId);
  t.equal(job.metadata, 'Grüße');
  const part = await client.download(job, 'video', { range: { start: 4, end: 7 } });
  t.equal(part.status, 206);
  t.equal(await part.text(), 'ftyp');
});

t.test('a body that is not wanted is read, so that the response arrives', async (t) => {
  const { url } = await open(t);
  const post = (key: string, body: string) =>
    fetch(`${url}/api/v2/render`, { method: 'POST', headers: { authorization: `Bearer ${key}` }, body });
  const large = JSON.stringify({ ...VALID, code: 'x'.repeat(3_000_000) });
  for (let i = 0; i < 3; i++) {
    t.equal((await post('eve', large)).status, 401);
    t.equal((await post('ada', large)).status, 413);
    t.equal((await post('ada', JSON.stringify(VALID))).status, 202);
  }
});

t.test('a client that leaves ends its events', async (t) => {
  const { url, service } = await open(t, { renderMs: 60_000 });
  const { jobId } = await service.enqueue({ ...VALID, owner: 'ada' });
  const leave = new AbortController();
  const { promise: ended, resolve } = Promise.withResolvers<void>();
  const follow = service.follow.bind(service);
  service.follow = (jobId, options) => {
    options?.signal?.addEventListener('abort', () => resolve());
    return follow(jobId, options);
  };
  const headers = { authorization: 'Bearer ada' };
  const response = await fetch(`${url}/api/tools/v1/jobs/${jobId}/events`, { headers, signal: leave.signal });
  await response.body?.getReader().read();
  leave.abort();
  await ended;
});

t.test('a body that was parsed before is used', async (t) => {
  const { handle, service } = await open(t);
  const { url } = await listen(t, async (request: IncomingMessage & { body?: unknown }, response) => {
    request.body = JSON.parse(Buffer.concat(await request.toArray()).toString());
    await nodeHandler(handle)(request, response);
  });
  const client = new ScenepressClient({ url, key: 'ada' });
  const queued = await client.enqueue(VALID);
  t.match(queued, { status: 'queued' });
  t.match(await service.wait(queued.jobId), { status: 'completed' });
});

t.test('malformed requests get a response', async (t) => {
  const { port } = await open(t);
  for (const head of [
    'TRACE / HTTP/1.1',
    'GET * HTTP/1.1',
    'GET //x/y HTTP/1.1',
    'GET http://h/api/v2/me HTTP/1.1',
  ]) {
    const answer = await exchange({ port }, `${head}\r\nHost: x\r\nConnection: close\r\n\r\n`);
    t.match(answer, /^HTTP\/1\.1 4\d\d /, head);
  }
});
