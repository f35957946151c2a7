import { server as createHapi } from '@hapi/hapi';
import t, { type Test } from 'tap';
import { type RenderApiOptions, renderApi } from '../../appliance/http/render-api.ts';
import { ScenepressError } from '../../lib/index.ts';
import { send, VALID } from './listening-appliance.ts';

/** A server as an embedder creates it, with a service whose calls fail with `error`. */
async function failing(t: Test, error: Error) {
  const logged: unknown[] = [];
  const fail = () => Promise.reject(error);
  const nothing = () => {};
  const options: RenderApiOptions = {
    service: { enqueue: fail, get: fail, balance: fail },
    authenticate: () => ({ owner: 'me', keyId: null, keyPrefix: 'none', webhookUrl: null }),
    assetUrl: 'https://assets.example.org',
    logger: { debug: nothing, info: nothing, warn: nothing, error: (details) => logged.push(details) },
  };
  const hapi = createHapi({ port: 0, host: '127.0.0.1', debug: false });
  await hapi.register({ plugin: renderApi, options });
  await hapi.start();
  t.teardown(() => hapi.stop());
  const headers = { authorization: 'Bearer x' };
  const get = () => send(Number(hapi.info.port), '/api/v2/me', { headers });
  const post = () =>
    send(Number(hapi.info.port), '/api/v2/render', { method: 'POST', headers, body: JSON.stringify(VALID) });
  return { get, post, logged };
}

t.test('an unexpected error gets 500, and its cause is logged', async (t) => {
  // A status of another server, such as that of a ledger, is not that of the request.
  const error = Object.assign(new Error('secret detail of the database'), { status: 404, statusCode: 402 });
  const { get, logged } = await failing(t, error);
  const { status, json, text, headers } = await get();
  t.equal(status, 500);
  t.strictSame(Object.keys(json), ['error', 'message']);
  t.notMatch(text, /secret|database/);
  t.strictSame(logged, [{ requestId: headers['request-id'], err: error }]);
});

t.test(
  'requests get 503 with Retry-After while the service is stopping, out of space or cannot render',
  async (t) => {
    for (const code of ['not_running', 'storage_failed', 'renderer_unavailable'] as const) {
      const { post } = await failing(t, new ScenepressError(code, 'in /secret/place'));
      const { status, headers, json, text } = await post();
      t.equal(status, 503, code);
      t.match(headers['retry-after'], /^\d+$/);
      t.strictSame(Object.keys(json), ['error', 'message']);
      t.notMatch(text, 'secret');
    }
  },
);
