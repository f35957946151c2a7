import {
  type Context,
  context,
  createTraceState,
  isSpanContextValid,
  ROOT_CONTEXT,
  type SpanContext,
  trace,
} from '@opentelemetry/api';
import type { TraceContext } from '../model/trace-context.ts';

/** Version, trace, span and flags. A later version may have more. */
const TRACEPARENT = /^([\da-f]{2})-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})(-.*)?$/;
/** Sampled, and random trace id. */
const KNOWN_FLAGS = 0x03;

/** The headers of a request. */
export type RequestHeaders = Headers | { readonly [name: string]: string | string[] | undefined };

/**
 * The trace context in the headers of a request, as a field of an enqueue request. None inside of a span: that is
 * the parent then.
 */
export function traceContextIn(headers: RequestHeaders): { traceContext?: TraceContext } {
  if (trace.getSpan(context.active())) return {};
  const traceContext = traceContextOfHeaders(headers);
  return traceContext ? { traceContext } : {};
}

/** A header, by its name in lower case. */
export function headerOf(headers: RequestHeaders, name: string): string | string[] | null | undefined {
  return headers instanceof Headers ? headers.get(name) : headers[name];
}

/** The trace context in the headers of a request; undefined without a valid one. */
export function traceContextOfHeaders(headers: RequestHeaders): TraceContext | undefined {
  const [traceparent, tracestate] = [headerOf(headers, 'traceparent'), headerOf(headers, 'tracestate')];
  if (typeof traceparent !== 'string') return undefined;
  return validTraceContext({ traceparent, ...(typeof tracestate === 'string' && { tracestate }) });
}

/** The same as it is stored and sent, at most 55 and 512 characters; undefined if it is malformed. */
export function validTraceContext(given: TraceContext): TraceContext | undefined {
  const spanContext = spanContextOf(given);
  return spanContext && traceContextOf(spanContext);
}

/** The trace context of a span; undefined without a valid one: nothing records it, and its caller has none. */
export function traceContextOf(spanContext: SpanContext): TraceContext | undefined {
  if (!isSpanContextValid(spanContext)) return undefined;
  const { traceId, spanId, traceFlags, traceState } = spanContext;
  const tracestate = traceState?.serialize() ?? '';
  const traceparent = `00-${traceId}-${spanId}-0${(traceFlags & KNOWN_FLAGS).toString(16)}`;
  return { traceparent, ...(tracestate !== '' && { tracestate }) };
}

/** The context of what belongs to a trace; without one, that of a new trace, whatever is active. */
export function contextOf(traceContext: TraceContext | null | undefined): Context {
  const spanContext = traceContext && spanContextOf(traceContext);
  return spanContext ? trace.setSpanContext(ROOT_CONTEXT, spanContext) : ROOT_CONTEXT;
}

/** Undefined if it is malformed. */
function spanContextOf({ traceparent, tracestate }: TraceContext): SpanContext | undefined {
  const [, version, traceId = '', spanId = '', flags = '', more] = TRACEPARENT.exec(traceparent) ?? [];
  if (version === undefined || version === 'ff' || (version === '00' && more !== undefined)) return undefined;
  const spanContext: SpanContext = {
    traceId,
    spanId,
    traceFlags: Number.parseInt(flags, 16) & KNOWN_FLAGS,
    isRemote: true,
    // Leaves out what is malformed or too long.
    ...(tracestate !== undefined && { traceState: createTraceState(tracestate) }),
  };
  return isSpanContextValid(spanContext) ? spanContext : undefined;
}
