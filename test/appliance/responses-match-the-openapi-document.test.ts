import { Validator } from '@seriousme/openapi-schema-validator';
import t from 'tap';
import { openApiDocument } from '../../lib/web/openapi/render-document.ts';
import { answerSchema, type Document, violations } from './json-schema.ts';
import { listeningAppliance, VALID } from './listening-appliance.ts';

const document = openApiDocument() as unknown as Document;

t.test('the document is valid', async (t) => {
  const { valid, errors } = await new Validator().validate(JSON.parse(JSON.stringify(document)));
  t.ok(valid, JSON.stringify(errors));
  const broken = { ...openApiDocument(), paths: { '/': { get: { responses: 7 } } } };
  t.notOk((await new Validator().validate(broken)).valid, 'the validator finds faults');
});

t.test('the document is generated once, whatever its address', async (t) => {
  const [one, other] = [openApiDocument('https://one.example'), openApiDocument('https://other.example')];
  t.match(
    [one['servers'], other['servers']],
    [[{ url: 'https://one.example' }], [{ url: 'https://other.example' }]],
  );
  t.equal(one['paths'], other['paths'], 'the same object');
});

t.test('no property has a default: generators of clients take such properties for required', async (t) => {
  t.notMatch(JSON.stringify(document), /"default":"/);
  t.match(document.components.schemas['RenderRequest'], {
    required: ['code', 'className'],
    properties: { quality: { description: /Default: `medium`\.$/ } },
  });
});

t.test('the document describes repeated requests and webhooks', async (t) => {
  t.match(openApiDocument(), {
    servers: [{ url: 'http://127.0.0.1:8080' }],
    paths: { '/api/v2/render': { post: { parameters: [{ name: 'Idempotency-Key', in: 'header' }] } } },
    webhooks: {
      renderEnded: {
        post: {
          security: [],
          parameters: [{ name: 'Svc-Event' }, { name: 'Svc-Signature' }, { name: 'Svc-Redelivery' }],
          requestBody: {
            content: { 'application/json': { schema: { $ref: '#/components/schemas/RenderJob' } } },
          },
        },
      },
    },
  });
});

t.test('the document describes exactly the three endpoints and their statuses', async (t) => {
  const statuses = Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, { responses }]) => [
      `${method} ${path}`,
      Object.keys(responses),
    ]),
  );
  t.strictSame(Object.fromEntries(statuses), {
    'post /api/v2/render': ['202', '400', '401', '402', '409', '413', '429', '503'],
    'get /api/v2/render/{jobId}': ['200', '401', '404', '429'],
    'get /api/v2/me': ['200', '401', '429'],
  });
});

t.test('the document is served with the URL of the service', async (t) => {
  const { ask, url } = await listeningAppliance(t);
  const { status, json } = await ask('/openapi.json');
  t.equal(status, 200);
  t.strictSame(json, JSON.parse(JSON.stringify(openApiDocument(url))));
  t.match(json, { openapi: '3.1.0', info: { version: '2.0.0' }, servers: [{ url }] });
});

t.test('every response matches its schema in the document', async (t) => {
  const { post, askAs, ask, key, newKey } = await listeningAppliance(t, { freeCredits: 0 });
  const made = await post({ ...VALID, metadata: [1] });
  const { jobId } = made.json;
  const poor = await newKey('eve@example.org');
  const request = { method: 'POST', body: JSON.stringify(VALID) };
  const RENDER = '/api/v2/render';
  const headers = { 'idempotency-key': 'lesson-7' };
  await post(VALID, headers);
  const answers: [string, string, number, Awaited<ReturnType<typeof ask>>][] = [
    ['post', RENDER, 202, made],
    ['post', RENDER, 400, await post({})],
    ['post', RENDER, 401, await ask(RENDER, request)],
    ['post', RENDER, 402, await askAs(poor, RENDER, request)],
    ['post', RENDER, 409, await post({ ...VALID, quality: 'low' }, headers)],
    ['post', RENDER, 413, await post('x'.repeat(300_000))],
    ['get', `${RENDER}/{jobId}`, 200, await askAs(key, `${RENDER}/${jobId}`)],
    ['get', `${RENDER}/{jobId}`, 404, await askAs(key, `${RENDER}/1`)],
    ['get', `${RENDER}/{jobId}`, 401, await ask(`${RENDER}/1`)],
    ['get', '/api/v2/me', 200, await askAs(key, '/api/v2/me')],
    ['get', '/api/v2/me', 401, await ask('/api/v2/me')],
  ];
  for (const [method, path, status, answer] of answers) {
    t.equal(answer.status, status);
    t.strictSame(
      violations(answerSchema(document, method, path, status), answer.json),
      [],
      `${method} ${path} ${status}`,
    );
    t.match(answer.headers['content-type'], /^application\/json/);
  }
});

t.test('the schemas reject the requests that the service rejects', async (t) => {
  const schema = document.components.schemas['RenderRequest'] ?? {};
  t.strictSame(violations(schema, { ...VALID, metadata: null, webhookUrl: null, fps: 30 }), []);
  const refused = [
    {},
    { ...VALID, code: '' },
    { ...VALID, className: '1' },
    { ...VALID, quality: 'ultra' },
    { ...VALID, aspectRatio: '1:1' },
    { ...VALID, fps: 0 },
    { ...VALID, fps: 1.5 },
    { ...VALID, webhookUrl: 7 },
    { ...VALID, other: 1 },
  ];
  for (const request of refused) t.not(violations(schema, request).length, 0, JSON.stringify(request));
});
