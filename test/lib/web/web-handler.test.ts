import { EventEmitter } from 'node:events';
import { gzipSync } from 'node:zlib';
import t, { type Test } from 'tap';
import { silentLogger } from '../../../lib/base/logger.ts';
import {
  DataFolder,
  type Job,
  type RenderServiceOptions,
  ScenepressError,
  StoredLedger,
} from '../../../lib/index.ts';
import { JobFollowers } from '../../../lib/jobs/watch/job-followers.ts';
import type { JobEvents } from '../../../lib/model/job-events.ts';
import { type Caller, hasScope, type WebOptions, webHandler } from '../../../lib/web/index.ts';
import { instantService } from '../../fixtures/instant-service.ts';
import { temporaryFolder } from '../../fixtures/temporary-folder.ts';

const CALLERS: Record<string, Caller> = {
  ada: { owner: 'ada', keyId: 'k1', keyPrefix: 'svc_live_ada', webhookUrl: null },
  bob: { owner: 'bob', keyId: 'k2', keyPrefix: 'svc_live_bob', webhookUrl: null },
};
const VALID = { code: 'large', className: 'Main' };

async function open(t: Test, web: Partial<WebOptions> = {}, options: Partial<RenderServiceOptions> = {}) {
  const service = await instantService(t, options);
  const handle = webHandler({
    service,
    authenticate: (token) => CALLERS[token] ?? null,
    assetUrl: 'https://a.test/r',
    ...web,
  });
  const ask = (
    path: string,
    { token = 'ada', headers = {}, ...init }: RequestInit & { token?: string } = {},
  ) =>
    handle(
      new Request(`http://localhost${path}`, {
        ...init,
        headers: { authorization: `Bearer ${token}`, ...headers },
      }),
    );
  const post = (body: unknown, init: RequestInit = {}) =>
    ask('/api/v2/render', {
      method: 'POST',
      body: typeof body === 'string' ? body : JSON.stringify(body),
      ...init,
    });
  return { service, handle, ask, post };
}

const jsonOf = async (response: Response) => ({
  status: response.status,
  ...((await response.json()) as object),
});

t.test('the three endpoints answer as the contract says', async (t) => {
  const { ask, post, service } = await open(t);
  const response = await post('{"code":"large","className":"Main","metadata":{"n":1.0,"n":1e400}}');
  t.match(response.headers.get('content-type'), /^application\/json/);
  t.match(response.headers.get('request-id'), /^[0-9a-f]{32}$/);
  const { jobId, ...queued } = (await jsonOf(response)) as unknown as { jobId: string };
  t.same(queued, { status: 'queued', endpoint: 'render' });
  t.equal(response.status, 202);
  await service.wait(jobId);
  const job = await ask(`/api/v2/render/${jobId}`);
  const text = await job.text();
  t.ok(text.includes('"metadata":{"n":1.0,"n":1e400}'), 'metadata byte for byte');
  t.equal(JSON.parse(text).result.video, `https://a.test/r/artifacts/${jobId}/video.mp4`);
  t.same(await jsonOf(await ask('/api/v2/me')), {
    status: 200,
    userId: 'ada',
    keyId: 'k1',
    keyPrefix: 'svc_live_ada',
    credits: await service.balance('ada'),
  });
  const head = await ask(`/api/v2/render/${jobId}`, { method: 'HEAD' });
  t.equal(head.status, 200);
  t.equal(await head.text(), '');
});

t.test('requests without a live key get 401, also for unknown paths', async (t) => {
  const { ask, handle } = await open(t);
  for (const path of [
    '/api/v2/render/x',
    '/api/v2/me',
    '/api/v2/nothing',
    '/api/tools/v1/jobs/x/events',
    '/api/tools/v1/jobs/x/cancel',
    '/api/v2/%zz',
  ]) {
    const response = await ask(path, { token: 'eve' });
    t.equal(response.headers.get('www-authenticate'), 'Bearer');
    t.match(await jsonOf(response), {
      status: 401,
      error: 'Unauthorized',
      message: /key is invalid or missing/,
    });
  }
  t.equal((await handle(new Request('http://localhost/api/v2/me'))).status, 401);
  for (const path of ['/api/v2/nothing', '/api/v2/me/', '/api/v2/render/x/y', '/api/v2/%zz', '/', '/else'])
    t.match(await jsonOf(await ask(path)), { status: 404, error: 'Not Found' }, path);
});

