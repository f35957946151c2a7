import t from 'tap';
import { listeningAppliance, VALID } from './listening-appliance.ts';

t.test('a request over the cap gets 503 with Retry-After and costs nothing', async (t) => {
  // One job runs forever, two are queued.
  const { post, askAs, key } = await listeningAppliance(t, { maxQueued: 2 });
  for (let i = 0; i < 3; i++) t.equal((await post(VALID)).status, 202);
  const before = (await askAs(key, '/api/v2/me')).json;
  const { status, headers, json } = await post(VALID);
  t.equal(status, 503);
  t.match(headers['retry-after'], /^\d+$/);
  t.strictSame(Object.keys(json), ['error', 'message']);
  t.strictSame((await askAs(key, '/api/v2/me')).json, before);
});

t.test('an account at its own cap does not block others', async (t) => {
  const { post, askAs, newKey } = await listeningAppliance(t, { maxQueuedPerAccount: 1 });
  const other = await newKey('eve@example.org');
  for (let i = 0; i < 2; i++) t.equal((await post(VALID)).status, 202);
  t.equal((await post(VALID)).status, 503);
  const request = { method: 'POST', body: JSON.stringify(VALID) };
  t.equal((await askAs(other, '/api/v2/render', request)).status, 202);
});

t.test('a repeated idempotent request succeeds while the queue is full', async (t) => {
  const { post } = await listeningAppliance(t, { maxQueued: 1 });
  const named = { 'idempotency-key': 'k' };
  const first = await post(VALID, named);
  while ((await post(VALID)).status === 202);
  t.equal((await post(VALID, named)).text, first.text);
});
