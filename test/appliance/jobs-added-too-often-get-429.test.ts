import t from 'tap';
import { TOOLS_PATH } from '../../lib/web/index.ts';
import { openApiDocument } from '../../lib/web/openapi/render-document.ts';
import { answerSchema, type Document, violations } from './json-schema.ts';
import { listeningAppliance, VALID } from './listening-appliance.ts';

t.test('an account that adds jobs too often gets 429, with the time until the next', async (t) => {
  const { post, installation } = await listeningAppliance(t, { maxJobsPerSecondPerAccount: 0.3 });
  const first = { 'idempotency-key': 'first' };
  t.equal((await post(VALID, first)).status, 202);
  for (let count = 0; count < 2; count++) t.equal((await post(VALID)).status, 202);
  const refused = await post(VALID);
  t.equal(refused.status, 429);
  t.match(refused.headers['retry-after'], /^[1-4]$/);
  t.match(refused.json, { error: 'Too Many Requests', message: /more jobs .* Try again in [1-4] s/ });
  const document = openApiDocument() as unknown as Document;
  t.strictSame(violations(answerSchema(document, 'post', '/api/v2/render', 429), refused.json), []);
  t.equal((await post(VALID, first)).status, 202, 'a repeated request adds none');
  t.equal((await post({})).status, 400, 'the request is validated first');
  const { accounts, keys } = installation.administration;
  await accounts.create({ email: 'bob@example.org' });
  const { key } = await keys.create({ account: 'bob@example.org', name: 'n' });
  t.equal((await post(VALID, { authorization: `Bearer ${key}` })).status, 202, 'another account may');
});

t.test(
  'a key that is used too often gets 429 for everything, another key of the account does not',
  async (t) => {
    const { askAs, key, newKey } = await listeningAppliance(t, { maxRequestsPerSecondPerKey: 0.3 });
    const spent = await newKey('ada@example.org');
    for (let count = 0; count < 3; count++) t.equal((await askAs(spent, '/api/v2/me')).status, 200);
    const document = openApiDocument() as unknown as Document;
    const refused = await askAs(spent, '/api/v2/me');
    t.strictSame(violations(answerSchema(document, 'get', '/api/v2/me', 429), refused.json), []);
    const requests: [path: string, request?: object][] = [
      ['/api/v2/me'],
      ['/api/v2/render/none'],
      ['/api/v2/render', { method: 'POST', body: JSON.stringify(VALID) }],
      [`${TOOLS_PATH}/jobs`],
      [`${TOOLS_PATH}/check`, { method: 'POST', body: '{}' }],
      ['/mcp', { method: 'POST', body: '{}' }],
    ];
    for (const [path, request] of requests) {
      const { status, json, headers } = await askAs(spent, path, request);
      t.equal(status, 429, path);
      t.match(
        json,
        { error: 'Too Many Requests', message: /key was used more often .* Try again in [1-4] s/ },
        path,
      );
      t.match(headers['retry-after'], /^[1-4]$/, path);
    }
    t.equal((await askAs(key, '/api/v2/me')).status, 200);
  },
);
