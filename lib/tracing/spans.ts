import {
  type Attributes,
  type Context,
  diag,
  INVALID_SPAN_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';
import { type ErrorCode, isScenepressError } from '../base/errors.ts';

export { type Span, SpanKind } from '@opentelemetry/api';

/** Codes of errors that are not the caller's. */
const FAULTS: readonly ErrorCode[] = [
  'storage_failed',
  'storage_damaged',
  'storage_full',
  'storage_locked',
  'master_key',
];

/** Begins a span, with the provider of the host. Without one it records nothing; one that throws must not fail a job. */
export function beginSpan(
  name: string,
  {
    parent,
    startMs,
    kind = SpanKind.INTERNAL,
    attributes = {},
  }: { parent: Context; startMs: number; kind?: SpanKind; attributes?: Attributes },
): Span {
  // Not a number: the SDK takes those before the start of the process for something else.
  const startTime = new Date(startMs);
  try {
    return trace.getTracer('scenepress').startSpan(name, { kind, startTime, attributes }, parent);
  } catch (error) {
    return notRecorded(error);
  }
}

/** Ends a span at a time, which is not before its start although clocks of machines differ. */
export function endSpan(span: Span, { startMs, endMs }: { startMs: number; endMs: number }): void {
  try {
    span.end(new Date(Math.max(startMs, endMs)));
  } catch (error) {
    notRecorded(error);
  }
}

function notRecorded(error: unknown): Span {
  diag.error(`The provider of traces failed: ${error}`);
  return trace.wrapSpanContext(INVALID_SPAN_CONTEXT);
}

/** Records what has happened already. */
export function recordSpan(
  name: string,
  { endMs, ...begun }: Parameters<typeof beginSpan>[1] & { endMs: number },
): void {
  endSpan(beginSpan(name, begun), { startMs: begun.startMs, endMs });
}

/** Marks a span as failed by the service. */
export function markFault(span: Span, errorType: string): void {
  span.setAttribute('error.type', errorType);
  span.setStatus({ code: SpanStatusCode.ERROR });
}

/** Notes the error of a span; its message stays here, which may contain anything. */
export function noteError(span: Span, error: unknown): void {
  const type = errorTypeOf(error);
  if (isScenepressError(error) && !FAULTS.includes(error.code)) span.setAttribute('error.type', type);
  else markFault(span, type);
}

function errorTypeOf(error: unknown): string {
  if (isScenepressError(error)) return error.code;
  return error instanceof Error ? error.name : '_OTHER';
}
