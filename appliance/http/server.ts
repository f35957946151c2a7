import { server as createHapi, type Request, type Server, type ServerRoute } from '@hapi/hapi';
import type { RenderService } from '../../lib/index.ts';
import { openApiDocument, type ToolsService } from '../../lib/web/index.ts';
import type { Installation } from '../app/installation.ts';
import { type Addresses, addressesOf } from '../config/addresses.ts';
import type { Config } from '../config/config.ts';
import type { Certificate } from '../edge/certificate.ts';
import { connectionCapsOf } from '../edge/connection-caps.ts';
import type { Connections } from '../edge/connections.ts';
import { createListener, guardListener } from '../edge/listener.ts';
import type { EngineService } from '../mcp/service-engine.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { processLimit } from '../place/process-limits.ts';
import type { Logger } from '../support/log.ts';
import { VERSION } from '../support/version.ts';
import { type ArtifactsOptions, artifacts } from './artifacts.ts';
import { takeBrokenEscapesLiterally } from './broken-escapes.ts';
import { Draining } from './draining.ts';
import { healthRoutes, type Readiness, readinessOf } from './health.ts';
import { answerErrors } from './http-errors.ts';
import { manualRoutes } from './manual.ts';
import { MCP_PATH, mcp } from './mcp.ts';
import { metricsRoute } from './metrics-route.ts';
import { metadataRoutes } from './oidc/protected-resource.ts';
import type { SignIn } from './oidc/sign-in.ts';
import { type Authenticate, renderApi } from './render-api.ts';
import { logRequests } from './request-log.ts';
import { traceRequests } from './request-spans.ts';
import { toolsApi } from './tools-api.ts';

export interface HttpServer {
  hapi: Server;
  addresses: Addresses;
  draining: Draining;
  connections: Connections;
  /** As reported by `/health/ready`. */
  readiness: () => Readiness;
}

/** Creates the HTTP server of the appliance; it doesn't listen yet. */
export async function createServer(options: {
  config: Pick<
    Config,
    | 'host'
    | 'port'
    | 'publicUrl'
    | 'assetUrl'
    | 'trustProxy'
    | 'corsOrigins'
    | 'metricsToken'
    | 'maxConnections'
    | 'maxConnectionsPerAddress'
    | 'roles'
    | 's3Links'
    | 'oidcIssuer'
  >;
  service: Pick<RenderService, 'status'> & EngineService & ToolsService;
  authenticate: Authenticate;
  /** Accepts access tokens for MCP. */
  signIn?: SignIn | undefined;
  logger: Logger;
  metrics: Metrics;
  /** Dependencies of the dashboard; absent: it isn't served. */
  installation?: Installation | undefined;
  /** The bucket of the artifacts; undefined where they are files. */
  bucket?: Installation['bucket'];
  /** Started certificate for HTTPS. */
  certificate?: Certificate | undefined;
  /** Conditions that will become problems. */
  warnings?: () => string[];
  /** Whether requests have spans. */
  isTraced?: boolean;
}): Promise<HttpServer> {
  const { config, service, authenticate, signIn, logger } = options;
  const hapi = createHapi({
    host: config.host,
    port: config.port,
    ...createListener(options.certificate),
    // Videos and images are already compressed, and other responses are small.
    compression: false,
    // Else hapi prints internal errors to the console.
    debug: false,
    routes: { state: { parse: false, failAction: 'ignore' }, response: { ranges: false } },
  });
  const caps = connectionCapsOf(config, processLimit('Max open files'));
  if (config.maxConnections !== undefined && caps.total < config.maxConnections) {
    const { total } = caps;
    logger.warn({ total }, 'The limit of open files is too low for maxConnections, which is lowered.');
  }
  const connections = guardListener(hapi.listener, { caps, logger });
  const addresses = addressesOf(config, () => hapi);
  const draining = new Draining(hapi);
  const readiness = () =>
    readinessOf(service, {
      isDraining: draining.hasBegun,
      warnings: options.warnings?.() ?? [],
    });
  takeBrokenEscapesLiterally(hapi, '/');
  logRequests(hapi, logger, config.trustProxy);
  if (options.isTraced) traceRequests(hapi);
  // For the routes below and unknown paths; the plugins handle their own errors.
  hapi.ext('onPreResponse', answerErrors(logger), { sandbox: 'plugin' });

  const isApi = config.roles.includes('api');
  const { bucket } = options;
  const redirects: Pick<ArtifactsOptions, 'redirectTo'> =
    bucket && config.s3Links === 'presigned'
      ? { redirectTo: ({ assetKey }) => bucket.presign(assetKey) }
      : {};
  if (isApi) {
    const links = bucket && config.s3Links === 'public' ? { artifactUrl: bucket.artifactUrl } : {};
    const { corsOrigins } = config;
    await hapi.register([
      {
        plugin: renderApi,
        options: { service, authenticate, assetUrl: addresses.assetUrl, ...links, logger, corsOrigins },
      },
      {
        plugin: mcp,
        options: {
          ...{ service, authenticate, signIn },
          ...{ addresses, ...links, corsOrigins, logger },
          ...(bucket && config.s3Links === 'presigned' && { redirectOrigin: () => originOf(bucket) }),
          stopping: draining.signal,
        },
      },
      {
        plugin: toolsApi,
        options: {
          ...{ service, authenticate, ...links, logger },
          ...{ assetUrl: addresses.assetUrl, publicUrl: addresses.publicUrl },
          ...{ corsOrigins: config.corsOrigins, stopping: draining.signal },
        },
      },
      {
        plugin: artifacts,
        options: { service, logger, ...redirects },
      },
    ]);
  }
  const installation = isApi ? options.installation : undefined;
  if (installation) {
    // Slow to load, and not needed without it.
    const { dashboard } = await import('../dashboard/dashboard.ts');
    await hapi.register({ plugin: dashboard, options: { config, installation, addresses, logger } });
    const { watch } = await import('../watch/watch.ts');
    await hapi.register({ plugin: watch, options: { service: installation.service, addresses, logger } });
  }
  hapi.route([
    {
      method: 'GET',
      path: '/',
      handler: (request, h) =>
        installation && isBrowser(request)
          ? h.redirect('/dashboard')
          : {
              name: 'Scenepress',
              version: VERSION,
              ...(isApi && {
                api: '/api/v2',
                openapi: '/openapi.json',
                tools: '/api/tools/v1/openapi.json',
                manual: '/llms.txt',
              }),
            },
    },
    ...(isApi ? [openApiRoute(addresses), ...manualRoutes(addresses)] : []),
    ...(isApi && signIn ? metadataRoutes(MCP_PATH, { addresses, issuer: signIn.issuer }) : []),
    metricsRoute(options.metrics, config.metricsToken),
    ...healthRoutes(readiness),
  ]);
  return { hapi, addresses, draining, connections, readiness };
}

/** The origin of presigned links; that of any file is the same. */
async function originOf(bucket: NonNullable<Installation['bucket']>): Promise<string> {
  return new URL(await bucket.presign('video.mp4')).origin;
}

function openApiRoute(addresses: Addresses): ServerRoute {
  return {
    method: 'GET',
    path: '/openapi.json',
    handler: (request) => openApiDocument(addresses.publicUrl(request)),
  };
}

function isBrowser({ headers }: Request): boolean {
  return String(headers['accept'] ?? '').includes('text/html');
}
