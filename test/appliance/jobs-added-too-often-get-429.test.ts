import t from 'tap';
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
