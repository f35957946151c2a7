import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { json } from 'node:stream/consumers';
import t, { type Test } from 'tap';
import { type ListeningAppliance, listeningAppliance, VALID } from './listening-appliance.ts';

/** A POST whose key was accepted and whose body has not been sent yet. */
async function authenticatedPost({ port, key }: ListeningAppliance) {
  const body = JSON.stringify(VALID);
  const headers = { authorization: `Bearer ${key}`, expect: '100-continue', 'content-length': body.length };
  const post = request({ port, path: '/api/v2/render', method: 'POST', headers, agent: false });
  const answered = once(post, 'response') as Promise<[IncomingMessage]>;
  post.flushHeaders();
  await once(post, 'continue');
  return async () => {
    post.end(body);
    const [response] = await answered;
    return { response, body: await json(response) };
  };
}

async function assertRefused(
  t: Test,
  sendBody: Awaited<ReturnType<typeof authenticatedPost>>,
): Promise<void> {
  const { response, body } = await sendBody();
  t.equal(response.statusCode, 401);
  t.equal(response.headers['www-authenticate'], 'Bearer');
  t.strictSame(body, { error: 'Unauthorized', message: 'The API key is invalid or missing.' });
}

t.test('a body sent after its account was deleted creates no job', async (t) => {
  const appliance = await listeningAppliance(t);
  const { administration } = appliance.installation;
  const sendBody = await authenticatedPost(appliance);
  const { userId } = await administration.accounts.delete({ account: 'ada@example.org' });
  await assertRefused(t, sendBody);
  t.same(await appliance.service.list({ owner: userId }), []);
});

t.test('a body sent after its account was disabled creates no job', async (t) => {
  const appliance = await listeningAppliance(t);
  const { administration } = appliance.installation;
  const sendBody = await authenticatedPost(appliance);
  await administration.accounts.disable({ account: 'ada@example.org' });
  await assertRefused(t, sendBody);
  await administration.accounts.enable({ account: 'ada@example.org' });
  t.equal((await appliance.post(VALID)).status, 202);
  t.equal((await administration.jobs.list({ account: 'ada@example.org' })).length, 1);
});
