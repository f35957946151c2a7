import t from 'tap';
import { listeningAppliance, VALID } from './listening-appliance.ts';

const KEY = { 'idempotency-key': 'lesson-7' };

t.test(
  'the same request with the same key gets the first response, even when no credits are left',
  async (t) => {
    const { askAs, newKey, installation } = await listeningAppliance(t, { freeCredits: 5 });
    const key = await newKey('eve@example.org');
    const request = { method: 'POST', headers: KEY, body: JSON.stringify({ ...VALID, quality: 'low' }) };
    const first = await askAs(key, '/api/v2/render', request);
    t.equal(first.status, 202);
    t.match((await askAs(key, '/api/v2/me')).json, { credits: { total: 0 } });
    const again = await askAs(key, '/api/v2/render', request);
    t.equal(again.status, 202);
    t.equal(again.text, first.text);
    t.equal((await installation.place.storage.listJobs({})).length, 1);
  },
);

t.test('concurrent requests with one key create one job', async (t) => {
  const { post, installation } = await listeningAppliance(t);
  const answers = await Promise.all(Array.from({ length: 10 }, () => post(VALID, KEY)));
  t.strictSame(new Set(answers.map(({ status }) => status)), new Set([202]));
  t.equal(new Set(answers.map(({ json }) => json['jobId'])).size, 1);
  t.equal((await installation.place.storage.listJobs({})).length, 1);
});

t.test('a different request with a used key gets 409', async (t) => {
  const { post } = await listeningAppliance(t);
  await post(VALID, KEY);
  const { status, json } = await post({ ...VALID, quality: 'high' }, KEY);
  t.equal(status, 409);
  t.match(json, { error: 'Conflict', message: /Idempotency-Key/ });
});

t.test('idempotency keys are separate for each account', async (t) => {
  const { post, askAs, newKey } = await listeningAppliance(t);
  const mine = await post(VALID, KEY);
  const other = await askAs(await newKey('eve@example.org'), '/api/v2/render', {
    method: 'POST',
    headers: KEY,
    body: JSON.stringify({ ...VALID, code: 'x = 1' }),
  });
  t.equal(other.status, 202);
  t.not(other.json['jobId'], mine.json['jobId']);
});

t.test('a key that is too long gets 400, after the fields of the body were checked', async (t) => {
  const { post } = await listeningAppliance(t);
  const long = { 'idempotency-key': 'k'.repeat(256) };
  t.match(await post({ ...VALID, fps: 0 }, long), {
    status: 400,
    json: { error: 'fps must be a positive integer' },
  });
  t.match(await post(VALID, long), {
    status: 400,
    json: { error: 'Idempotency-Key must have 1 to 255 characters' },
  });
});
