import { Readable } from 'node:stream';
import type { ReadableStream as NodeStream } from 'node:stream/web';
import { known, type Names } from '../base/known-options.ts';
import { type Logger, silentLogger } from '../base/logger.ts';
import { type Random, systemRandom } from '../base/random.ts';
import { type ArtifactUrl, jobJson } from '../model/job-json.ts';
import type { RenderService } from '../service/render-service.ts';
import { type Clock, systemClock } from '../time/clock.ts';
import { ARTIFACT_EXPOSED_HEADERS, artifactAnswer, type RedirectTo } from './artifact-answer.ts';
import { type Authenticate, bearerTokenOf } from './caller.ts';
import { accountBody, enqueueBody } from './endpoints.ts';
import { answerTo, isLogged, nothingHere, unauthorized } from './http-errors.ts';
import { bodyIncomplete, bodyRequired, decoderOf, MAX_BODY_BYTES, tooLarge } from './request-body.ts';
import { assertScope, TO_READ, TO_RENDER } from './scopes.ts';
import { answerTool, isOfTools, type ToolsContext } from './tools/answer.ts';
import { Streams } from './tools/streams.ts';
import type { ToolsService } from './tools/tools-service.ts';

/** Answers a request. Never rejects. */
export type WebHandler = (request: Request) => Promise<Response>;

/** Options of {@link webHandler}. */
export interface WebOptions {
  /** The service whose API it is. */
  service: ToolsService & Pick<RenderService, 'openArtifact'>;
  /** The owner of a bearer token. */
  authenticate: Authenticate;
  /**
   * Base URL of artifact links, without a trailing slash, or a function that returns it for a request. Nothing is
   * derived from the `Host` header, which clients choose.
   */
  assetUrl?: string | ((request: Request) => string);
  /** Makes the artifact links instead. Required: this or `assetUrl`. */
  artifactUrl?: ArtifactUrl;
  /** Base URL of links to pictures, or a function that returns it for a request. Default: `assetUrl`. */
  publicUrl?: string | ((request: Request) => string);
  /** Ends streams of an account's events, before the server stops. */
  stopping?: AbortSignal;
  /**
   * Where GET requests for an artifact are redirected to (307), such as a presigned link of S3; undefined: the artifact
   * is read from its store and passed on. A HEAD request is answered here.
   */
  redirectTo?: RedirectTo;
  /** Where the handler is mounted, such as `/renders`; default: at the root. */
  basePath?: string;
  /** Origins of web pages that may call the API from browsers, or `*`; default: none. */
  corsOrigins?: readonly string[];
  /** Logs the causes of 5xx responses. */
  logger?: Logger;
  clock?: Clock;
  /** The source of the ids of requests. */
  random?: Random;
}

const OPTIONS: Names<WebOptions> = {
  service: true,
  authenticate: true,
  assetUrl: true,
  artifactUrl: true,
  publicUrl: true,
  stopping: true,
  redirectTo: true,
  basePath: true,
  corsOrigins: true,
  logger: true,
  clock: true,
  random: true,
};

const JSON_TYPE = 'application/json; charset=utf-8';
const CORS_REQUEST_HEADERS =
  'Accept, Authorization, Content-Type, Idempotency-Key, If-Match, Last-Event-ID, Prefer, Traceparent, Tracestate';
const CORS_EXPOSED_HEADERS = 'ETag, Preference-Applied, Request-Id, Retry-After, WWW-Authenticate';
const ARTIFACT_REQUEST_HEADERS = 'Accept, If-None-Match, If-Range, Range';

/**
 * The HTTP API of the appliance for any server with `Request` and `Response` (Next.js, Hono, …):
 *
 * | request | response |
 * |---|---|
 * | `POST /api/v2/render`, `GET /api/v2/render/{jobId}`, `GET /api/v2/me` | contract §4 |
 * | `/api/tools/v1/…` | checks, pictures, lists, waits, events, batches: `GET /api/tools/v1/openapi.json` describes them |
 * | `GET /artifacts/{jobId}/{name}` | the artifact, with ranges, for anyone: job ids can't be guessed |
 *
 * ```ts
 * const handle = webHandler({ service, authenticate, assetUrl: 'https://renders.example.org' });
 * const response = await handle(new Request('https://renders.example.org/api/v2/me', { headers }));
 * ```
 */
