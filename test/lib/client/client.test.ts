import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { type ApiError, type ClientOptions, ScenepressClient } from '../../../lib/client/index.ts';
import { serverSentEvents } from '../../../lib/client/server-sent-events.ts';
import { systemClock } from '../../../lib/time/clock.ts';
import { webHandler } from '../../../lib/web/index.ts';
import { instantService } from '../../fixtures/instant-service.ts';

const TIMEOUT_MS = 30_000;
const VALID = { code: 'large', className: 'Main' };

/** A clock whose delays pass at once; `delays` has their lengths. */
function quickClock() {
  const delays: number[] = [];
  const after = (ms: number, work: () => void) => {
    if (ms === TIMEOUT_MS) return systemClock.after(ms, work);
    delays.push(ms);
    return systemClock.after(0, work);
  };
  return { clock: { ...systemClock, after }, delays };
}

function clientOf(
  fetch: (request: Request) => Promise<Response> | Response,
  more: Partial<ClientOptions> = {},
) {
  const { clock, delays } = quickClock();
  const client = new ScenepressClient({
    url: 'http://a.test/r/',
    key: 'ada',
    fetch: async (url, init) => fetch(new Request(url as string, init)),
    clock,
    ...more,
  });
  return { client, delays };
}

/** A client of a service whose renders take no time. */
async function open(t: Test) {
  const service = await instantService(t);
  const handle = webHandler({
    service,
    authenticate: (token) =>
      token === 'ada' ? { owner: 'ada', keyId: 'k', keyPrefix: 'svc', webhookUrl: null } : null,
    assetUrl: 'http://a.test/r',
    basePath: '/r',
  });
  const requests: Request[] = [];
  const fetch = (request: Request) => {
    requests.push(request);
    return handle(request);
  };
  return { service, handle, requests, ...clientOf(fetch) };
}

const error = (status: number, headers: Record<string, string> = {}) =>
  new Response(JSON.stringify({ error: 'Service Unavailable', message: 'later' }), { status, headers });

t.test('renders, downloads and returns the account', async (t) => {
  const { client, requests } = await open(t);
  const job = await client.render({ ...VALID, metadata: { lesson: 7 } });
  t.match(job, { status: 'completed', metadata: { lesson: 7 } });
  const video = await client.download(job, 'video');
  t.equal(video.headers.get('content-type'), 'video/mp4');
  t.equal((await video.bytes()).length, 4 * 1024 * 1024);
  const part = await client.download(job, 'video', { range: { start: 0, end: 9 } });
  t.equal((await part.bytes()).length, 10);
  t.notOk(requests.at(-1)?.headers.has('authorization'), 'links may lead to another server');
  await t.rejects(client.download(job, 'captions'), TypeError);
  t.match(await client.account(), { userId: 'ada', keyId: 'k' });
});

t.test('keeps files, which jobs use', async (t) => {
  const { client, service } = await open(t);
  const one = await client.files.put('a/one.txt', 'one');
  const two = await client.files.put('two.txt', new Blob(['two']));
  t.match(two, { name: 'two.txt', kind: 'data', sizeBytes: 3 });
  t.match(await client.files.list({ limit: 1 }), { files: [one], next: 'a/one.txt', usage: { files: 2 } });
  t.match(await client.files.list({ cursor: 'a/one.txt' }), { files: [two], next: null });
  t.match(await client.files.list({ folder: 'a' }), { files: [one] });
  t.match(await client.files.list({ search: 'TWO' }), { files: [two] });
  t.match(await client.files.rename(two.fileId, '2.txt'), { fileId: two.fileId, name: '2.txt' });
  t.same(await client.files.get(one.fileId), one);
  t.equal(await (await client.files.download(one.fileId)).text(), 'one');
  const [job] = await client.enqueueMany([{ ...VALID, files: { 'b.txt': one.fileId } }]);
  const { jobId = '' } = job ?? {};
  t.same((await client.details(jobId)).files, { 'b.txt': one.fileId });
  t.equal((await client.check('x', { className: 'Main', files: {} })).ok, true);
  await client.files.remove(one.fileId);
  await t.rejects(client.files.get(one.fileId), { name: 'ApiError', message: /404|no such file/ });
  await t.rejects(client.files.put('a.exe', 'x'), { name: 'ApiError', message: /no kind that scenes use/ });
  t.same((await service.filesOf(jobId)).files, [{ name: 'b.txt', fileId: one.fileId }]);
});

