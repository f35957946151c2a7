import { join } from 'node:path';
import t from 'tap';
import { openApiDocument } from '../../lib/web/openapi/render-document.ts';
import { answerSchema, type Document, violations } from './json-schema.ts';
import { listeningAppliance, VALID } from './listening-appliance.ts';

const python = join(import.meta.dirname, '../fixtures/instant-renderer/bin/python');
const FAILING = { ...VALID, code: 'fail' };

for (const creditsMode of ['metered', 'unmetered'] as const) {
  t.test(`an account whose scenes fail too often gets 429 with Retry-After (${creditsMode})`, async (t) => {
    const { post, askAs, key, newKey, service } = await listeningAppliance(t, {
      python,
      creditsMode,
      failuresPerHour: 2,
      maxQueued: 1,
    });
    const before = (await askAs(key, '/api/v2/me')).json;
    for (let i = 0; i < 2; i++) {
      const { status, json } = await post(FAILING, { 'idempotency-key': String(i) });
      t.equal(status, 202);
      t.equal((await service.wait(String(json['jobId']))).status, 'failed');
    }
    const { status, headers, json, text } = await post(VALID);
    t.equal(status, 429);
    const seconds = Number(headers['retry-after']);
    t.ok(Number.isInteger(seconds) && seconds > 3000 && seconds <= 3600, `${seconds} seconds`);
    t.strictSame(Object.keys(json), ['error', 'message']);
    t.match(json, {
      error: 'Too Many Requests',
      message: /failed 2 times within an hour.*Try again in \d+ minutes/,
    });
    t.notMatch(text, /ada|acct_/);
    const document = openApiDocument() as unknown as Document;
    t.strictSame(violations(answerSchema(document, 'post', '/api/v2/render', 429), json), []);
    t.strictSame((await askAs(key, '/api/v2/me')).json, before);

    t.equal((await post({})).status, 400, 'the request is validated first');
    t.equal((await post(FAILING, { 'idempotency-key': '0' })).status, 202, 'a repeated request succeeds');
    const other = await newKey('eve@example.org');
    const request = { method: 'POST', body: JSON.stringify(VALID) };
    t.equal((await askAs(other, '/api/v2/render', request)).status, 202, 'other accounts are not affected');
  });
}

t.test('the OpenAPI document lists Retry-After for 429 and 503', (t) => {
  const { paths } = openApiDocument() as unknown as {
    paths: Record<string, { post: { responses: Record<number, { headers?: object }> } }>;
  };
  for (const status of [429, 503])
    t.match(paths['/api/v2/render']?.post.responses[status]?.headers, {
      'Retry-After': { schema: { type: 'integer' } },
    });
  t.end();
});
