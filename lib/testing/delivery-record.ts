import type { DeliveryRecord } from '../storage/delivery.ts';

/** A due delivery with the fields of `change`. */
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
    token: 0,
    attempts: [],
    dueAtMs: 0,
    deliveredAtMs: null,
    ...change,
  };
}
