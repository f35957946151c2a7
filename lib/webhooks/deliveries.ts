import { type Clock, isoTime, systemClock } from '../clock.ts';
import { ScenepressError } from '../errors.ts';
import { type Random, systemRandom } from '../random.ts';
import type { Storage } from '../storage/storage.ts';
import type { Delivery, DeliveryDetails, DeliveryRecord, DeliveryStatus } from './delivery.ts';
import { DeliveryBook, dueAt } from './delivery-book.ts';
import type { DeliveryQuery } from './delivery-store.ts';

/** Lists webhook deliveries and redelivers them. */
export class Deliveries {
  readonly #storage: Storage;
  readonly #book: DeliveryBook;
  readonly #clock: Clock;

  constructor({
    storage,
    clock = systemClock,
    random = systemRandom,
  }: { storage: Storage; clock?: Clock; random?: Random }) {
    this.#storage = storage;
    this.#clock = clock;
    this.#book = new DeliveryBook({ storage, clock, random });
  }

  /** Deliveries, newest first. */
  async list(query: DeliveryQuery = {}): Promise<Delivery[]> {
    return (await this.#storage.deliveries.list(query)).map(deliveryOf);
  }

  /** A delivery with its body and last response. Error: `not_found` when it does not exist or has another owner. */
  async get(deliveryId: string, { owner }: { owner?: string } = {}): Promise<DeliveryDetails> {
    const record = await this.#record(deliveryId, owner);
    const { deliveries } = this.#storage;
    const body = (await deliveries.readBody(deliveryId)) ?? '';
    return { ...deliveryOf(record), body, answer: (await deliveries.readAnswer(deliveryId)) ?? null };
  }

  /** The number of due deliveries, counted up to `limit`. */
  async countDue({ limit = 1000 }: { limit?: number } = {}): Promise<number> {
    return this.#storage.deliveries.countDue({ ...dueAt(this.#clock.now()), limit });
  }

  /**
   * Redelivers the same body to the same URL: adds a delivery with one attempt, marked by the header
   * `svc-redelivery`. A running service sends it within a second.
   */
  async sendAgain(deliveryId: string, { owner }: { owner?: string } = {}): Promise<Delivery> {
    return deliveryOf(await this.#book.openAgain(await this.#record(deliveryId, owner)));
  }

  async #record(deliveryId: string, owner: string | undefined): Promise<DeliveryRecord> {
    const id = String(deliveryId);
    const delivery = await this.#storage.deliveries.get(id);
    if (!delivery || (owner !== undefined && delivery.owner !== owner)) {
      throw new ScenepressError('not_found', `There is no delivery ${id.slice(0, 80)}.`);
    }
    return delivery;
  }
}

/** Converts a record to the public view. */
export function deliveryOf(record: DeliveryRecord): Delivery {
  const { deliveryId, jobId, owner, event, url, attempts, repeats, dueAtMs } = record;
  const status = statusOf(record);
  const ended = attempts.filter(({ endedAtMs }) => endedAtMs !== null);
  return {
    deliveryId,
    jobId,
    owner,
    event,
    url,
    status,
    lastStatus: ended.at(-1)?.status ?? null,
    attempts: attempts.map(({ startedAtMs, endedAtMs, status, reason, detail }) => ({
      startedAt: isoTime(startedAtMs),
      endedAt: endedAtMs === null ? null : isoTime(endedAtMs),
      status,
      reason,
      detail,
    })),
    nextAttemptAt: status === 'waiting' && dueAtMs !== null ? isoTime(dueAtMs) : null,
    repeats,
    createdAt: isoTime(record.createdAtMs),
  };
}

function statusOf({ deliveredAtMs, dueAtMs, attempts }: DeliveryRecord): DeliveryStatus {
  if (deliveredAtMs !== null) return 'delivered';
  if (dueAtMs === null) return 'failed';
  return attempts.at(-1)?.endedAtMs === null ? 'sending' : 'waiting';
}