t.test('sends contents of files with a request', async (t) => {
  const { client, service, requests } = await open(t);
  const kept = await client.files.put('kept.txt', 'kept');
  const files = {
    'a/ä.txt': new Blob(['one']),
    'b.txt': new TextEncoder().encode('two'),
    'c.txt': kept.fileId,
  };
  const job = await client.render({ ...VALID, metadata: { n: 1 }, title: 'With files', files });
  t.match(job, { status: 'completed', metadata: { n: 1 }, title: 'With files' });
  t.match(requests.at(-2)?.headers.get('content-type'), /^multipart\/form-data; boundary=/);
  const used = (await client.details(job.jobId)).files;
  t.match(used, { 'a/ä.txt': /^f/, 'b.txt': /^f/, 'c.txt': kept.fileId });
  t.same(await client.files.list(), { ...(await client.files.list()), files: [kept] });
  const again = await client.renderAgain(job.jobId);
  t.same((await client.details(again.jobId)).files, used);
  const other = await client.renderAgain(job.jobId, { files: { 'd.txt': new Blob(['x']) } });
  t.match(Object.keys((await client.details(other.jobId)).files), ['d.txt']);
  t.equal((await client.check('x', { className: 'Main', files })).ok, true);
  t.equal((await client.checkMany(['x'], { className: 'Main', files })).length, 1);
  const hostile = { ...VALID, files: { '../a.txt': new Blob(['x']) } };
  await t.rejects(client.enqueue(hostile), { name: 'ApiError', status: 400, message: /no name of a file/ });
  t.match(await service.files.usage('ada'), { files: 1, bytes: 11 }, 'a check leaves nothing');
});

t.test('follows a job by its events', async (t) => {
  const { client, service } = await open(t);
  await service.pauseQueue();
  const { jobId } = await client.enqueue(VALID);
  const states: string[] = [];
  for await (const event of client.follow(jobId)) {
    if (event.type !== 'job') continue;
    states.push(event.job.status);
    if (event.job.status === 'queued') await service.resumeQueue();
  }
  t.equal(states[0], 'queued');
  t.equal(states.at(-1), 'completed');
  await t.rejects(client.follow('nothing').next(), { name: 'ApiError', status: 404, code: 'Not Found' });
});

t.test('cancels a job', async (t) => {
  const { client, service } = await open(t);
  await service.pauseQueue();
  const { jobId } = await client.enqueue(VALID);
  t.match(await client.cancel(jobId), { jobId, status: 'failed', error: 'Canceled' });
  await t.rejects(client.cancel('nothing'), { name: 'ApiError', status: 404 });
});

t.test('follows by polling where there are no events, with growing pauses', async (t) => {
  const statuses = ['queued', 'queued', 'queued', 'running', 'running', 'completed'];
  const { client, delays } = clientOf(({ url }) =>
    url.includes('/tools/') ? error(404) : Response.json({ jobId: 'j', status: statuses.shift() }),
  );
  const seen: string[] = [];
  for await (const event of client.follow('j')) if (event.type === 'job') seen.push(event.job.status);
  t.same(seen, ['queued', 'running', 'completed']);
  t.same(delays, [500, 750, 1125, 1687.5, 2531.25]);
});

t.test('a lost connection is made again', async (t) => {
  const streams = ['event: job\ndata: {"status":"queued"}\n\n', 'event: job\ndata: {"status":"failed"}\n\n'];
  const headers = { 'content-type': 'text/event-stream' };
  const { client } = clientOf(() => new Response(streams.shift(), { headers }));
  const seen: unknown[] = [];
  for await (const event of client.follow('j')) seen.push(event);
  t.match(seen, [{ job: { status: 'queued' } }, { job: { status: 'failed' } }]);
});

t.test('network errors, 429 and 5xx are repeated with one idempotency key', async (t) => {
  const keys = new Set<string | null>();
  const answers = [
    () => Promise.reject(new TypeError('fetch failed')),
    () => error(503, { 'retry-after': '7' }),
    () => error(429),
    () => Response.json({ jobId: 'j', status: 'queued', endpoint: 'render' }, { status: 202 }),
  ];
  const { client, delays } = clientOf((request) => {
    keys.add(request.headers.get('idempotency-key'));
    return answers.shift()?.() ?? error(500);
  });
  t.match(await client.enqueue(VALID), { jobId: 'j' });
  t.same(delays, [1000, 7000, 4000]);
  t.equal(keys.size, 1);
  t.match([...keys][0], /^[0-9a-f]{32}$/);
});

