import t from 'tap';
import { listeningAppliance, VALID } from './listening-appliance.ts';

t.test('another owner’s job gets the same 404 as a job that never existed', async (t) => {
  const { post, askAs, key, newKey } = await listeningAppliance(t);
  const { jobId } = (await post(VALID)).json;
  const other = await newKey('eve@example.org');
  t.equal((await askAs(key, `/api/v2/render/${jobId}`)).status, 200);
  const foreign = await askAs(other, `/api/v2/render/${jobId}`);
  const absent = await askAs(other, '/api/v2/render/01a1fc0abf5f000094ce4e77c4dd6592d6dd9bfd9f41380c');
  t.equal(foreign.status, 404);
  t.equal(foreign.text, absent.text);
  t.equal(foreign.json['error'], 'Not Found');
});

t.test('another key of the owner can read the job', async (t) => {
  const { post, askAs, newKey } = await listeningAppliance(t);
  const { jobId } = (await post(VALID)).json;
  const second = await newKey('ada@example.org');
  t.equal((await askAs(second, `/api/v2/render/${jobId}`)).status, 200);
});

t.test('a malformed job id gets 404', async (t) => {
  const { askAs, key } = await listeningAppliance(t);
  for (const id of [
    '1',
    '__proto__',
    'constructor',
    '..%2f..',
    '%00',
    '%zz',
    '%ff',
    '%E0%A4%A',
    'x'.repeat(4_000),
  ]) {
    const { status, json } = await askAs(key, `/api/v2/render/${id}`);
    t.equal(status, 404, id.slice(0, 20));
    t.strictSame(Object.keys(json), ['error', 'message']);
  }
});

t.test('paths and methods that are not in the contract get 404', async (t) => {
  const { askAs, key } = await listeningAppliance(t);
  const requests = [
    'GET /api/v2',
    'GET /api/v2/',
    'GET /api/v2/render',
    'GET /api/v2/render/',
    'POST /api/v2/render/',
    'GET /api/v2/me/',
    'GET /API/v2/me',
    'GET /api/v1/me',
    'POST /api/v2/me',
    'PUT /api/v2/render',
    'DELETE /api/v2/render/1',
    'OPTIONS /api/v2/me',
    'GET /nothing',
    'GET /%zz',
  ];
  for (const request of requests) {
    const [method = '', path = ''] = request.split(' ');
    const { status, headers, json } = await askAs(key, path, { method });
    t.equal(status, 404, request);
    t.match(headers['content-type'], 'application/json');
    t.equal(json['error'], 'Not Found');
    t.notOk(Object.keys(headers).some((name) => name.startsWith('access-control-')));
  }
});

t.test('HEAD gets the response to GET without its body', async (t) => {
  const { post, askAs, key, service } = await listeningAppliance(t);
  // Its status must not change between the two requests.
  const running = new Promise<void>((resolve) => {
    service.on('job', ({ status }) => status === 'running' && resolve());
  });
  const { jobId } = (await post(VALID)).json;
  await running;
  for (const path of ['/api/v2/me', `/api/v2/render/${jobId}`, '/api/v2/render/1']) {
    const [get, head] = [await askAs(key, path), await askAs(key, path, { method: 'HEAD' })];
    t.equal(head.status, get.status, path);
    t.equal(head.headers['content-length'], get.headers['content-length']);
    t.equal(head.text, '');
  }
});
