import type { DeliveryRecord } from '../webhooks/delivery.ts';

/** A delivery that is due, with `change`. */
export function deliveryRecord(deliveryId: string, change: Partial<DeliveryRecord> = {}): DeliveryRecord {
  return {
    deliveryId,
    jobId: `job of ${deliveryId}`,
    owner: 'a',
    keyId: null,
    event: 'failed',
    url: 'https://a.test/',
    host: 'a.test',
    createdAtMs: 0,
    repeats: null,
    mostAttempts: 4,
    attempts: [],
    dueAtMs: 0,
    deliveredAtMs: null,
    ...change,
  };
}
