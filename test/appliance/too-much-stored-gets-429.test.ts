import { join } from 'node:path';
import t from 'tap';
import { openApiDocument } from '../../lib/web/openapi/render-document.ts';
import { answerSchema, type Document, violations } from './json-schema.ts';
import { listeningAppliance, VALID } from './listening-appliance.ts';

const python = join(import.meta.dirname, '../fixtures/instant-renderer/bin/python');
const BYTES_PER_GIB = 1024 ** 3;

t.test('an account that stores as much as it may gets 429 with a code of its own', async (t) => {
  const { post, service, installation } = await listeningAppliance(t, {
    python,
    maxStoredGbPerAccount: 1 / BYTES_PER_GIB,
  });
  const headers = { 'idempotency-key': 'first' };
  const { jobId } = (await post(VALID, headers)).json;
  await service.wait(String(jobId));
  await service.storedBytes((await service.get(String(jobId))).owner);
  const refused = await post(VALID);
  t.equal(refused.status, 429);
  t.equal(refused.headers['retry-after'], '600');
  t.match(refused.json, { error: 'too_much_stored', message: /Forget jobs/ });
  const document = openApiDocument() as unknown as Document;
  t.strictSame(violations(answerSchema(document, 'post', '/api/v2/render', 429), refused.json), []);
  t.equal((await post(VALID, headers)).status, 202, 'a repeated request succeeds');
  t.equal((await post({})).status, 400, 'the request is validated first');
  const { accounts } = installation.administration;
  t.match(await accounts.storedBytes({ account: 'ada@example.org' }), { bytes: Number, mostBytes: 1 });
});
