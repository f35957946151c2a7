import t from 'tap';
import { healthRoutes, readinessOf } from '../../appliance/http/health.ts';
import type { ServiceStatus } from '../../lib/index.ts';
import { listeningAppliance } from './listening-appliance.ts';

t.test('a service that can render is ready', async (t) => {
  const { ask } = await listeningAppliance(t);
  t.match(await ask('/health/live'), { status: 200, json: { status: 'live' } });
  const { status, json, headers } = await ask('/health/ready');
  t.equal(status, 200);
  t.strictSame(json, {
    status: 'ready',
    sandbox: 'none',
    limits: { memory: 'watch', processes: process.getuid?.() === 0 ? 'kernel' : 'user', disk: 'watch' },
    queue: 'running',
    disk: 'ok',
    problems: [],
    warnings: [],
  });
  t.equal(headers['cache-control'], 'no-store');
});

t.test('a service with a paused queue accepts requests, so it is ready', async (t) => {
  const { ask, service } = await listeningAppliance(t);
  await service.pauseQueue();
  t.match(await ask('/health/ready'), { status: 200, json: { status: 'ready', queue: 'paused' } });
});

t.test('a stopped service is live but not ready', async (t) => {
  const { ask, service } = await listeningAppliance(t);
  await service.stop();
  t.equal((await ask('/health/live')).status, 200);
  const { status, json } = await ask('/health/ready');
  t.match(
    { status, json },
    {
      status: 503,
      json: { status: 'not ready', problems: [{ part: 'service', message: 'The service is not started.' }] },
    },
  );
});

t.test('a certificate that expires soon is a warning, not a problem', async (t) => {
  const { server: createHapi } = await import('@hapi/hapi');
  const hapi = createHapi();
  const status = { problems: [], warnings: [], sandbox: null, queuePausedAt: null, diskFull: false };
  const service = { status: () => status as unknown as ServiceStatus };
  const warnings = ['The TLS certificate expires at 2026-12-01T00:00:00.000Z. Renew it.'];
  hapi.route(healthRoutes(() => readinessOf(service, { isDraining: false, warnings })));
  const { statusCode, payload } = await hapi.inject('/health/ready');
  t.equal(statusCode, 200);
  t.match(JSON.parse(payload), { status: 'ready', warnings: [/expires at/] });
});
