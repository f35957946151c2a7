import { createServer as createListener, type Server as HttpListener } from 'node:http';
import { createServer as createSecureListener, type Server as HttpsListener } from 'node:https';
import { server as createHapi, type Server } from '@hapi/hapi';
import type { RenderService } from '../lib/index.ts';
import { type Addresses, addressesOf } from './addresses.ts';
import { artifacts } from './artifacts.ts';
import { takeBrokenEscapesLiterally } from './broken-escapes.ts';
import type { Certificate } from './certificate.ts';
import type { Config } from './config.ts';
import { Draining } from './draining.ts';
import { healthRoutes } from './health.ts';
import { answerErrors } from './http-errors.ts';
import { type Logger, logRequests } from './log.ts';
import type { Metrics } from './metrics/metrics.ts';
import { metricsRoute } from './metrics/metrics-route.ts';
import { openApiDocument } from './openapi.ts';
import { type Authenticate, renderApi } from './render-api.ts';
import { VERSION } from './version.ts';

/** Against clients that open a connection and take their time. */
const LISTENER_LIMITS = {
  headersTimeout: 15_000,
  requestTimeout: 60_000,
  connectionsCheckingInterval: 5_000,
  handshakeTimeout: 15_000,
};

export interface HttpServer {
  hapi: Server;
  addresses: Addresses;
  /** The beginning of its end. */
  draining: Draining;
}

/** The HTTP side of the appliance, not yet listening. */
export async function createServer(options: {
  config: Pick<
    Config,
    'host' | 'port' | 'publicUrl' | 'assetUrl' | 'trustProxy' | 'corsOrigins' | 'metricsToken'
  >;
  service: Pick<RenderService, 'enqueue' | 'get' | 'balance' | 'openArtifact' | 'status'>;
  authenticate: Authenticate;
  logger: Logger;
  metrics: Metrics;
  /** Serves https with it; started. */
  certificate?: Certificate | undefined;
}): Promise<HttpServer> {
  const { config, service, authenticate, logger } = options;
  const hapi = createHapi({
    host: config.host,
    port: config.port,
    ...listenerOf(options.certificate),
    // Videos and pictures are compressed already, and the rest is small.
    compression: false,
    // hapi's own way of reporting a bug is to print it.
    debug: false,
    routes: { state: { parse: false, failAction: 'ignore' }, response: { ranges: false } },
  });
  const addresses = addressesOf(config, () => hapi);
  const draining = new Draining(hapi);
  takeBrokenEscapesLiterally(hapi, '/');
  logRequests(hapi, logger, config.trustProxy);
  // For its own routes and for what no route is for; the plugins do it for theirs.
  hapi.ext('onPreResponse', answerErrors(logger), { sandbox: 'plugin' });

  await hapi.register([
    {
      plugin: renderApi,
      options: {
        service,
        authenticate,
        assetUrl: addresses.assetUrl,
        logger,
        corsOrigins: config.corsOrigins,
      },
    },
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
    metricsRoute(options.metrics, config.metricsToken),
    ...healthRoutes({
      service,
      isDraining: () => draining.hasBegun,
      warnings: () => options.certificate?.warnings() ?? [],
    }),
  ]);
  return { hapi, addresses, draining };
}

/** hapi's options for the listener: http, or https that takes up a new certificate without closing anything. */
function listenerOf(
  certificate: Certificate | undefined,
): { listener: HttpListener } | { listener: HttpsListener; tls: true } {
  if (!certificate) return { listener: createListener(LISTENER_LIMITS) };
  const listener = createSecureListener({ ...LISTENER_LIMITS, ...certificate.options });
  certificate.onChange = () => listener.setSecureContext(certificate.options);
  return { listener, tls: true };
}