t.test('a key without the scope of a request gets what an invalid key gets', async (t) => {
  const { owner, ...ada } = CALLERS['ada'] as Caller;
  const scoped: Record<string, Caller> = {
    render: { ...ada, owner, scopes: ['render'] },
    read: { ...ada, owner, scopes: ['read'] },
    check: { ...ada, owner, scopes: ['check'] },
    most: { ...ada, owner, scopes: ['check', 'read'] },
    none: { ...ada, owner, scopes: [] },
    all: { ...ada, owner },
  };
  const { ask, post, service } = await open(t, { authenticate: (token) => scoped[token] ?? null });
  const { jobId } = await service.enqueue({ owner, ...VALID });
  await service.wait(jobId);
  const invalid = await ask('/api/v2/me', { token: 'eve' });
  const invalidBody = await invalid.text();
  const expected: [request: string, statuses: Record<string, number>][] = [
    ['POST /api/v2/render', { all: 202, render: 202, read: 401, check: 401, most: 401, none: 401 }],
    [`GET /api/v2/render/${jobId}`, { all: 200, render: 200, read: 200, check: 401, most: 200, none: 401 }],
    [`HEAD /api/v2/render/${jobId}`, { all: 200, render: 200, read: 200, check: 401, most: 200, none: 401 }],
    ['GET /api/v2/render/none', { all: 404, render: 404, read: 404, check: 401, most: 404, none: 401 }],
    ['GET /api/v2/me', { all: 200, render: 200, read: 200, check: 200, most: 200, none: 200 }],
    ['GET /api/v2/nothing', { all: 404, render: 404, read: 404, check: 404, most: 404, none: 404 }],
  ];
  for (const [request, statuses] of expected) {
    const [method = '', path = ''] = request.split(' ');
    for (const [token, status] of Object.entries(statuses)) {
      const jobs = (await service.count()).completed;
      const response = await (path === '/api/v2/render'
        ? post(VALID, { token } as RequestInit)
        : ask(path, { method, token }));
      t.equal(response.status, status, `${request} as ${token}`);
      if (status !== 401) {
        if (status === 202) await service.wait(((await response.json()) as { jobId: string }).jobId);
        else await response.body?.cancel();
        continue;
      }
      t.equal(response.headers.get('www-authenticate'), 'Bearer');
      t.equal(await response.text(), method === 'HEAD' ? '' : invalidBody);
      t.equal((await service.count()).completed, jobs, 'no job was made');
    }
  }
});

t.test('an unread body of a key without the scope is dropped', async (t) => {
  const scopes = ['read'] as const;
  const { post } = await open(t, { authenticate: () => ({ ...(CALLERS['ada'] as Caller), scopes }) });
  let isCanceled = false;
  const cancel = () => {
    isCanceled = true;
  };
  const body = new ReadableStream({ cancel });
  const response = await post('', { body, duplex: 'half' } as RequestInit);
  t.equal(response.status, 401);
  t.ok(isCanceled);
});

t.test('hasScope', async (t) => {
  const ada = CALLERS['ada'] as Caller;
  t.equal(hasScope(ada, 'check'), true, 'a caller without scopes has all');
  t.equal(hasScope({ ...ada, scopes: ['check'] }, 'check'), true);
  t.equal(hasScope({ ...ada, scopes: ['check'] }, 'render'), false);
  t.equal(hasScope({ ...ada, scopes: ['check'] }, 'render', 'check'), true);
  t.equal(hasScope({ ...ada, scopes: [] }, 'render', 'check', 'read'), false);
});

t.test('NUL in a path, which databases refuse, reaches no store', async (t) => {
  const read: string[] = [];
  const get = async (jobId: string) => {
    read.push(jobId);
    throw new ScenepressError('not_found', 'none');
  };
  const { service } = await open(t);
  const { ask } = await open(t, { service: Object.assign(Object.create(service), { get }) });
  for (const path of ['/api/v2/render/a%00', '/artifacts/a%00/video.mp4'])
    t.equal((await ask(path)).status, 404, path);
  t.same(read, ['a%00', 'a%00']);
});