t.test('other errors are not repeated; the last of five attempts fails', async (t) => {
  const { client, handle } = await open(t);
  await t.rejects(client.enqueue({ code: '', className: 'A' }), { status: 400, code: 'code is required' });
  t.match(await client.get('x').catch((error: ApiError) => error.requestId), /^[0-9a-f]{32}$/);
  const wrong = clientOf(handle, { key: async () => 'eve' });
  await t.rejects(wrong.client.account(), { status: 401, code: 'Unauthorized' });
  t.same(wrong.delays, []);
  const failing = clientOf(() => error(503));
  await t.rejects(failing.client.account(), { status: 503, message: 'later' });
  t.same(failing.delays, [1000, 2000, 4000, 8000]);
  const hour = clientOf(() => error(429, { 'retry-after': '3600' }));
  t.match(await hour.client.account().catch((error: ApiError) => error), {
    status: 429,
    retryAfterMs: 3_600_000,
  });
  const html = clientOf(
    () => new Response('<h1>Bad Gateway</h1>', { status: 404, statusText: 'Gone Fishing' }),
  );
  await t.rejects(html.client.account(), { status: 404, code: 'Gone Fishing' });
});

t.test('a signal ends waits and requests', async (t) => {
  const giveUp = new AbortController();
  const { signal } = giveUp;
  let polls = 0;
  const { client } = clientOf(() => {
    polls += 1;
    if (polls === 3) giveUp.abort();
    return Response.json({ jobId: 'j', status: 'queued' });
  });
  await t.rejects(client.wait('j', { signal }), { name: 'AbortError' });
  t.equal(polls, 3);
  await t.rejects(client.account({ signal }), { name: 'AbortError' });
  t.equal(polls, 3);
});

t.test('a server that does not answer is a time-out', async (t) => {
  const never = new ScenepressClient({
    url: 'http://a.test',
    key: 'k',
    attempts: 1,
    timeoutMs: 1,
    fetch: (_, init) =>
      new Promise((_resolve, reject) =>
        init?.signal?.addEventListener('abort', () => reject(init.signal?.reason)),
      ),
  });
  await t.rejects(never.account(), { name: 'TimeoutError' });
});

t.test('events may be split anywhere', async (t) => {
  const text = ': keep alive\r\n\r\nevent: a\ndata: 1\ndata: 2\n\n\ndata:ü\r\n\r\nevent: lost\ndata: x';
  const bytes = new TextEncoder().encode(text);
  for (const size of [1, 2, 7, 100]) {
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        for (let at = 0; at < bytes.length; at += size) controller.enqueue(bytes.slice(at, at + size));
        controller.close();
      },
    });
    const events = [];
    for await (const event of serverSentEvents(body)) events.push(event);
    t.same(events, [
      { event: 'a', data: '1\n2' },
      { event: 'message', data: 'ü' },
    ]);
  }
});

t.test('the client imports no Node modules', async (t) => {
  const lib = join(import.meta.dirname, '../../../lib');
  const files = readdirSync(join(lib, 'client')).map((name) => join('client', name));
  for (const file of [...files, 'time/clock.ts'])
    t.notMatch(readFileSync(join(lib, file), 'utf8'), /from '(node:|[^.])/, file);
});

t.test('keeps scenes, saves and renders them, and reads versions and drafts', async (t) => {
  const { client, service } = await open(t);
  const { scenes } = client;
  const { sceneId } = await scenes.create({ name: 'Intro', ...VALID, settings: { quality: 'low' } });
  t.match(await scenes.save(sceneId, { revision: 1, code: 'y' }), { revision: 2, code: 'y' });
  await t.rejects(scenes.save(sceneId, { revision: 1, code: 'z' }), {
    status: 409,
    message: /saved elsewhere/,
  });
  const { job } = await scenes.render(sceneId, { revision: 2, changes: { quality: 'high' } });
  await client.wait(job.jobId);
  t.match(await scenes.versions(sceneId, { limit: 5 }), { versions: [{ state: 'completed' }], next: null });
  t.match(await scenes.version(sceneId, 1), { code: 'y', revision: null, job: { quality: 'high' } });
  t.match(await scenes.drafts(sceneId), [{ revision: 2 }, { revision: 1 }]);
  t.match(await scenes.draft(sceneId, 1), { code: VALID.code });
  t.match(await scenes.restore(sceneId, { revision: 2, draft: 1 }), { revision: 3, code: VALID.code });
  t.match(await scenes.rename(sceneId, 'Outro'), { name: 'Outro' });
  const copy = await scenes.duplicate(sceneId, { name: 'Copy' });
  t.match(await scenes.list({ limit: 1 }), {
    scenes: [{ name: 'Copy' }],
    next: String,
    usage: { scenes: 2 },
  });
  t.ok((await (await scenes.archive()).bytes()).length > 100);
  await scenes.remove(copy.sceneId, { forgetJobs: true });
  await t.rejects(scenes.get(copy.sceneId), { name: 'ApiError', message: /no such scene/ });
  t.match(await service.scenes.get(sceneId), { owner: 'ada', name: 'Outro' });
});