export function webHandler(options: WebOptions): WebHandler {
  const {
    logger = silentLogger,
    random = systemRandom,
    assetUrl,
    artifactUrl,
    basePath = '',
  } = known('webHandler', options, OPTIONS);
  if (assetUrl === undefined && artifactUrl === undefined)
    throw new TypeError('webHandler needs `assetUrl` or `artifactUrl`');
  const streams = new Streams();
  return async (request) => {
    const requestId = random.bytes(16).toString('hex');
    let response: Response;
    const segments = segmentsOf(request.url, basePath);
    try {
      response = await answer({ ...options, streams }, request, segments);
    } catch (error) {
      if (isLogged(error)) logger.error({ requestId, err: error }, 'request failed');
      const { status, headers, body } = answerTo(error);
      await request.body?.cancel().catch(() => {});
      response = json(status, JSON.stringify(body), headers);
    }
    response.headers.set('request-id', requestId);
    allowOrigins(response.headers, request, segments, options.corsOrigins ?? []);
    return request.method === 'HEAD' ? withoutBody(response) : response;
  };
}

async function answer(
  options: WebOptions & { streams: Streams },
  request: Request,
  segments: string[],
): Promise<Response> {
  const [first, second, third, ...more] = segments;
  const isGet = request.method === 'GET' || request.method === 'HEAD';
  if (first === 'artifacts' && second !== undefined && third !== undefined && more.length === 0) {
    if (request.method === 'OPTIONS') return new Response(null, { status: 204 });
    if (isGet) return artifact(options, request, second, third);
  }
  const isApi = first === 'api' && second === 'v2';
  const isTool = isOfTools(segments);
  if (!isApi && !isTool) throw nothingHere();
  if (isPreflight(request) && options.corsOrigins?.length) return new Response(null, { status: 204 });
  if (isTool) return answerTool(request, segments, toolsContextOf(options, request));

  // Without a live key, existing and unknown paths get the same response.
  const token = bearerTokenOf(request.headers.get('authorization'));
  const caller = token === undefined ? null : await options.authenticate(token);
  if (!caller) throw unauthorized();
  const [endpoint, jobId, ...rest] = segments.slice(2);
  if (endpoint === 'render' && jobId === undefined && request.method === 'POST') {
    assertScope(caller, TO_RENDER);
    const queued = await enqueueBody(
      options.service,
      caller,
      await readBody(request, MAX_BODY_BYTES),
      request.headers,
    );
    return json(202, JSON.stringify(queued));
  }
  if (endpoint === 'render' && jobId !== undefined && rest.length === 0 && isGet) {
    assertScope(caller, TO_READ);
    const job = await options.service.get(jobId, { owner: caller.owner });
    return json(200, jobJson(job, linksOf(options, request)));
  }
  if (endpoint === 'me' && jobId === undefined && isGet)
    return json(200, JSON.stringify(await accountBody(options.service, caller)));
  throw nothingHere();
}

