import type { DeliveryRecord } from '../storage/delivery.ts';
import { beginSpan, endSpan, markFault, type Span, SpanKind } from './spans.ts';
import { contextOf, traceContextOf } from './trace-context.ts';

/** The span of one attempt at a webhook. */
export class WebhookSpan {
  readonly #span: Span;
  readonly #startMs: number;

  constructor(delivery: DeliveryRecord, startMs: number) {
    const { traceContext, url, jobId, deliveryId, attempts } = delivery;
    this.#startMs = startMs;
    this.#span = beginSpan('POST', { parent: contextOf(traceContext), startMs, kind: SpanKind.CLIENT });
    if (!this.#span.isRecording()) return;
    // Neither path nor query: they may contain secrets of the receiver.
    const { hostname, port } = new URL(url);
    this.#span.setAttributes({
      'http.request.method': 'POST',
      'url.scheme': 'https',
      'server.address': hostname,
      'server.port': Number(port || 443),
      ...(attempts.length > 1 && { 'http.request.resend_count': attempts.length - 1 }),
      'scenepress.job.id': jobId,
      'scenepress.delivery.id': deliveryId,
    });
  }

  /** The headers that pass the trace on; none without a trace. */
  get headers(): Record<string, string> {
    return { ...traceContextOf(this.#span.spanContext()) };
  }

  /** `status`: 0 without a response. */
  end({ status, reason }: { status: number; reason: string | null }, endMs: number): void {
    if (status > 0) this.#span.setAttribute('http.response.status_code', status);
    const isDelivered = reason === null && status >= 200 && status < 300;
    if (!isDelivered) markFault(this.#span, reason ?? String(status));
    endSpan(this.#span, { startMs: this.#startMs, endMs });
  }
}
