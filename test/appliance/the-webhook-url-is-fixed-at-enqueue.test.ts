import t from 'tap';
import { listeningAppliance, VALID } from './listening-appliance.ts';

t.test('the webhook URL is the request’s, else the key’s, and is fixed at enqueue', async (t) => {
  const { askAs, newKey, installation } = await listeningAppliance(t);
  const byDefault = 'https://default.example.org/';
  const [withDefault, without] = [
    await newKey('eve@example.org', byDefault),
    await newKey('eve@example.org'),
  ];
  const own = 'https://own.example.org/';
  const cases: [string, object, string | null][] = [
    [withDefault, VALID, byDefault],
    [withDefault, { ...VALID, webhookUrl: own }, own],
    [withDefault, { ...VALID, webhookUrl: null }, null],
    [without, VALID, null],
    [without, { ...VALID, webhookUrl: own }, own],
    [without, { ...VALID, webhookUrl: null }, null],
  ];
  for (const [key, request, expected] of cases) {
    const { json } = await askAs(key, '/api/v2/render', { method: 'POST', body: JSON.stringify(request) });
    const job = await installation.place.storage.getJob(String(json['jobId']));
    t.equal(job?.webhookUrl, expected);
    t.match(job?.keyId, /^key_/);
  }
});
