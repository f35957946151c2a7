import t from 'tap';
import { listeningAppliance, VALID } from './listening-appliance.ts';

t.test('keys, secrets, hashes, scenes and places are in no answer and in no log line', async (t) => {
  const { installation, askAs, ask, log, dataDir } = await listeningAppliance(t);
  const { administration } = installation;
  await administration.accounts.create({ email: 'eve@example.org' });
  const { key, webhookSecret } = await administration.keys.create({
    account: 'eve@example.org',
    name: 'Test',
  });
  const scene = { ...VALID, code: 'the_code_of_the_scene()', metadata: 'the metadata' };
  const made = await askAs(key, '/api/v2/render?token=in-the-query', {
    method: 'POST',
    body: JSON.stringify(scene),
  });
  const answers = [
    made,
    await askAs(key, '/api/v2/me'),
    await askAs(key, `/api/v2/render/${made.json['jobId']}`),
    await askAs(key, '/api/v2/render/1'),
    await askAs(`${key}0`, '/api/v2/me'),
    await askAs(key, '/api/v2/render', { method: 'POST', body: 'the_code_of_the_scene()' }),
    await ask('/'),
    await ask('/artifacts/1/video.mp4'),
  ];
  const [record] = (await installation.keys.list()).slice(-1);
  const secrets = [key.slice(20), webhookSecret, record?.hash, record?.webhookSecretSealed, dataDir];
  const said = answers.map(({ text, headers }) => text + JSON.stringify(headers)).join('');
  for (const secret of [...secrets, 'the_code_of_the_scene', process.cwd(), '.ts:']) {
    t.notMatch(said, secret);
    if (secret !== dataDir && secret !== process.cwd()) t.notMatch(log(), secret);
  }
  t.notMatch(log(), /the metadata|in-the-query|authorization/i);
});

t.test('every answer has an id of the service’s own, which its log line has too', async (t) => {
  const { ask, log } = await listeningAppliance(t);
  for (const path of ['/', '/api/v2/me', '/nothing', '/health/live', '/artifacts/1/video.mp4', '/%zz']) {
    const { headers } = await ask(path, {
      headers: { 'request-id': 'of-the-client', 'x-request-id': 'too' },
    });
    t.match(headers['request-id'], /^[0-9a-f-]{36}$/, path);
    t.match(log(), `"requestId":"${headers['request-id']}"`);
  }
  t.notMatch(log(), 'of-the-client');
});

t.test('the log line of a request has the prefix of its key', async (t) => {
  const { askAs, key, log } = await listeningAppliance(t);
  await askAs(key, '/api/v2/me');
  t.match(log(), `"keyPrefix":"${key.slice(0, 16)}"`);
  t.match(log(), /"method":"GET","path":"\/api\/v2\/me","status":200,"ms":\d+/);
});
