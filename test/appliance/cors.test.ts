import t from 'tap';
import { listeningAppliance, VALID } from './listening-appliance.ts';

const STUDIO = 'https://studio.example';

function preflight(origin: string) {
  return {
    method: 'OPTIONS',
    headers: {
      origin,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization, content-type, idempotency-key',
    },
  };
}

t.test('pages of an allowed origin may send render requests and read all responses', async (t) => {
  const { ask, post } = await listeningAppliance(t, { corsOrigins: [STUDIO, 'https://other.example'] });
  const { status, headers } = await ask('/api/v2/render', preflight(STUDIO));
  t.match(
    { status, headers },
    {
      status: /^20[04]$/,
      headers: {
        'access-control-allow-origin': STUDIO,
        'access-control-allow-methods': 'POST',
        'access-control-allow-headers': /Authorization.*Content-Type.*Idempotency-Key.*Traceparent/,
      },
    },
  );
  t.equal(headers['access-control-allow-credentials'], undefined, 'no cookies');
  const enqueued = await post(VALID, { origin: STUDIO });
  t.equal(enqueued.status, 202);
  t.match(enqueued.headers, { 'access-control-allow-origin': STUDIO, vary: /origin/i });
  const readable = enqueued.headers['access-control-expose-headers'];
  for (const name of ['Request-Id', 'Retry-After', 'WWW-Authenticate']) t.match(readable, name);
  const refused = await ask('/api/v2/me', { headers: { origin: STUDIO } });
  t.equal(refused.status, 401);
  t.match(refused.headers, { 'access-control-allow-origin': STUDIO });
});

t.test('pages of other origins may not read responses', async (t) => {
  const { ask, post } = await listeningAppliance(t, { corsOrigins: [STUDIO] });
  const { headers } = await ask('/api/v2/render', preflight('https://evil.example'));
  t.equal(headers['access-control-allow-origin'], undefined);
  const enqueued = await post(VALID, { origin: 'https://evil.example' });
  t.equal(enqueued.headers['access-control-allow-origin'], undefined);
});

t.test('no origin is allowed by default', async (t) => {
  const { ask, post } = await listeningAppliance(t);
  const { status, headers } = await ask('/api/v2/render', preflight(STUDIO));
  t.equal(status, 401);
  t.equal(headers['access-control-allow-origin'], undefined);
  t.equal((await post(VALID, { origin: STUDIO })).headers['access-control-allow-origin'], undefined);
});
