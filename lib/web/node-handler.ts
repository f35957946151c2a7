import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream as NodeStream } from 'node:stream/web';
import type { IncomingMessage, ServerResponse } from '../base/node-types.ts';
import type { WebHandler } from './web-handler.ts';

/** Express keeps the whole path while a router is mounted, and may have read the body. */
type Incoming = IncomingMessage & { originalUrl?: string; body?: unknown };

/**
 * A {@link WebHandler} for Node's `http`, Express and Connect:
 *
 * ```ts
 * app.use('/renders', nodeHandler(webHandler({ service, authenticate, assetUrl, basePath: '/renders' })));
 * ```
 *
 * Mount it before parsers of bodies: they would change metadata.
 */
export function nodeHandler(
  handle: WebHandler,
): (request: IncomingMessage, response: ServerResponse) => Promise<void> {
  return async (incoming: Incoming, outgoing) => {
    const left = new AbortController();
    outgoing.once('close', () => left.abort());
    const request = requestOf(incoming, left.signal);
    const response = request
      ? await handle(request)
      : Response.json({ error: 'Bad Request', message: 'The request is malformed.' }, { status: 400 });
    // The rest of the body is read, too: closing the connection would lose the response.
    incoming.removeAllListeners('data').resume();
    outgoing.writeHead(response.status, Object.fromEntries(response.headers));
    if (!response.body) {
      outgoing.end();
      return;
    }
    // An error means that the client has left.
    await pipeline(Readable.fromWeb(response.body as NodeStream), outgoing).catch(() => {});
  };
}

/** The methods of a Fastify instance that {@link fastifyPlugin} calls. */
interface FastifyLike {
  addContentTypeParser(
    type: string,
    parse: (request: unknown, payload: unknown, done: Done) => void,
  ): unknown;
  removeAllContentTypeParsers(): unknown;
  all(
    path: string,
    handler: (
      request: { raw: IncomingMessage },
      reply: { raw: ServerResponse; hijack(): unknown },
    ) => Promise<void>,
  ): unknown;
}
type Done = (error: null) => void;

/**
 * A {@link WebHandler} as a Fastify plugin, for all paths below its prefix:
 *
 * ```ts
 * await fastify.register(fastifyPlugin(handle), { prefix: '/renders' }); // as `basePath` of the handler
 * ```
 */
export function fastifyPlugin(handle: WebHandler): (fastify: FastifyLike) => Promise<void> {
  const handleNode = nodeHandler(handle);
  return async (fastify) => {
    // The handler reads bodies itself. The parsers of other plugins remain.
    fastify.removeAllContentTypeParsers();
    fastify.addContentTypeParser('*', (_request, _payload, done) => done(null));
    fastify.all('/*', async (request, reply) => {
      reply.hijack();
      await handleNode(request.raw, reply.raw);
    });
  };
}

/**
 * The exports of a Next.js route, `app/[...path]/route.ts`:
 *
 * ```ts
 * export const { DELETE, GET, HEAD, OPTIONS, POST } = routeHandlers(handle);
 * ```
 */
export function routeHandlers(
  handle: WebHandler,
): Record<'DELETE' | 'GET' | 'HEAD' | 'OPTIONS' | 'POST', (request: Request) => Promise<Response>> {
  const route = (request: Request) => handle(request);
  return { DELETE: route, GET: route, HEAD: route, OPTIONS: route, POST: route };
}

/** Undefined for a request that `Request` can't represent. The host is not taken from the request. */
function requestOf(incoming: Incoming, signal: AbortSignal): Request | undefined {
  const { method = 'GET', headers, originalUrl, url = '/' } = incoming;
  const target = originalUrl ?? url;
  try {
    const hasBody = method !== 'GET' && method !== 'HEAD';
    return new Request(`http://localhost${target.startsWith('/') ? target : '/'}`, {
      method,
      headers: Object.entries(headers).map(([name, value]) => [name, String(value)] as [string, string]),
      signal,
      ...(hasBody && { body: bodyOf(incoming), duplex: 'half' }),
    } as RequestInit);
  } catch {
    return undefined;
  }
}

function bodyOf(incoming: Incoming): string | Uint8Array | ReadableStream<Uint8Array> {
  const { body } = incoming;
  if (incoming.readableEnded && body !== undefined)
    return typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body);
  return new ReadableStream<Uint8Array>({
    start(controller) {
      incoming.on('data', (chunk: Uint8Array) => {
        controller.enqueue(chunk);
        incoming.pause();
      });
      incoming.once('end', () => controller.close());
      incoming.once('error', (error: Error) => controller.error(error));
      incoming.pause();
    },
    pull: () => void incoming.resume(),
    cancel: () => void incoming.removeAllListeners('data').removeAllListeners('end').resume(),
  });
}
