import t from 'tap';
import { listeningAppliance, VALID } from './listening-appliance.ts';

t.test('a request gets 402 and creates no job when the balance is below the reserve', async (t) => {
  const { askAs, newKey, installation } = await listeningAppliance(t, { freeCredits: 9 });
  const poor = await newKey('eve@example.org');
  const { status, json } = await askAs(poor, '/api/v2/render', {
    method: 'POST',
    body: JSON.stringify(VALID),
  });
  t.equal(status, 402);
  t.equal(json['error'], 'insufficient_credits');
  t.match(
    json['message'],
    /a reserve of \d+ credits, .* Top up credits, or wait for next month's free credits\./,
  );
  t.strictSame(Object.keys(json), ['error', 'message']);
  t.strictSame(await installation.place.storage.listJobs({}), []);
  t.match((await askAs(poor, '/api/v2/me')).json, { credits: { paid: 0, free: 9, total: 9 } });
});

t.test('an invalid request gets 400 even without credits', async (t) => {
  const { askAs, newKey } = await listeningAppliance(t, { freeCredits: 0 });
  const poor = await newKey('eve@example.org');
  const body = JSON.stringify({ ...VALID, fps: 0 });
  t.equal((await askAs(poor, '/api/v2/render', { method: 'POST', body })).status, 400);
});

t.test('the reserve of a job is deducted from the balance immediately', async (t) => {
  const { askAs, newKey } = await listeningAppliance(t, { freeCredits: 12 });
  const key = await newKey('eve@example.org');
  const body = JSON.stringify({ ...VALID, quality: 'medium' });
  t.equal((await askAs(key, '/api/v2/render', { method: 'POST', body })).status, 202);
  t.match((await askAs(key, '/api/v2/me')).json, { credits: { paid: 0, free: 2, total: 2 } });
  t.equal((await askAs(key, '/api/v2/render', { method: 'POST', body })).status, 402);
});

t.test('in unmetered mode the monthly credits are shown unspent', async (t) => {
  const { post, askAs, key } = await listeningAppliance(t, { creditsMode: 'unmetered', freeCredits: 1 });
  t.equal((await post({ ...VALID, quality: 'fourk' })).status, 202);
  t.match((await askAs(key, '/api/v2/me')).json, { credits: { paid: 0, free: 1, total: 1 } });
});
