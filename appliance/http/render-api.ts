/** The HTTP API as plugins of a hapi server: {@link renderApi} and {@link artifacts}. */
import type { Plugin, Request, RouteOptionsCors } from '@hapi/hapi';
import type { ArtifactUrl, Logger, RenderService } from '../../lib/index.ts';
import { jobJson } from '../../lib/internal.ts';
import {
  type Authenticate,
  accountBody,
  ENQUEUE,
  enqueueBody,
  GET_ACCOUNT,
  GET_JOB,
  known,
  nothingHere,
  TO_READ,
  TO_RENDER,
} from '../../lib/web/index.ts';
import { takeBrokenEscapesLiterally } from './broken-escapes.ts';
import { answerErrors } from './http-errors.ts';
import { authenticated, bearerScheme } from './render-api/bearer.ts';
import { discardBody, readBody } from './render-api/request-body.ts';

export type { Authenticate, Caller } from '../../lib/web/index.ts';
export { type ArtifactsOptions, artifacts } from './artifacts.ts';
export { type ToolsApiOptions, toolsApi } from './tools-api.ts';

/** Options of the plugin {@link renderApi}. */
export interface RenderApiOptions {
  /** The service whose API it is. */
  service: Pick<RenderService, 'enqueue' | 'get' | 'balance'>;
  /** The owner of a bearer token. */
  authenticate: Authenticate;
  /** Base URL of links to artifacts, without a trailing slash, or a function that returns it for a request. */
  assetUrl: string | ((request: Request) => string);
  /** Makes the links to artifacts instead. */
  artifactUrl?: ArtifactUrl;
  /** Origins of web pages that may call the API from browsers, or `*`; default: none. */
  corsOrigins?: string[];
  /** Logs the causes of 5xx responses. */
  logger?: Logger;
}

/** The names of what authenticates: any live key, or one that may render or read. */
const AUTH = { any: 'scenepress-key', render: 'scenepress-key-render', read: 'scenepress-key-read' } as const;

const ROUTE = {
  auth: AUTH.any,
  // Cookies are ignored; if they were parsed, an invalid one would be rejected before authentication.
  state: { parse: false, failAction: 'ignore' },
  // Ranges of JSON documents are useless.
  response: { ranges: false },
} as const;

/**
 * The handler reads the body itself: its size is limited after decompression, its metadata is kept as text, and the
 * Content-Type is ignored.
 */
const BODY_UNREAD = {
  parse: false,
  output: 'stream',
  override: 'application/json',
  maxBytes: Number.MAX_SAFE_INTEGER,
} as const;

/**
 * The three endpoints of the render API, version 2, as a hapi plugin:
 *
 * ```ts
 * await server.register({ plugin: renderApi, options: { service, authenticate, assetUrl } });
 * ```
 *
 * Artifacts are served by a separate plugin, {@link artifacts}, or by any other server at `assetUrl`.
 */
export const renderApi: Plugin<RenderApiOptions> = {
  name: 'scenepress-render-api',
  register(server, options) {
    const {
      service,
      authenticate,
      assetUrl,
      artifactUrl,
      corsOrigins = [],
      logger,
    } = known('renderApi', options, {
      service: true,
      authenticate: true,
      assetUrl: true,
      artifactUrl: true,
      corsOrigins: true,
      logger: true,
    });
    const route = { ...ROUTE, cors: corsOf(corsOrigins) };
    for (const [name, anyOf] of [
      [AUTH.any, undefined],
      [AUTH.render, TO_RENDER],
      [AUTH.read, TO_READ],
    ] as const) {
      server.auth.scheme(name, () => bearerScheme(authenticate, anyOf && { anyOf }));
      server.auth.strategy(name, name);
    }
    server.ext('onPreResponse', answerErrors(logger), { sandbox: 'plugin' });
    takeBrokenEscapesLiterally(server, '/api/v2/');

    server.route({
      method: ENQUEUE.method,
      path: ENQUEUE.path,
      options: { ...route, auth: AUTH.render, payload: BODY_UNREAD },
      async handler(request, h) {
        const caller = authenticated(request);
        const { req } = request.raw;
        const body = await readBody(req);
        return h.response(await enqueueBody(service, caller, body, req.headers)).code(202);
      },
    });

    server.route({
      method: GET_JOB.method,
      path: GET_JOB.path,
      options: { ...route, auth: AUTH.read },
      async handler(request, h) {
        const { owner } = authenticated(request);
        const job = await service.get(String(request.params['jobId']), { owner });
        const links = artifactUrl ?? (typeof assetUrl === 'string' ? assetUrl : assetUrl(request));
        return h.response(jobJson(job, links)).type('application/json');
      },
    });

    server.route({
      method: GET_ACCOUNT.method,
      path: GET_ACCOUNT.path,
      options: route,
      async handler(request) {
        return accountBody(service, authenticated(request));
      },
    });

    // Without a live key, existing and unknown paths under the prefix get the same response. Without CORS, OPTIONS
    // needs its own route: else hapi answers it first on a server that has any CORS route.
    for (const method of corsOrigins.length > 0 ? (['*'] as const) : (['*', 'OPTIONS'] as const)) {
      server.route({
        method,
        path: '/api/v2/{path*}',
        options: { ...route, payload: BODY_UNREAD },
        async handler(request) {
          await discardBody(request.raw.req);
          throw nothingHere();
        },
      });
    }
  },
};

/** Browsers send a preflight request before one with a key or an Idempotency-Key. Cookies aren't allowed. */
function corsOf(origins: string[]): false | RouteOptionsCors {
  if (origins.length === 0) return false;
  return {
    origin: origins,
    headers: ['Accept', 'Authorization', 'Content-Type', 'Idempotency-Key', 'Traceparent', 'Tracestate'],
    exposedHeaders: ['Request-Id', 'Retry-After', 'WWW-Authenticate'],
    maxAge: 600,
  };
}
