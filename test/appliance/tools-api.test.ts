// The tools API through both doors: any server with Request and Response, and hapi.

import { gzipSync } from 'node:zlib';
import { server as createHapi } from '@hapi/hapi';
import { Validator } from '@seriousme/openapi-schema-validator';
import t, { type Test } from 'tap';
import { toolsApi } from '../../appliance/http/render-api.ts';
import type { RenderService } from '../../lib/index.ts';
import { JOB_FORMATS } from '../../lib/model/formats.ts';
import { type Caller, webHandler } from '../../lib/web/index.ts';
import { toolsDocument } from '../../lib/web/tools/document.ts';
import { routeOf, TOOL_ROUTES } from '../../lib/web/tools/routes.ts';
import { instantService } from '../fixtures/instant-service.ts';
import { answerSchema, type Document, violations } from './json-schema.ts';

const plain = JSON.parse(JSON.stringify(toolsDocument('https://a.test'))) as Record<string, unknown>;
const document = plain as unknown as Document;
const SCENE = { code: 'x', className: 'Main' };
const one = (owner: string, scopes?: Caller['scopes']): Caller => ({
  ...{ owner, keyId: `key of ${owner}`, keyPrefix: 'svc_live_', webhookUrl: null },
  ...(scopes && { scopes }),
});
const CALLERS: Record<string, Caller> = {
  ada: one('ada'),
  bob: one('bob'),
  render: one('ada', ['render']),
  check: one('ada', ['check']),
  read: one('ada', ['read']),
};
interface Answer {
  jobId: string;
  next: string | null;
  jobs: { jobId: string }[];
  results: object[];
}
type Ask = (request: string, init?: RequestInit & { token?: string; json?: unknown }) => Promise<Response>;

