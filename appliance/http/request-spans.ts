import type { IncomingMessage, RequestListener } from 'node:http';
import type { Server } from '@hapi/hapi';
import { type Context, context, trace } from '@opentelemetry/api';
import { contextOf, type Span, traceContextOfHeaders } from '../../lib/internal.ts';
import { beginSpan, endSpan, markFault, SpanKind } from '../../lib/internal-service.ts';
import { loggedPath } from '../edge/logged-path.ts';
import { requestIdOf } from './request-id.ts';

/** The APIs; not pages, artifacts, health and metrics. */
const TRACED = /^\/(api\/|mcp(?:\?|$))/;
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** A span for each request to the APIs, the child of its `traceparent`, and active while the request is handled. */
export function traceRequests(hapi: Server): void {
  const { listener } = hapi;
  const begun = new WeakMap<IncomingMessage, { span: Span; startMs: number }>();
  const begin = (request: IncomingMessage): Context => {
    const parent = contextOf(traceContextOfHeaders(request.headers));
    const startMs = Date.now();
    const span = beginSpan(methodOf(request.method), { parent, startMs, kind: SpanKind.SERVER });
    begun.set(request, { span, startMs });
    return trace.setSpan(parent, span);
  };
  const handlers = listener.listeners('request') as RequestListener[];
  listener.removeAllListeners('request');
  listener.on('request', (request: IncomingMessage, response) => {
    const handle = () => {
      for (const handler of handlers) handler.call(listener, request, response);
    };
    if (TRACED.test(request.url ?? '')) context.with(begin(request), handle);
    else handle();
  });
  hapi.events.on('response', (request) => {
    const { path, raw, route, info } = request;
    const { span, startMs } = begun.get(raw.req) ?? {};
    if (!span || startMs === undefined) return;
    const method = methodOf(raw.req.method);
    // 499, as in the log: the client disconnected before the response began.
    const status = raw.res.headersSent ? raw.res.statusCode : 499;
    span.updateName(`${method} ${route.path}`);
    span.setAttributes({
      'http.request.method': method,
      'http.route': route.path,
      'http.response.status_code': status,
      'url.scheme': 'encrypted' in raw.req.socket ? 'https' : 'http',
      'url.path': loggedPath(path),
      'network.protocol.version': raw.req.httpVersion,
      'scenepress.request.id': requestIdOf(request),
    });
    if (status >= 500) markFault(span, String(status));
    endSpan(span, { startMs, endMs: info.responded || Date.now() });
  });
}

function methodOf(method = ''): string {
  return METHODS.has(method) ? method : '_OTHER';
}
