// A server of the benchmark `waiting`, in its own process: `waiting-server.ts KIND PLACE ACCOUNTS`. Reports its port and
// a key of each account, at each request its CPU time so far, and ends when its parent disconnects.
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { server as createHapi, type ResponseObject, type ResponseToolkit } from '@hapi/hapi';
import { pino } from 'pino';
import { Appliance } from '../../appliance/app/appliance.ts';
import { loadConfig } from '../../appliance/config/config.ts';

/** The first message of a server. */
export interface Ready {
  port: number;
  keys: string[];
}
/** CPU time since the start in milliseconds. */
export type Cpu = number;

const IDLE_PYTHON = join(import.meta.dirname, '../../test/appliance/idle-renderer/bin/python');
const MOST_CONNECTIONS = 2_000;
const KEEP_ALIVE_MS = 15_000;

const [kind, place = '', accounts = '1'] = process.argv.slice(2);
let appliance: Appliance | undefined;
process.send?.(await (kind === 'hapi' ? startBare() : startAppliance()));
process.on('disconnect', async () => {
  await appliance?.stop();
  process.exit();
});
process.on('message', () => {
  const { user, system } = process.cpuUsage();
  process.send?.(((user + system) / 1000) satisfies Cpu);
});

/** Its only renderer never starts. */
async function startAppliance(): Promise<Ready> {
  const flags = {
    port: 0,
    dataDir: join(place, 'data'),
    workers: 1,
    python: IDLE_PYTHON,
    insecureNoSandbox: true,
    creditsMode: 'unmetered',
    maxConnections: MOST_CONNECTIONS,
    maxConnectionsPerAddress: MOST_CONNECTIONS,
    maxQueued: 1e9,
    maxQueuedPerAccount: 1e9,
    drainSeconds: 0,
    ...(kind === 'postgres' && {
      databaseUrl: `postgres://postgres@localhost/postgres?host=${encodeURIComponent(place)}`,
      artifactDir: join(place, 'artifacts'),
    }),
  };
  const env = kind === 'postgres' ? { SCENEPRESS_MASTER_KEY: '5a'.repeat(32) } : {};
  appliance = new Appliance(loadConfig({ flags, env }), pino({ level: 'silent' }));
  const { hapi, installation, service } = await appliance.start();
  const { administration } = installation;
  const keys: string[] = [];
  for (let number = 0; number < Number(accounts); number += 1) {
    const email = `waiting-${number}@example.org`;
    await administration.accounts.create({ email });
    keys.push((await administration.keys.create({ account: email, name: 'bench' })).key);
  }
  // The audit at the start takes seconds.
  while (service.status().bookProblems === null) await delay(20);
  return { port: Number(hapi.info.port), keys };
}

/** The same requests, without anything behind them: a wait ends when its job is canceled, which all streams are told. */
async function startBare(): Promise<Ready> {
  const hapi = createHapi({ host: '127.0.0.1', port: 0, compression: false });
  const waits = new Map<string, (status: number) => void>();
  const streams = new Set<PassThrough>();
  let jobs = 0;
  hapi.route([
    {
      method: 'POST',
      path: '/api/tools/v1/jobs',
      handler: (_, h) => {
        jobs += 1;
        return h.response({ jobId: `${jobs}` }).code(202);
      },
    },
    {
      method: 'GET',
      path: '/api/tools/v1/jobs/{jobId}/wait',
      handler: async (request, h) => {
        const jobId = String(request.params['jobId']);
        const { promise, resolve } = Promise.withResolvers<number>();
        const timer = setTimeout(() => resolve(202), Number(request.query['seconds']) * 1000);
        waits.set(jobId, resolve);
        const status = await promise;
        clearTimeout(timer);
        return h.response({ jobId }).code(status);
      },
    },
    {
      method: 'POST',
      path: '/api/tools/v1/jobs/{jobId}/cancel',
      handler: (request) => {
        waits.get(String(request.params['jobId']))?.(200);
        for (const stream of streams) stream.write('event: job\ndata: {}\n\n');
        return {};
      },
    },
    { method: 'GET', path: '/api/tools/v1/events', handler: (_, h) => stream(h, streams) },
    {
      method: 'GET',
      path: '/api/tools/v1/jobs/{jobId}/events',
      handler: (_, h) => stream(h, new Set()),
    },
  ]);
  await hapi.start();
  return { port: Number(hapi.info.port), keys: Array.from({ length: Number(accounts) }, () => 'none') };
}

function stream(h: ResponseToolkit, streams: Set<PassThrough>): ResponseObject {
  const body = new PassThrough();
  streams.add(body);
  body.write('event: open\ndata: {}\n\n');
  const timer = setInterval(() => body.write(':\n\n'), KEEP_ALIVE_MS);
  body.once('close', () => {
    clearInterval(timer);
    streams.delete(body);
  });
  return h.response(body).type('text/event-stream');
}
