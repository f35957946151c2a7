import { Counter, Histogram, type Registry } from 'prom-client';
import type { Delivery, RenderService } from '../../lib/index.ts';
import { gauge, OF_INSTALLATION, PREFIX } from './gauge.ts';

const ATTEMPT_SECONDS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const MOST_COUNTED = 1000;

/** Webhook attempts, deliveries and due deliveries. */
export function countDeliveries(registry: Registry, service: RenderService): void {
  const registers = [registry];
  const attempts = new Counter({
    name: `${PREFIX}webhook_attempts_total`,
    help: 'Webhook requests by result: delivered, http_3xx etc., or the reason of a failure.',
    labelNames: ['result'] as const,
    registers,
  });
  const duration = new Histogram({
    name: `${PREFIX}webhook_attempt_duration_seconds`,
    help: 'Duration of webhook requests.',
    buckets: ATTEMPT_SECONDS,
    registers,
  });
  const deliveries = new Counter({
    name: `${PREFIX}webhook_deliveries_total`,
    help: 'Ended deliveries: delivered, or failed after the last attempt.',
    labelNames: ['status'] as const,
    registers,
  });
  for (const status of ['delivered', 'failed']) deliveries.inc({ status }, 0);

  service.on('delivery', ({ status, attempts: made }: Delivery) => {
    const last = made.at(-1);
    if (!last) return;
    attempts.inc({ result: resultOf(last) });
    if (last.endedAt) duration.observe((Date.parse(last.endedAt) - Date.parse(last.startedAt)) / 1000);
    if (status === 'delivered' || status === 'failed') deliveries.inc({ status });
  });
  gauge(
    registry,
    'webhooks_due',
    `Due deliveries that are waiting to be sent, counted up to ${MOST_COUNTED}. ${OF_INSTALLATION}`,
    [],
    async (set) => set({}, await service.deliveries.countDue({ limit: MOST_COUNTED })),
  );
}

function resultOf({ status, reason }: Delivery['attempts'][number]): string {
  if (reason !== null) return reason;
  return status >= 200 && status < 300 ? 'delivered' : `http_${Math.floor(status / 100)}xx`;
}
