import type { Request as HapiRequest, Plugin, ResponseObject, ResponseToolkit } from '@hapi/hapi';
import type { ArtifactUrl, Logger } from '../../lib/index.ts';
import { traceContextIn } from '../../lib/internal.ts';
import { type Authenticate, HttpRejection, unauthorized } from '../../lib/web/index.ts';
import type { Addresses } from '../config/addresses.ts';
import type { EngineService } from '../mcp/service-engine.ts';
import { answerErrors } from './http-errors.ts';
import { resourceAt } from './oidc/protected-resource.ts';
import type { SignIn } from './oidc/sign-in.ts';
import { authenticated, bearerScheme } from './render-api/bearer.ts';
import { discardBody, readBody } from './render-api/request-body.ts';
import { requestIdOf } from './request-id.ts';
import { hapiResponseOf, webHeadersOf } from './web-answer.ts';

/** Options of the plugin {@link mcp}. */
export interface McpEndpointOptions {
  service: EngineService;
  /** The owner of a bearer token. */
  authenticate: Authenticate;
  /** Accepts access tokens, too; default: API keys only. */
  signIn?: SignIn | undefined;
  addresses: Addresses;
  /** Makes the links to artifacts instead. */
  artifactUrl?: ArtifactUrl | undefined;
  /** The origin to which links to artifacts redirect; default: they do not. */
  redirectOrigin?: (() => Promise<string>) | undefined;
  /** Origins of web pages that may call it from browsers, or `*`. */
  corsOrigins: string[];
  logger: Logger;
  /** Ends the waits of calls: renders continue. */
  stopping: AbortSignal;
}

/** The path of the endpoint. */
export const MCP_PATH = '/mcp';
const AUTH = 'scenepress-mcp-key';
/** A source has at most 200 KiB; as JSON it is longer. */
const MOST_BODY_BYTES = 1024 * 1024;
/** The handler reads the body itself, to limit its size. */
const BODY_UNREAD = { parse: false, output: 'stream', maxBytes: Number.MAX_SAFE_INTEGER } as const;
const PROTOCOL_HEADERS = ['Mcp-Protocol-Version', 'Mcp-Method', 'Mcp-Name'];
const TRACE_HEADERS = ['Traceparent', 'Tracestate'];
const CORS_HEADERS = ['Accept', 'Authorization', 'Content-Type', ...PROTOCOL_HEADERS, ...TRACE_HEADERS];

/**
 * `POST /mcp`: MCP over streamable HTTP, for callers with an API key or an access token. Without an issuer of access tokens,
 * the answer to a request without a key names none, so that clients do not begin a sign-in.
 */
export const mcp: Plugin<McpEndpointOptions> = {
  name: 'scenepress-mcp',
  register(server, options) {
    const { corsOrigins, logger } = options;
    server.auth.scheme(AUTH, () => schemeOf(options));
    server.auth.strategy(AUTH, AUTH);
    server.ext('onPreResponse', answerErrors(logger), { sandbox: 'plugin' });
    const isOpen = corsOrigins.length > 0;
    const route = {
      auth: AUTH,
      payload: BODY_UNREAD,
      cors: isOpen && {
        ...{ origin: corsOrigins, headers: CORS_HEADERS, maxAge: 600 },
        exposedHeaders: ['WWW-Authenticate'],
      },
    };
    server.ext('onPreAuth', checkOrigin(options), { sandbox: 'plugin' });
    server.route({
      method: 'POST',
      path: MCP_PATH,
      options: route,
      handler: (request, h) => answer(request, h, options),
    });
    // With CORS, hapi answers OPTIONS.
    for (const method of isOpen ? (['*'] as const) : (['*', 'OPTIONS'] as const))
      server.route({ method, path: MCP_PATH, options: route, handler: refuseMethod });
  },
};

function schemeOf({ authenticate, signIn, addresses }: McpEndpointOptions) {
  if (!signIn) return bearerScheme(authenticate);
  const here = (request: HapiRequest) => resourceAt(MCP_PATH, addresses, request);
  return bearerScheme(
    async (token, request) => (await signIn.callerOf(token, here(request))) ?? (await authenticate(token)),
    {
      refusal: (request) =>
        unauthorized('The API key or access token is invalid or missing.', here(request).challenge()),
    },
  );
}

/** Keeps pages of other sites from calling a service in the network of their reader. */
function checkOrigin({ addresses, corsOrigins }: McpEndpointOptions) {
  return async (request: HapiRequest, h: ResponseToolkit) => {
    const { origin } = request.raw.req.headers;
    const own = new URL(addresses.publicUrl(request)).origin;
    if (origin === undefined || origin === own || corsOrigins.some((one) => one === '*' || one === origin))
      return h.continue;
    await discardBody(request.raw.req);
    const message = `Requests from pages of this origin are not allowed; see SCENEPRESS_CORS_ORIGINS.`;
    throw new HttpRejection(403, { error: 'Forbidden', message });
  };
}

async function answer(
  request: HapiRequest,
  h: ResponseToolkit,
  options: McpEndpointOptions,
): Promise<ResponseObject> {
  const { req, res } = request.raw;
  const caller = authenticated(request);
  const body = await readBody(req, MOST_BODY_BYTES);
  const left = new AbortController();
  res.once('close', () => left.abort());
  const { service, addresses, artifactUrl, redirectOrigin, logger, stopping } = options;
  // Loaded with the first request, because loading takes long.
  const { answerMcp } = await import('../mcp/http.ts');
  const answer = await answerMcp(
    new Request(`http://localhost${MCP_PATH}`, {
      method: 'POST',
      headers: headersOf(req.rawHeaders),
      body: new Uint8Array(body),
      signal: left.signal,
    }),
    {
      ...{ service, caller, artifactUrl, redirectOrigin, logger, stopping },
      ...traceContextIn(req.headers),
      assetUrl: addresses.assetUrl(request),
      requestId: requestIdOf(request),
    },
  );
  return hapiResponseOf(h, answer);
}

/** Of the body as it was read. */
function headersOf(rawHeaders: string[]): Headers {
  const headers = webHeadersOf(rawHeaders);
  for (const name of ['content-encoding', 'content-length', 'transfer-encoding']) headers.delete(name);
  return headers;
}

async function refuseMethod(request: HapiRequest): Promise<never> {
  await discardBody(request.raw.req);
  const message = 'Send a POST request: this server keeps no sessions.';
  throw new HttpRejection(405, { error: 'Method Not Allowed', message }, { allow: 'POST' });
}
