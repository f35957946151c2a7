import { createServer as createListener } from 'node:http';
import { server as createHapi, type Server } from '@hapi/hapi';
import type { RenderService } from '../lib/index.ts';
import { type Addresses, addressesOf } from './addresses.ts';
import { artifacts } from './artifacts.ts';
import { takeBrokenEscapesLiterally } from './broken-escapes.ts';
import type { Config } from './config.ts';
import { answerErrors } from './http-errors.ts';
import { type Logger, logRequests } from './log.ts';
import { openApiDocument } from './openapi.ts';
import { type Authenticate, renderApi } from './render-api.ts';
import { VERSION } from './version.ts';

/** Against clients that open a connection and take their time. */
const LISTENER_LIMITS = {
  headersTimeout: 15_000,
  requestTimeout: 60_000,
  connectionsCheckingInterval: 5_000,
};

export interface HttpServer {
  hapi: Server;
  addresses: Addresses;
}

/** The HTTP side of the appliance, not yet listening. */
export async function createServer(options: {
  config: Pick<Config, 'host' | 'port' | 'publicUrl' | 'assetUrl' | 'trustProxy'>;
  service: Pick<RenderService, 'enqueue' | 'get' | 'balance' | 'openArtifact' | 'status'>;
  authenticate: Authenticate;
  logger: Logger;
}): Promise<HttpServer> {
  const { config, service, authenticate, logger } = options;
  const hapi = createHapi({
    host: config.host,
    port: config.port,
    listener: createListener(LISTENER_LIMITS),
    // Videos and pictures are compressed already, and the rest is small.
    compression: false,
    // hapi's own way of reporting a bug is to print it.
    debug: false,
    routes: { state: { parse: false, failAction: 'ignore' }, response: { ranges: false } },
  });
  const addresses = addressesOf(config, () => hapi);
  takeBrokenEscapesLiterally(hapi, '/');
  logRequests(hapi, logger, config.trustProxy);
  hapi.ext('onPreResponse', answerErrors(logger));

  await hapi.register([
    { plugin: renderApi, options: { service, authenticate, assetUrl: addresses.assetUrl, logger } },
    { plugin: artifacts, options: { service, logger } },
  ]);
  hapi.route([
    {
      method: 'GET',
      path: '/',
      handler: () => ({ name: 'Scenepress', version: VERSION, api: '/api/v2', openapi: '/openapi.json' }),
    },
    {
      method: 'GET',
      path: '/openapi.json',
      handler: (request) => openApiDocument(addresses.publicUrl(request)),
    },
    { method: 'GET', path: '/health/live', handler: () => ({ status: 'live' }) },
    {
      method: 'GET',
      path: '/health/ready',
      handler: (_request, h) => {
        const { ready, sandbox, diskFull, queuePausedAt } = service.status();
        const answer = {
          status: ready ? 'ready' : 'not ready',
          sandbox: sandbox?.level ?? null,
          disk: diskFull ? 'full' : 'ok',
          // Requests are taken on all the same, so it is ready.
          queue: queuePausedAt === null ? 'running' : 'paused',
        };
        return h.response(answer).code(ready ? 200 : 503);
      },
    },
  ]);
  return { hapi, addresses };
}