t.test('invalid bodies get the errors of the contract', async (t) => {
  const { post } = await open(t);
  const bodies: [string, string][] = [
    ['', 'JSON body required'],
    ['[]', 'JSON body required'],
    ['{', 'JSON body required'],
    ['{}', 'code is required'],
    ['{"code":"x","className":"1"}', 'className must be a valid Python identifier'],
    ['{"code":"x","className":"A","fps":"30"}', 'fps must be a positive integer'],
    ['{"code":"x","className":"A","else":1}', 'else is not allowed'],
  ];
  for (const [body, error] of bodies) t.match(await jsonOf(await post(body)), { status: 400, error });
  t.match(await jsonOf(await post({ ...VALID, code: 'x'.repeat(210_000) })), { status: 413 });
  const bomb = gzipSync(JSON.stringify({ ...VALID, code: 'x'.repeat(10_000_000) }));
  const encoded = { headers: { authorization: 'Bearer ada', 'content-encoding': 'gzip' } };
  t.match(await jsonOf(await post('', { body: bomb, ...encoded })), { status: 413 });
  const small = gzipSync(JSON.stringify(VALID));
  t.equal((await post('', { body: small, ...encoded })).status, 202);
  t.match(await jsonOf(await post('', { body: small.subarray(0, 20), ...encoded })), {
    status: 400,
    error: 'JSON body required',
  });
});

t.test('a repeated request with an idempotency key returns the first job', async (t) => {
  const { post } = await open(t);
  const headers = { authorization: 'Bearer ada', 'idempotency-key': 'k' };
  const [first, second] = [
    await jsonOf(await post(VALID, { headers })),
    await jsonOf(await post(VALID, { headers })),
  ];
  t.same(first, second);
  t.match(await jsonOf(await post({ ...VALID, fps: 5 }, { headers })), { status: 409, error: 'Conflict' });
});

t.test('a balance below the reserve gets 402', async (t) => {
  const dataFolder = new DataFolder(await temporaryFolder(t));
  const ledger = new StoredLedger({ store: dataFolder.ledgerStore, freeCreditsPerMonth: 0 });
  const { post } = await open(t, {}, { folder: '', dataFolder, ledger });
  t.match(await jsonOf(await post(VALID)), { status: 402, error: 'insufficient_credits' });
});

t.test('jobs of others and their events are 404', async (t) => {
  const { ask, post } = await open(t);
  const { jobId } = (await jsonOf(await post(VALID))) as unknown as { jobId: string };
  for (const path of [`/api/v2/render/${jobId}`, `/api/tools/v1/jobs/${jobId}/events`])
    t.match(await jsonOf(await ask(path, { token: 'bob' })), { status: 404, error: 'Not Found' });
});

t.test('an owner cancels a job; others can’t', async (t) => {
  const { ask, post, service } = await open(t);
  await service.pauseQueue();
  const { jobId } = (await jsonOf(await post(VALID))) as unknown as { jobId: string };
  const cancel = async (token: string, init: RequestInit = {}) =>
    jsonOf(await ask(`/api/tools/v1/jobs/${jobId}/cancel`, { method: 'POST', token, ...init }));
  t.match(await cancel('bob'), { status: 404, error: 'Not Found' });
  t.match(await cancel('eve'), { status: 401 });
  t.match(await cancel('ada', { method: 'GET' }), { status: 404 });
  t.equal((await service.get(jobId)).status, 'queued');
  const canceled = await ask(`/api/tools/v1/jobs/${jobId}/cancel`, { method: 'POST', body: '{}' });
  t.equal(canceled.status, 200);
  const job = await canceled.json();
  t.match(job, { jobId, status: 'failed', error: 'Canceled' });
  t.same(await (await ask(`/api/tools/v1/jobs/${jobId}/cancel`, { method: 'POST' })).json(), job, 'repeated');
  t.match(job, (await (await ask(`/api/v2/render/${jobId}`)).json()) as object);
});

t.test('artifacts are served without a key, with ranges', async (t) => {
  const { handle, post, service } = await open(t);
  const { jobId } = (await jsonOf(await post(VALID))) as unknown as { jobId: string };
  await service.wait(jobId);
  const get = (headers: Record<string, string> = {}, method = 'GET') =>
    handle(new Request(`http://localhost/artifacts/${jobId}/video.mp4`, { headers, method }));
  const whole = await get();
  t.equal(whole.headers.get('content-type'), 'video/mp4');
  t.equal(whole.headers.get('access-control-allow-origin'), '*');
  const sizeBytes = (await whole.bytes()).length;
  t.equal(whole.headers.get('content-length'), String(sizeBytes));
  const part = await get({ range: 'bytes=1-3' });
  t.equal(part.status, 206);
  t.equal(part.headers.get('content-range'), `bytes 1-3/${sizeBytes}`);
  t.equal((await part.bytes()).length, 3);
  const beyond = await get({ range: `bytes=${sizeBytes}-` });
  t.equal(beyond.status, 416);
  t.equal(beyond.headers.get('content-range'), `bytes */${sizeBytes}`);
  const etag = whole.headers.get('etag') ?? '';
  t.equal((await get({ 'if-none-match': etag })).status, 304);
  t.equal((await get({ range: 'bytes=1-3', 'if-range': '"other"' })).status, 200);
  const head = await get({}, 'HEAD');
  t.equal(head.headers.get('content-length'), String(sizeBytes));
  t.equal(await head.text(), '');
  t.equal((await handle(new Request(`http://localhost/artifacts/${jobId}/nothing.mp4`))).status, 404);
});

