import type { Request as HapiRequest, Plugin, ResponseObject, ResponseToolkit } from '@hapi/hapi';
import type { ArtifactUrl, Logger } from '../../lib/index.ts';
import { systemClock } from '../../lib/internal.ts';
import {
  type Authenticate,
  answerTool,
  known,
  Streams,
  TOOLS_PATH,
  type ToolsService,
} from '../../lib/web/index.ts';
import { giveTime } from '../edge/request-time.ts';
import { takeBrokenEscapesLiterally } from './broken-escapes.ts';
import { answerErrors } from './http-errors.ts';
import { bodyOf, discardBody, readBody } from './render-api/request-body.ts';
import { hapiResponseOf, webHeadersOf } from './web-answer.ts';

/** Options of the plugin {@link toolsApi}. */
export interface ToolsApiOptions {
  /** The service whose API it is. */
  service: ToolsService;
  /** The owner of a bearer token. */
  authenticate: Authenticate;
  /** Base URL of links to artifacts, without a trailing slash, or a function that returns it for a request. */
  assetUrl: string | ((request: HapiRequest) => string);
  /** Makes the links to artifacts instead. */
  artifactUrl?: ArtifactUrl;
  /** Base URL of links to pictures; default: `assetUrl`. */
  publicUrl?: string | ((request: HapiRequest) => string);
  /** Origins of web pages that may call the API from browsers, or `*`; default: none. */
  corsOrigins?: string[];
  /** Ends streams of an account's events, before the server stops. */
  stopping?: AbortSignal;
  /** Logs the causes of 5xx responses. */
  logger?: Logger;
}

const PATH = `${TOOLS_PATH}/{path*}`;
/** The handler reads the body itself: its size is limited after decompression. */
const BODY_UNREAD = {
  parse: false,
  output: 'stream',
  override: 'application/json',
  maxBytes: Number.MAX_SAFE_INTEGER,
} as const;
const CORS = {
  headers: [
    ...['Accept', 'Authorization', 'Content-Type', 'Idempotency-Key', 'If-Match', 'Last-Event-ID', 'Prefer'],
    ...['Traceparent', 'Tracestate'],
  ],
  exposedHeaders: ['ETag', 'Preference-Applied', 'Request-Id', 'Retry-After', 'WWW-Authenticate'],
  maxAge: 600,
};

/**
 * The tools API, version 1, as a hapi plugin: checks, pictures, lists, waits, events and batches, as `GET
 * /api/tools/v1/openapi.json` describes them.
 *
 * ```ts
 * await server.register({ plugin: toolsApi, options: { service, authenticate, assetUrl } });
 * ```
 */
export const toolsApi: Plugin<ToolsApiOptions> = {
  name: 'scenepress-tools-api',
  register(server, options) {
    const { corsOrigins = [], logger } = known('toolsApi', options, {
      service: true,
      authenticate: true,
      assetUrl: true,
      artifactUrl: true,
      publicUrl: true,
      corsOrigins: true,
      stopping: true,
      logger: true,
    });
    const streams = new Streams();
    server.ext('onPreResponse', answerErrors(logger), { sandbox: 'plugin' });
    takeBrokenEscapesLiterally(server, `${TOOLS_PATH}/`);
    // Without CORS, OPTIONS needs its own route: else hapi answers it first on a server that has any CORS route.
    for (const method of corsOrigins.length > 0 ? (['*'] as const) : (['*', 'OPTIONS'] as const)) {
      server.route({
        method,
        path: PATH,
        options: {
          state: { parse: false, failAction: 'ignore' },
          response: { ranges: false },
          cors: corsOrigins.length > 0 && { ...CORS, origin: corsOrigins },
          payload: method === '*' ? BODY_UNREAD : undefined,
        },
        handler: (request, h) => answer(request, h, options, streams),
      });
    }
  },
};

async function answer(
  request: HapiRequest,
  h: ResponseToolkit,
  { service, authenticate, assetUrl, artifactUrl, publicUrl = assetUrl, stopping }: ToolsApiOptions,
  streams: Streams,
): Promise<ResponseObject> {
  const { req, res } = request.raw;
  const left = new AbortController();
  res.once('close', () => left.abort());
  const urlOf = (url: ToolsApiOptions['assetUrl']) => (typeof url === 'string' ? url : url(request));
  try {
    const response = await answerTool(
      new Request(`http://localhost${TOOLS_PATH}${request.url.search}`, {
        method: request.method,
        headers: webHeadersOf(req.rawHeaders),
        signal: left.signal,
      }),
      [...TOOLS_PATH.slice(1).split('/'), ...segmentsOf(request)],
      {
        ...{ service, authenticate, streams, stopping, clock: systemClock },
        links: artifactUrl ?? urlOf(assetUrl),
        baseUrl: urlOf(publicUrl),
        readBody: (mostBytes) => readBody(req, mostBytes),
        openBody: () => {
          giveTime(req);
          return bodyOf(req);
        },
      },
    );
    await discardBody(req);
    return hapiResponseOf(h, response);
  } catch (error) {
    await discardBody(req);
    throw error;
  }
}

/** The decoded segments below the prefix. */
function segmentsOf({ params }: HapiRequest): string[] {
  return String(params['path'] ?? '').split('/');
}
