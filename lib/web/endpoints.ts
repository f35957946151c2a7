import type { Balance } from '../ledger/ledger.ts';
import type { RenderService } from '../service/render-service.ts';
import { headerOf, type RequestHeaders, traceContextIn } from '../tracing/trace-context.ts';
import type { Caller } from './caller.ts';
import { idempotencyKeyOf, receivedRequestOf } from './request-body.ts';

/** Enqueues the body of `POST /api/v2/render` (contract §4.1); returns the body of the 202 response. */
export async function enqueueBody(
  service: Pick<RenderService, 'enqueue'>,
  { owner, keyId, webhookUrl }: Caller,
  bytes: Uint8Array,
  headers: RequestHeaders,
): Promise<{ jobId: string; status: 'queued'; endpoint: 'render' }> {
  const { request, metadataJson, fingerprint } = receivedRequestOf(bytes);
  const key = idempotencyKeyOf(headerOf(headers, 'idempotency-key'));
  const idempotency = key === undefined ? {} : { idempotency: { key, fingerprint: fingerprint() } };
  const job = await service.enqueue({
    ...{ webhookUrl, ...request, owner, keyId, metadataJson },
    ...idempotency,
    ...traceContextIn(headers),
  });
  return { jobId: job.jobId, status: 'queued', endpoint: 'render' };
}

/** The body of `GET /api/v2/me` (contract §2.4). */
export async function accountBody(
  service: Pick<RenderService, 'balance'>,
  { owner: userId, keyId, keyPrefix }: Caller,
): Promise<{ userId: string; keyId: string | null; keyPrefix: string; credits: Balance }> {
  const { paid, free, total } = await service.balance(userId);
  return { userId, keyId, keyPrefix, credits: { paid, free, total } };
}