t.test('events report a job from its current state to its end', async (t) => {
  const { ask, post, service } = await open(t);
  await service.pauseQueue();
  const body = '{"code":"x","className":"A","metadata":{\n"a":\r\n1}}';
  const { jobId } = (await jsonOf(await post(body))) as unknown as { jobId: string };
  const response = await ask(`/api/tools/v1/jobs/${jobId}/events`);
  t.equal(response.headers.get('content-type'), 'text/event-stream');
  await service.resumeQueue();
  const jobs = [...(await response.text()).matchAll(/^event: job\ndata: (.*)$/gm)].map(([, data]) =>
    JSON.parse(data ?? ''),
  );
  t.equal(jobs.at(0).status, 'queued');
  t.match(jobs.at(-1), { jobId, status: 'completed', metadata: { a: 1 } });
});

t.test('a client that leaves ends its events; a stop closes them', async (t) => {
  const { ask, post, service } = await open(t);
  await service.pauseQueue();
  const { jobId } = (await jsonOf(await post(VALID))) as unknown as { jobId: string };
  const reader = (await ask(`/api/tools/v1/jobs/${jobId}/events`)).body?.getReader();
  await reader?.read();
  await reader?.cancel();
  const staying = await ask(`/api/tools/v1/jobs/${jobId}/events`);
  await service.stop();
  t.match(await staying.text(), /"status":"queued"/);
});

t.test('pages of allowed origins may call the API, below a base path', async (t) => {
  const { handle } = await open(t, { corsOrigins: ['https://page.test'], basePath: '/renders' });
  const preflight = (origin: string) =>
    handle(
      new Request('http://localhost/renders/api/v2/render', {
        method: 'OPTIONS',
        headers: { origin, 'access-control-request-method': 'POST' },
      }),
    );
  const allowed = await preflight('https://page.test');
  t.equal(allowed.status, 204);
  t.equal(allowed.headers.get('access-control-allow-origin'), 'https://page.test');
  t.match(allowed.headers.get('access-control-allow-headers'), /Authorization/);
  t.equal((await preflight('https://else.test')).headers.get('access-control-allow-origin'), null);
  t.equal((await handle(new Request('http://localhost/api/v2/me'))).status, 404);
});

t.test('internal errors are logged and show no details', async (t) => {
  const logged: unknown[] = [];
  const { ask } = await open(t, {
    authenticate: () => {
      throw new Error('password=secret');
    },
    logger: { ...silentLogger, error: (fields: object) => void logged.push(fields) },
  });
  const response = await ask('/api/v2/me');
  t.equal(response.status, 500);
  t.notMatch(await response.text(), 'secret');
  t.match(logged, [{ requestId: response.headers.get('request-id'), err: { message: 'password=secret' } }]);
});

t.test(
  'a client that leaves, or asks for the headers of events only, is not followed any more',
  async (t) => {
    const followers = new JobFollowers(new EventEmitter() as JobEvents);
    const job = { jobId: 'j', status: 'running', metadataJson: null, artifacts: [] } as unknown as Job;
    const { ask } = await open(t, {
      service: {
        follow: (jobId, { signal } = {}) => followers.follow(jobId, async () => job, signal),
      } as WebOptions['service'],
    });
    await ask('/api/tools/v1/jobs/j/events', { method: 'HEAD' });
    t.equal(followers.size, 0);
    const response = await ask('/api/tools/v1/jobs/j/events');
    t.equal(followers.size, 1);
    await response.body?.cancel();
    t.equal(followers.size, 0);
    const reader = (await ask('/api/tools/v1/jobs/j/events')).body?.getReader();
    await reader?.read();
    void reader?.read();
    await reader?.cancel();
    t.equal(followers.size, 0);
  },
);

t.test('a status of another server, such as that of a ledger, is not that of the request', async (t) => {
  const authenticate = () => Promise.reject(Object.assign(new Error('no such tenant'), { status: 404 }));
  const { ask } = await open(t, { authenticate });
  const response = await ask('/api/v2/me');
  t.equal(response.status, 500);
  t.notMatch(await response.text(), /tenant/);
});