async function artifact(
  options: WebOptions,
  request: Request,
  jobId: string,
  name: string,
): Promise<Response> {
  const header = (name: string) => request.headers.get(name) ?? undefined;
  const isHead = request.method === 'HEAD';
  const opened = await artifactAnswer(options, jobId, name, {
    isHead,
    range: header('range'),
    ifRange: header('if-range'),
  });
  const { status, headers, stream } = opened;
  if (!stream) return new Response(null, { status, headers });
  const known = header('if-none-match')
    ?.split(',')
    .map((etag) => etag.trim().replace(/^W\//, ''));
  const isKnown = known?.includes('*') || known?.includes(headers['etag'] ?? '');
  if (isKnown || isHead) stream.destroy();
  if (isKnown) return new Response(null, { status: 304, headers });
  const body = isHead ? null : (Readable.toWeb(stream) as ReadableStream<Uint8Array>);
  return new Response(body, { status, headers: { ...headers, 'content-length': String(opened.sizeBytes) } });
}

function toolsContextOf(options: WebOptions & { streams: Streams }, request: Request): ToolsContext {
  const {
    service,
    authenticate,
    assetUrl = '',
    publicUrl = assetUrl,
    streams,
    clock = systemClock,
  } = options;
  return {
    ...{ service, authenticate, streams, stopping: options.stopping, clock },
    links: linksOf(options, request),
    baseUrl: typeof publicUrl === 'string' ? publicUrl : publicUrl(request),
    readBody: (mostBytes) => readBody(request, mostBytes),
    openBody: () => bodyOf(request),
  };
}

/** The body, decompressed. */
async function* bodyOf(request: Request): AsyncGenerator<Buffer> {
  if (!request.body) return;
  const source = Readable.fromWeb(request.body as NodeStream);
  const decoder = decoderOf(request.headers.get('content-encoding'));
  if (decoder) source.on('error', (error) => decoder.destroy(error));
  try {
    yield* decoder ? source.pipe(decoder) : source;
  } catch (cause) {
    throw bodyIncomplete(cause);
  } finally {
    source.destroy();
  }
}

/** Reads the body to its end, decompressed. Errors: 413, `invalid_request`. */
async function readBody(request: Request, mostBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let sizeBytes = 0;
  try {
    for await (const chunk of bodyOf(request)) {
      sizeBytes += chunk.length;
      if (sizeBytes > mostBytes) break;
      chunks.push(chunk);
    }
  } catch (cause) {
    throw bodyRequired(cause);
  }
  if (sizeBytes > mostBytes) throw tooLarge(mostBytes);
  return Buffer.concat(chunks);
}

function linksOf({ assetUrl = '', artifactUrl }: WebOptions, request: Request): string | ArtifactUrl {
  return artifactUrl ?? (typeof assetUrl === 'string' ? assetUrl : assetUrl(request));
}

/** The decoded segments of a path behind the base path; an unknown one if it can't be decoded. */
function segmentsOf(url: string, basePath: string): string[] {
  const { pathname } = new URL(url);
  if (!pathname.startsWith(`${basePath}/`)) return [];
  return pathname
    .slice(basePath.length + 1)
    .split('/')
    .map((segment) => {
      try {
        const decoded = decodeURIComponent(segment);
        // No text of a database may contain it.
        return decoded.includes('\0') ? segment : decoded;
      } catch {
        return segment;
      }
    });
}

function json(status: number, text: string, headers: Record<string, string> = {}): Response {
  return new Response(text, {
    status,
    headers: { 'content-type': JSON_TYPE, 'cache-control': 'no-cache', ...headers },
  });
}

function withoutBody({ status, headers, body }: Response): Response {
  void body?.cancel().catch(() => {});
  return new Response(null, { status, headers });
}

function isPreflight({ method, headers }: Request): boolean {
  return method === 'OPTIONS' && headers.has('origin') && headers.has('access-control-request-method');
}

/** Browsers send a preflight request before one with a key or an Idempotency-Key. Cookies aren't allowed. */
function allowOrigins(
  headers: Headers,
  request: Request,
  [first]: string[],
  corsOrigins: readonly string[],
): void {
  const isArtifact = first === 'artifacts';
  const origin = request.headers.get('origin') ?? '';
  const isAllowed = isArtifact || corsOrigins.includes('*') || corsOrigins.includes(origin);
  if (corsOrigins.length > 0 && !isArtifact) headers.append('vary', 'origin');
  if (!isAllowed) return;
  headers.set('access-control-allow-origin', isArtifact || origin === '' ? '*' : origin);
  headers.set(
    'access-control-expose-headers',
    isArtifact ? ARTIFACT_EXPOSED_HEADERS.join(', ') : CORS_EXPOSED_HEADERS,
  );
  if (!isPreflight(request)) return;
  headers.set('access-control-allow-methods', isArtifact ? 'GET' : 'GET, POST, DELETE');
  headers.set('access-control-allow-headers', isArtifact ? ARTIFACT_REQUEST_HEADERS : CORS_REQUEST_HEADERS);
  headers.set('access-control-max-age', '600');
}