/** Asks, and compares each JSON response with the document. */
function checked(t: Test, fetchIt: (path: string, init: RequestInit) => Promise<Response>): Ask {
  return async (request, { token = 'ada', json, headers, ...init } = {}) => {
    const [method = '', path = ''] = request.split(' ');
    const response = await fetchIt(`/api/tools/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, ...headers },
      ...(json !== undefined && { body: JSON.stringify(json) }),
      ...init,
    });
    const segments = `api/tools/v1${path.replace(/\?.*/, '')}`.split('/');
    const route = routeOf(method, segments)?.route;
    const isJson = response.headers.get('content-type')?.startsWith('application/json');
    if (route && isJson && method !== 'HEAD') {
      const schema = answerSchema(document, route.method.toLowerCase(), route.path, response.status);
      t.same(violations(schema, await response.clone().json()), [], request);
    }
    return response;
  };
}

const DOORS: Record<string, (t: Test, service: RenderService) => Promise<Ask>> = {
  async web(t, service) {
    const handle = webHandler({
      service,
      authenticate: (token) => CALLERS[token] ?? null,
      assetUrl: 'https://a.test',
    });
    return checked(t, (path, init) => handle(new Request(`http://localhost${path}`, init)));
  },
  async hapi(t, service) {
    const server = createHapi({ port: 0, compression: false });
    await server.register({
      plugin: toolsApi,
      options: {
        service,
        authenticate: (token: string) => CALLERS[token] ?? null,
        assetUrl: 'https://a.test',
      },
    });
    await server.start();
    t.teardown(() => server.stop({ timeout: 1000 }));
    return checked(t, (path, init) => fetch(`${server.info.uri}${path}`, init));
  },
};

t.test('the document is valid, and describes each route once', async (t) => {
  const { valid, errors } = await new Validator().validate(plain);
  t.ok(valid, JSON.stringify(errors));
  const ids = TOOL_ROUTES.map(({ operationId }) => operationId);
  t.equal(new Set(ids).size, ids.length);
  // A parameter has a member of this name.
  t.notMatch(JSON.stringify(document), /"default":(?!\{"description":"Its value where)/);
});

t.test('the document names an object that others contain, instead of repeating it', (t) => {
  const { schemas } = document.components;
  const named = (name: string) => ({ $ref: `#/components/schemas/${name}` });
  t.match(schemas['JobPage'], { properties: { jobs: { items: named('ToolJob') } } });
  t.match(schemas['BatchRequest'], { properties: { jobs: { items: named('JobRequest') } } });
  t.match(schemas['ToolJob'], { properties: { diagnosis: { anyOf: [named('Finding'), { type: 'null' }] } } });
  t.match(schemas['InspectedSource'], { properties: { findings: { items: named('Finding') } } });
  t.strictSame(schemas['CheckResponse'], { anyOf: [named('CheckedSource'), named('CheckedSources')] });
  t.end();
});

for (const [door, open] of Object.entries(DOORS))
  t.test(door, async (t) => {
    const service = await instantService(t);
    const ask = await open(t, service);
    const jsonOf = async (response: Response) => (await response.json()) as Answer;
    const added = async (more: object = {}) =>
      jsonOf(await ask('POST /jobs', { json: { ...SCENE, ...more } }));

    t.test('serves its document without a key', async (t) => {
      const response = await ask('GET /openapi.json', { token: 'eve' });
      t.equal(response.status, 200);
      t.match(await response.json(), { info: { title: 'Scenepress tools API' } });
    });

    t.test('checks one source or several', async (t) => {
      const bad = { ok: false, findings: [{ kind: 'scene:error', severity: 'error', message: /oh/ }] };
      const json = { code: 'fail: oh', className: 'A' };
      t.match(await jsonOf(await ask('POST /check', { json })), bad);
      const several = { codes: ['fail: oh', 'fail: oh, no'], className: 'A' };
      const { results } = await jsonOf(await ask('POST /check', { json: several }));
      t.match(results, [bad, { ok: false, findings: [{ message: /oh, no/ }] }]);
      for (const json of [{}, { code: 'x', codes: ['x'] }, { codes: [] }, { code: 'x', className: 7 }])
        t.equal((await ask('POST /check', { json })).status, 400);
    });

    t.test('names a member that one of several requests must not have', async (t) => {
      const answer = await ask('POST /jobs/batch', { json: { jobs: [SCENE, { ...SCENE, nothing: 1 }] } });
      t.equal(answer.status, 400);
      t.match(await answer.json(), { error: /jobs\.1.*nothing/ });
    });

    t.test('adds a job with fields that the contract does not have', async (t) => {
      const body =
        '{"code":"x","className":"Main","title":"Ferns","tags":["a"],"seed":7,"params":{"n":[1]},"audio":[{"file":"a.wav","atCue":"x"}],"metadata":{"n":1.0}}';
      const response = await ask('POST /jobs', { body });
      t.equal(response.status, 202);
      const text = await response.text();
      t.match(text, '"metadata":{"n":1.0}');
      t.match(JSON.parse(text), {
        title: 'Ferns',
        tags: ['a'],
        seed: 7,
        params: { n: [1] },
        audio: [{ file: 'a.wav', atCue: 'x' }],
        status: 'queued',
      });
      t.equal(JSON.parse(text).failure, null);
      for (const json of [
        {},
        { code: 'x' },
        { ...SCENE, tilte: 'a' },
        { ...SCENE, seed: -1 },
        { ...SCENE, params: [] },
        { ...SCENE, audio: [{ file: 'a.wav' }] },
        { ...SCENE, params: { 'a b': 1 } },
        { ...SCENE, fps: 0 },
      ])
        t.equal((await ask('POST /jobs', { json })).status, 400);
      t.equal((await ask('POST /jobs', { body: '{' })).status, 400);
      t.equal((await ask('POST /jobs', { body: `{"code":"${'x'.repeat(1 << 20)}"}` })).status, 413);
    });

    t.test('adds a job with formats, of which the contract knows nothing', async (t) => {
      const json = { ...SCENE, formats: ['gif', 'transparent-png'] };
      const added = await ask('POST /jobs', { json, headers: { prefer: 'wait=30' } });
      const { result, formats } = (await added.json()) as { result: object; formats: string[] };
      t.strictSame(formats, ['mp4', 'gif', 'transparent-png']);
      t.strictSame(Object.keys(result), ['video', 'thumbnail', 'gif', 'transparentFrames']);
      const unknown = await ask('POST /jobs', { json: { ...SCENE, formats: ['avi'] } });
      t.equal(unknown.status, 400);
      t.match(await unknown.text(), /formats\[0\] must be one of \[mp4, srt, gif, .*mov.*\], not 'avi'/);
      const many = await ask('POST /jobs', { json: { ...SCENE, formats: JOB_FORMATS.slice(0, 8) } });
      t.equal(many.status, 400);
      t.match(await many.text(), /formats must contain less than or equal to 7 items/);
    });

    t.test('adds a job of some plays, with stills', async (t) => {
      const json = { ...SCENE, fromPlay: 2, stills: ['last', { play: 2 }], poster: 0.5 };
      const added = await ask('POST /jobs', { json, headers: { prefer: 'wait=30' } });
      const { result, jobId, ...job } = (await added.json()) as { result: object; jobId: string };
      t.match(job, {
        fromPlay: 2,
        toPlay: null,
        stills: json.stills,
        poster: 0.5,
        formats: ['mp4', 'stills'],
      });
      t.strictSame(Object.keys(result), ['video', 'thumbnail', 'still1', 'still2']);
      const whole = await ask(`POST /jobs/${jobId}/again`, { json: { fromPlay: null, stills: null } });
      t.match(await whole.json(), { fromPlay: null, stills: [], poster: 0.5, formats: ['mp4'] });
      for (const more of [{ fromPlay: '2' }, { fromPlay: 3, toPlay: 1 }, { stills: ['first'] }])
        t.equal((await ask('POST /jobs', { json: { ...SCENE, ...more } })).status, 400);
    });

    t.test('waits for a job as long as it is asked to', async (t) => {
      const preferred = await ask('POST /jobs', {
        json: SCENE,
        headers: { prefer: 'respond-async, wait=30' },
      });
      t.equal(preferred.status, 200);
      t.equal(preferred.headers.get('preference-applied'), 'wait=30');
      t.match(await preferred.json(), { status: 'completed', result: { video: /^https:\/\/a\.test\// } });
      await service.pauseQueue();
      const { jobId } = await added();
      const waiting = await ask(`GET /jobs/${jobId}/wait?seconds=0.05`);
      t.equal(waiting.status, 202);
      t.match(await waiting.json(), { jobId, status: 'queued', progress: null });
      const ended = ask(`GET /jobs/${jobId}/wait`);
      await service.resumeQueue();
      t.equal((await ended).status, 200);
      t.equal((await ask(`GET /jobs/${jobId}/wait?seconds=61`)).status, 400);
      t.equal((await ask('GET /jobs/none/wait')).status, 404);
    });

    t.test('adds a batch once, or nothing', async (t) => {
      const batch = { jobs: [SCENE, { ...SCENE, title: 'second' }] };
      const headers = { 'idempotency-key': 'batch' };
      const first = await ask('POST /jobs/batch', { json: batch, headers });
      t.equal(first.status, 202);
      const { jobs } = (await first.json()) as { jobs: { jobId: string }[] };
      const again = await jsonOf(await ask('POST /jobs/batch', { json: batch, headers }));
      t.same(
        again.jobs.map(({ jobId }) => jobId),
        jobs.map(({ jobId }) => jobId),
      );
      t.equal((await ask('POST /jobs/batch', { json: { jobs: [SCENE] }, headers })).status, 409);
      const before = (await service.list({ limit: 500 })).length;
      for (const wrong of [
        [],
        [SCENE, {}],
        [SCENE, { ...SCENE, className: '1' }],
        [{ ...SCENE, code: 'x'.repeat(204_800) }],
      ])
        t.equal((await ask('POST /jobs/batch', { json: { jobs: wrong } })).status, 400);
      t.equal((await service.list({ limit: 500 })).length, before);
    });

    t.test('lists jobs page by page, shows one, renders it again and forgets it', async (t) => {
      await service.forgetAll('bob');
      const token = 'bob';
      const ids: string[] = [];
      for (const title of ['a', 'b', 'c']) {
        const { jobId } = await jsonOf(await ask('POST /jobs', { token, json: { ...SCENE, title } }));
        ids.unshift(jobId);
        await service.wait(jobId);
      }
      const page = await jsonOf(await ask('GET /jobs?limit=2&status=completed', { token }));
      t.match(page, { jobs: [{ jobId: ids[0] }, { jobId: ids[1] }], next: ids[1] });
      const rest = await jsonOf(
        await ask(`GET /jobs?limit=2&status=completed&cursor=${page.next}`, { token }),
      );
      t.match(rest, { jobs: [{ jobId: ids[2] }], next: null });
      t.equal((await ask('GET /jobs?limit=0', { token })).status, 400);
      t.equal((await ask('GET /jobs?surprise=1', { token })).status, 400);
      t.equal((await ask('GET /jobs?since=yesterday', { token })).status, 400);
      t.match(await jsonOf(await ask('GET /jobs?since=2999-01-01', { token })), { jobs: [], next: null });
      t.match(await jsonOf(await ask(`GET /jobs/${ids[0]}`, { token })), {
        title: 'c',
        plays: Array,
        output: String,
      });
      const again = await ask(`POST /jobs/${ids[0]}/again`, { token, json: { title: 'd', quality: 'high' } });
      t.equal(again.status, 202);
      t.match(await again.json(), { title: 'd', quality: 'high' });
      t.equal((await ask(`POST /jobs/${ids[0]}/again`, { token })).status, 202, 'without a body');
      t.equal((await ask(`DELETE /jobs/${ids[0]}`, { token })).status, 204);
      t.match(await jsonOf(await ask(`GET /jobs/${ids[0]}`, { token })), { title: null });
    });

    t.test('cancels a job, which has a failure for programs', async (t) => {
      await service.pauseQueue();
      const { jobId } = await added();
      t.equal((await ask(`DELETE /jobs/${jobId}`)).status, 409);
      const canceled = await jsonOf(await ask(`POST /jobs/${jobId}/cancel`));
      t.match(canceled, { status: 'failed', error: 'Canceled', failure: { kind: 'canceled' } });
      await service.resumeQueue();
      const { jobId: failing } = await added({ code: 'fail: oh' });
      const failed = await jsonOf(await ask(`GET /jobs/${failing}/wait`));
      t.match(failed, { status: 'failed', failure: { kind: 'scene' }, diagnosis: { message: /oh/ } });
    });

    t.test('sends the events of a job, and resumes them', async (t) => {
      await service.pauseQueue();
      const { jobId } = await added();
      const left = new AbortController();
      const first = await ask(`GET /jobs/${jobId}/events`, { signal: left.signal });
      t.match(first.headers.get('content-type'), /^text\/event-stream/);
      const reader = first.body?.pipeThrough(new TextDecoderStream()).getReader();
      const { value = '' } = (await reader?.read()) ?? {};
      t.match(value, /^id: queued-0\nevent: job\ndata: \{"jobId"/);
      left.abort();
      await reader?.cancel().catch(() => {});
      const rest = ask(`GET /jobs/${jobId}/events`, { headers: { 'last-event-id': 'queued-0' } });
      await service.resumeQueue();
      const text = await (await rest).text();
      t.notMatch(text, 'id: queued-0');
      t.match(text, 'id: completed-1');
    });

    t.test('sends the events of all jobs of the account, and resumes them', async (t) => {
      const left = new AbortController();
      const stream = await ask('GET /events', { signal: left.signal });
      const reader = stream.body?.pipeThrough(new TextDecoderStream()).getReader();
      let seen = '';
      const until = async (wanted: RegExp) => {
        while (!wanted.test(seen)) seen += (await reader?.read())?.value ?? '';
      };
      await until(/event: open/);
      await service.wait((await service.enqueue({ ...SCENE, owner: 'bob' })).jobId);
      const { jobId } = await added();
      await until(new RegExp(`"jobId":"${jobId}".*"status":"completed"`));
      t.notMatch(seen, /"owner":"bob"/);
      left.abort();
      await reader?.cancel().catch(() => {});
      const again = await ask('GET /events', { headers: { 'last-event-id': String(Date.now()) } });
      const next = again.body?.pipeThrough(new TextDecoderStream()).getReader();
      seen = '';
      while (!seen.includes(jobId)) seen += (await next?.read())?.value ?? '';
      await next?.cancel();
    });

    t.test('keeps files, which jobs use', async (t) => {
      const put = (
        name: string,
        body: NonNullable<RequestInit['body']>,
        headers: Record<string, string> = {},
      ) => ask(`POST /files?name=${encodeURIComponent(name)}`, { body, headers });
      const kept = await put('voices/intro.txt', 'hello');
      t.equal(kept.status, 201);
      const file = (await kept.json()) as { fileId: string };
      t.match(file, { name: 'voices/intro.txt', kind: 'data', sizeBytes: 5 });
      t.notOk('owner' in file);
      t.same(await (await put('voices/intro.txt', 'hello')).json(), file, 'it may be repeated');
      const zipped = await put('large.txt', gzipSync('x'.repeat(1_000_000)), { 'content-encoding': 'gzip' });
      t.match(await zipped.json(), { sizeBytes: 1_000_000 });
      t.equal((await put('a.txt', 'no gzip', { 'content-encoding': 'gzip' })).status, 400);
      for (const name of ['', '../a.txt', 'a.exe']) t.equal((await put(name, 'x')).status, 400, name);
      t.equal((await put('a.png', 'x')).status, 400);
      t.equal((await ask('POST /files', { body: 'x' })).status, 400);
      // Nothing is wrong with the connection afterwards.
      t.equal((await put('b.txt', 'x'.repeat(3_000_000))).status, 201);

      const page = await (await ask('GET /files?limit=2')).json();
      t.match(page, {
        files: [{ name: 'b.txt' }, { name: 'large.txt' }],
        next: 'large.txt',
        usage: { files: 3, bytes: 4_000_005, mostFiles: 5_000 },
      });
      t.match(await (await ask('GET /files?limit=2&cursor=large.txt')).json(), { files: [file], next: null });
      t.match(await (await ask('GET /files?folder=voices')).json(), { files: [file] });
      t.match(await (await ask('GET /files?search=INTRO')).json(), { files: [file], next: null });
      t.same(await (await ask(`GET /files/${file.fileId}`)).json(), file);
      const rename = (name: unknown, token = 'ada') =>
        ask(`POST /files/${file.fileId}/rename`, { token, json: { name } });
      t.equal((await rename('a.txt', 'bob')).status, 404);
      t.equal((await rename('b.txt')).status, 409);
      for (const name of ['a.png', '../a.txt', 7]) t.equal((await rename(name)).status, 400);
      t.match(await (await rename('renamed.txt')).json(), { ...file, name: 'renamed.txt' });
      t.same(await (await rename('voices/intro.txt')).json(), file);
      const content = await ask(`GET /files/${file.fileId}/content`);
      t.equal(await content.text(), 'hello');
      t.match(Object.fromEntries(content.headers), {
        'content-type': 'application/octet-stream',
        'content-disposition': "attachment; filename*=UTF-8''intro.txt",
        'content-security-policy': /sandbox/,
        'x-content-type-options': 'nosniff',
      });

      const filesOf = async (jobId: string) =>
        ((await (await ask(`GET /jobs/${jobId}`)).json()) as { files: object }).files;
      const { jobId } = await added({ files: { 'speech.txt': file.fileId } });
      t.same(await filesOf(jobId), { 'speech.txt': file.fileId });
      t.match(await filesOf((await added()).jobId), { 'voices/intro.txt': file.fileId });
      t.equal((await ask('POST /jobs', { json: { ...SCENE, files: { 'a.txt': 'f0' } } })).status, 404);
      t.equal((await ask('POST /jobs', { json: { ...SCENE, files: [] } })).status, 400);
      for (const path of ['', '/content'])
        t.equal((await ask(`GET /files/${file.fileId}${path}`, { token: 'bob' })).status, 404);
      t.equal((await ask(`DELETE /files/${file.fileId}`, { token: 'bob' })).status, 404);
      t.equal((await ask(`DELETE /files/${file.fileId}`)).status, 204);
      t.equal((await ask(`GET /files/${file.fileId}`)).status, 404);
      t.equal((await ask(`POST /jobs/${jobId}/again`, { json: {} })).status, 202);
    });

    t.test('tells what the key may do', async (t) => {
      const scopes = ['render', 'check', 'read'];
      t.same(await jsonOf(await ask('GET /key')), { keyId: 'key of ada', keyPrefix: 'svc_live_', scopes });
      for (const token of scopes)
        t.match(await jsonOf(await ask('GET /key', { token })), { scopes: [token] });
    });

    t.test('sums the usage', async (t) => {
      const { days } = (await jsonOf(await ask('GET /usage'))) as unknown as { days: object[] };
      t.match(days, [{ keyId: 'key of ada', failures: { canceled: Number, scene: Number } }]);
    });

    t.test('scenes are kept, saved with their revision, rendered and restored', async (t) => {
      type Body = { sceneId: string; revision: number } & Record<string, unknown>;
      const asked = async (request: string, init?: Parameters<Ask>[1]) =>
        (await (await ask(request, init)).json()) as Body;
      const json = { name: 'Intro', code: 'x', className: 'Main', settings: { quality: 'low' } };
      const created = await ask('POST /scenes', { json });
      t.match([created.status, created.headers.get('etag')], [201, '"1"']);
      const { sceneId } = (await created.json()) as Body;
      const path = `/scenes/${sceneId}`;
      t.match(await asked(`POST ${path}/save`, { json: { revision: 1, code: 'y' } }), { revision: 2 });
      const late = await ask(`POST ${path}/save`, { json: { code: 'z' }, headers: { 'if-match': '"1"' } });
      t.equal(late.status, 409);
      t.match(await late.json(), { message: /saved elsewhere/, scene: { revision: 2, code: 'y' } });
      t.equal((await ask(`POST ${path}/save`, { json: { code: 'z' } })).status, 400);
      const given = { json: { code: 'z' }, headers: { 'if-match': '"2"' } };
      t.match(await asked(`POST ${path}/save`, given), { revision: 3, code: 'z', className: 'Main' });

      const rendered = await ask(`POST ${path}/render`, { json: { revision: 3, metadata: { n: 1 } } });
      t.equal(rendered.status, 202);
      const { job } = (await rendered.json()) as { job: { jobId: string } };
      t.match(job, { title: 'Intro', quality: 'low', metadata: { n: 1 } });
      await service.wait(job.jobId);
      t.equal((await ask(`POST ${path}/render`, { json: { revision: 2 } })).status, 409);
      t.match(await asked(`GET ${path}/versions?limit=1`), {
        versions: [{ version: 1, state: 'completed', job: { result: { video: /^https:/ } } }],
        next: 1,
      });
      t.match(await asked(`GET ${path}/versions?cursor=1`), { versions: [], next: null });
      t.match(await asked(`GET ${path}/versions/1`), { code: 'z', revision: 3 });
      await asked(`POST ${path}/save`, { json: { revision: 3, code: 'worse' } });
      t.match(await asked(`POST ${path}/restore`, { json: { revision: 4, version: 1 } }), { code: 'z' });
      t.equal((await ask(`POST ${path}/restore`, { json: { revision: 5 } })).status, 400);
      t.match(await asked(`GET ${path}/drafts`), {
        drafts: [{ revision: 5 }, { revision: 4 }, { revision: 1 }],
      });
      t.match(await asked(`GET ${path}/drafts/1`), { code: 'x' });

      t.match(await asked(`POST ${path}/rename`, { json: { name: 'Outro' } }), { name: 'Outro' });
      t.match(await asked(`POST ${path}/duplicate`), { name: 'Outro (copy)', code: 'z' });
      t.match(await asked('GET /scenes?limit=1'), { scenes: [{ name: 'Outro (copy)' }], next: String });
      const file = await ask(`GET ${path}/code`);
      t.equal(file.headers.get('content-disposition'), "attachment; filename*=UTF-8''Outro.py");
      t.equal(await file.text(), 'z');
      const zip = Buffer.from(await (await ask('GET /scenes.zip')).arrayBuffer());
      t.ok(zip.includes('Outro (copy).py') && zip.includes('scenes.json'));
      t.equal((await ask(`DELETE ${path}?forgetJobs=true`)).status, 204);
      t.equal((await ask(`GET ${path}`)).status, 404);
      t.match(await service.get(job.jobId), { className: '' });
    });

    t.test('every route needs a live key, its scope, and a job of the account', async (t) => {
      const { jobId } = await added();
      await service.wait(jobId);
      const { fileId } = await service.files.put({ owner: 'ada', name: 'ada.txt', content: 'x' });
      const { sceneId } = await service.scenes.create({ owner: 'ada', name: 'Intro' });
      const ids = Object.entries({ jobId, fileId, sceneId, revision: '1', version: '1' });
      const bodies = Object.entries({
        '/rename': { name: 'x.txt' },
        '/labels': { title: 'x' },
        '/save': { revision: 1 },
        '/assignments': { title: 'x' },
        '/restore': { revision: 1, draft: 1 },
      });
      for (const { method, path, scopes, body } of TOOL_ROUTES) {
        const request = ids.reduce(
          (text, [name, id]) => text.replace(`{${name}}`, id),
          `${method} ${path.replace('/api/tools/v1', '')}`,
        );
        if (!scopes) {
          const picture = await ask(
            request.replace('{snapshotId}', 's1').replace('{name}', '..%2Fvideo.mp4'),
          );
          t.equal(picture.status, 404);
          continue;
        }
        const [, given = {}] = bodies.find(([end]) => path.endsWith(end)) ?? [];
        const json = body ? { json: given } : {};
        t.equal((await ask(request, { token: 'eve', ...json })).status, 401, request);
        for (const token of ['render', 'check', 'read'] as const) {
          if (scopes.includes(token)) continue;
          const refused = await ask(request, { token, ...json });
          t.equal(refused.status, 403, `${request} with ${token}`);
          t.match(await refused.json(), { error: 'insufficient_scope', message: /does not have the scope/ });
        }
        if (/\{(?:job|file|scene)Id\}/.test(path))
          t.equal(
            (await ask(request, { token: 'bob', ...json })).status,
            404,
            `${request} of another account`,
          );
      }
      for (const request of ['GET /', 'GET /nothing', 'PUT /jobs', 'GET /jobs/a/b/c', 'GET /%2e%2e/v2/me'])
        t.equal((await ask(request)).status, 404, request);
      t.equal((await ask('GET /nothing', { token: 'eve' })).status, 401);
    });

    t.test('an account keeps a bounded number of waits open', async (t) => {
      await service.pauseQueue();
      const { jobId } = await added();
      const waits = Array.from({ length: 201 }, () => ask(`GET /jobs/${jobId}/wait?seconds=60`));
      const refused = await Promise.race(waits);
      t.equal(refused.status, 429);
      t.ok(refused.headers.has('retry-after'));
      await service.resumeQueue();
      const statuses = (await Promise.all(waits)).map(({ status }) => status);
      t.equal(statuses.filter((status) => status === 200).length, 200);
      t.equal((await ask(`GET /jobs/${jobId}/wait?seconds=0`)).status, 200);
    });
  });
