// One of the servers that the service benchmark loads, in a process of its own: `appliance FOLDER` or `ceiling`.
// Says `{ port, startMs }` to its parent, and its memory when asked.
import { join } from 'node:path';
import { server as createHapi } from '@hapi/hapi';
import Joi from 'joi';
import { pino } from 'pino';
import { Appliance } from '../../appliance/appliance.ts';
import { loadConfig } from '../../appliance/config.ts';
import { renderRequestSchema } from '../../lib/index.ts';

const IDLE_PYTHON = join(import.meta.dirname, '../../test/appliance/idle-renderer/bin/python');

const [kind, folder] = process.argv.slice(2);
const start = performance.now();
const port = kind === 'ceiling' ? await startCeiling() : await startAppliance(folder as string);
process.send?.({ port, startMs: performance.now() - start });
process.on('message', () => {
  globalThis.gc?.();
  process.send?.({ rssBytes: process.memoryUsage().rss });
});

async function startAppliance(dataDir: string): Promise<number> {
  const flags = {
    port: 0,
    dataDir,
    workers: 1,
    python: IDLE_PYTHON,
    insecureNoSandbox: true,
    maxQueued: 1e9,
    maxQueuedPerAccount: 1e9,
  };
  const config = loadConfig({ flags, env: {} });
  const { hapi } = await new Appliance(config, pino({ level: 'silent' })).start();
  return Number(hapi.info.port);
}

/** The same framework with the same schema, doing nothing: what nobody can be faster than. */
async function startCeiling(): Promise<number> {
  const hapi = createHapi({ host: '127.0.0.1', port: 0 });
  hapi.auth.scheme('any', () => ({
    authenticate: (request, h) => h.authenticated({ credentials: { app: request.headers['authorization'] } }),
  }));
  hapi.auth.strategy('any', 'any');
  hapi.route([
    {
      method: 'POST',
      path: '/api/v2/render',
      options: { auth: 'any', validate: { payload: renderRequestSchema } },
      handler: (_request, h) => h.response({ jobId: 'none', status: 'queued', endpoint: 'render' }).code(202),
    },
    {
      method: 'GET',
      path: '/api/v2/render/{jobId}',
      options: { auth: 'any', validate: { params: Joi.object({ jobId: Joi.string() }) } },
      handler: (request) => ({
        jobId: request.params['jobId'],
        endpoint: 'render',
        status: 'queued',
        creditsCost: 0,
        durationMs: null,
        result: null,
        error: null,
        metadata: null,
        createdAt: '2026-01-01T00:00:00.000Z',
        completedAt: null,
      }),
    },
  ]);
  await hapi.start();
  return Number(hapi.info.port);
}
