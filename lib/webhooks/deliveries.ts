import Joi from 'joi';
import { COUNT, checked, type Schemas, TEXT } from '../base/checked.ts';
import { ScenepressError } from '../base/errors.ts';
import { known } from '../base/known-options.ts';
import { pagesOf } from '../base/pages.ts';
import { type Random, systemRandom } from '../base/random.ts';
import { isStorableText } from '../base/storable-text.ts';
import { firstIdAt, SortableIds } from '../model/ids.ts';
import type { ArtifactLinks } from '../model/job-json.ts';
import type { Delivery, DeliveryDetails, DeliveryRecord, DeliveryStatus } from '../storage/delivery.ts';
import type { DeliveryQuery } from '../storage/delivery-store.ts';
import { nowOf } from '../storage/now-of.ts';
import type { Storage } from '../storage/storage.ts';
import { type Clock, isoTime, systemClock } from '../time/clock.ts';
import { DeliveryBook, dueAt } from './delivery-book.ts';
import { Outbound, type Sends } from './outbound.ts';
import { type WebhookTest, type WebhookTestRequest, WebhookTests } from './webhook-test.ts';

/** Added together, those of an owner in one transaction, which takes some ten milliseconds. */
const SENT_AGAIN_AT_ONCE = 100;

/** Failed deliveries to be sent again: those that were created in a period. */
export interface FailedDeliveries extends Pick<DeliveryQuery, 'owner' | 'keyId'> {
  /** Epoch milliseconds. */
  sinceMs: number;
  /** Default: now. */
  untilMs?: number;
  /** Maximum number of deliveries to send. */
  limit?: number;
  /** Stops before further deliveries are added; those that were are sent. */
  signal?: AbortSignal;
}

const SCHEMAS: Schemas<DeliveryQuery> = {
  owner: TEXT,
  jobId: TEXT,
  keyId: TEXT,
  state: Joi.valid('pending', 'delivered', 'failed'),
  limit: COUNT,
  before: TEXT,
  after: TEXT,
};
const DELIVERY_QUERY = Joi.object<DeliveryQuery>(SCHEMAS);
const FAILED_DELIVERIES = Joi.object<FailedDeliveries & { limit: number }>({
  owner: TEXT,
  keyId: TEXT,
  sinceMs: Joi.number().integer().required(),
  untilMs: Joi.number().integer(),
  limit: COUNT.default(1000),
  signal: Joi.any(),
} satisfies Schemas<FailedDeliveries>);
const COUNT_OPTIONS = Joi.object<{ limit: number }>({ limit: COUNT.default(1000) });

/** The result of sending failed deliveries again. */
export interface SentAgain {
  /** The number of new deliveries. */
  sent: number;
  /** False when there may be more: another call sends them. */
  isComplete: boolean;
}

/**
 * Lists webhook deliveries and redelivers them.
 *
 * ```ts
 * const failed = await service.deliveries.list({ owner: 'ada', state: 'failed' });
 * for (const { deliveryId } of failed) await service.deliveries.sendAgain(deliveryId, { owner: 'ada' });
 * ```
 */
export class Deliveries {
  readonly #storage: Storage;
  readonly #book: DeliveryBook;
  readonly #clock: Clock;

  readonly #tests: WebhookTests;

  /**
   * `outbound`: sends test events; default: an {@link Outbound} without exceptions. `links`: makes the links to artifacts
   * in test events; default: paths.
   */
  constructor(options: {
    storage: Storage;
    clock?: Clock;
    random?: Random;
    outbound?: () => Sends;
    links?: () => ArtifactLinks;
  }) {
    const names = { storage: true, clock: true, random: true, outbound: true, links: true };
    const {
      storage,
      clock = systemClock,
      random = systemRandom,
      outbound = () => new Outbound({}, clock),
      links = () => '',
    } = known('Deliveries', options, names);
    this.#storage = storage;
    this.#clock = clock;
    this.#tests = new WebhookTests({ outbound, clock, ids: new SortableIds(clock, random), links });
    this.#book = new DeliveryBook({ storage, clock, random });
  }

  /** Deliveries, newest first. Error: `invalid_request`. */
  async list(query: DeliveryQuery = {}): Promise<Delivery[]> {
    const valid = checked('A query for deliveries', query, DELIVERY_QUERY);
    return (await this.#storage.deliveries.list(valid)).map(deliveryOf);
  }

  /** A delivery with its body, and what was sent and received in each attempt. Error: `not_found` when it does not exist or has another owner. */
  async get(deliveryId: string, scope: { owner?: string } = {}): Promise<DeliveryDetails> {
    const { owner } = known('get', scope, { owner: true });
    const record = await this.#record(deliveryId, owner);
    const { deliveries } = this.#storage;
    const body = (await deliveries.readBody(deliveryId)) ?? '';
    const exchanges = await deliveries.readExchanges(deliveryId);
    const delivery = deliveryOf(record);
    const attempts = delivery.attempts.map((attempt, index) => {
      const { signature = null, answer = null } =
        exchanges.findLast(({ attempt }) => attempt === index) ?? {};
      return { ...attempt, signature, answer };
    });
    return { ...delivery, body, attempts };
  }

  /** The number of due deliveries, counted up to `limit`. */
  async countDue(options: { limit?: number } = {}): Promise<number> {
    const { limit } = checked('countDue', options, COUNT_OPTIONS);
    return this.#storage.deliveries.countDue({
      ...dueAt(await nowOf({ storage: this.#storage, clock: this.#clock })),
      limit,
    });
  }

  /**
   * Redelivers the same body to the same URL: adds a delivery with one attempt, marked by the header
   * `svc-redelivery`. A running service sends it within a second.
   */
  async sendAgain(deliveryId: string, scope: { owner?: string } = {}): Promise<Delivery> {
    const { owner } = known('sendAgain', scope, { owner: true });
    return deliveryOf(await this.#book.redeliver(await this.#record(deliveryId, owner)));
  }

  /**
   * Sends a waiting delivery now instead of after its delay; it is one of its up to four attempts. A running service sends
   * it within a second. Error: `conflict` while it is being sent, and once it has ended.
   */
  async sendNow(deliveryId: string, scope: { owner?: string } = {}): Promise<Delivery> {
    const { owner } = known('sendNow', scope, { owner: true });
    await this.#record(deliveryId, owner);
    return deliveryOf(await this.#book.hasten(deliveryId));
  }

  /** Makes no further attempt of a waiting delivery, which has failed then. Error: `conflict` as for {@link sendNow}. */
  async giveUp(deliveryId: string, scope: { owner?: string } = {}): Promise<Delivery> {
    const { owner } = known('giveUp', scope, { owner: true });
    await this.#record(deliveryId, owner);
    return deliveryOf(await this.#book.giveUp(deliveryId));
  }

  /**
   * Sends the failed deliveries of a period again, as {@link sendAgain} does; newest first, at most `limit` (default
   * 1000). Leaves out those whose job has a newer delivery, so that a repeated call with the same period sends nothing
   * twice, and those whose body was removed.
   */
  async sendFailedAgain(failed: FailedDeliveries): Promise<SentAgain> {
    const {
      sinceMs,
      untilMs = this.#clock.now(),
      limit,
      signal,
      ...query
    } = checked('sendFailedAgain', failed, FAILED_DELIVERIES);
    const pages = pagesOf(
      ({ limit, after: before = firstIdAt(untilMs) }) =>
        this.#storage.deliveries.list({
          ...query,
          state: 'failed',
          after: firstIdAt(sinceMs),
          before,
          ...(limit !== undefined && { limit }),
        }),
      ({ deliveryId }) => deliveryId,
      SENT_AGAIN_AT_ONCE,
    );
    let sent = 0;
    for await (const failed of pages) {
      signal?.throwIfAborted();
      // Some of a batch may be left out; the next ones then take their places.
      for (let at = 0; at < failed.length; ) {
        if (sent >= limit) return { sent, isComplete: false };
        const batch = failed.slice(at, at + limit - sent);
        sent += (await this.#book.redeliverAll(batch)).length;
        at += batch.length;
      }
    }
    return { sent, isComplete: true };
  }

  /**
   * Sends a test event: signed as a delivery, with the body of a completed job and the header `svc-test`. It is not
   * recorded, and not retried. `signal` aborts it; the receiver may have seen it then. Errors: `invalid_request`;
   * `conflict` while another test of the owner is running.
   */
  sendTest(request: WebhookTestRequest, options: { signal?: AbortSignal } = {}): Promise<WebhookTest> {
    return this.#tests.send(request, options);
  }

  async #record(deliveryId: string, owner: string | undefined): Promise<DeliveryRecord> {
    const id = String(deliveryId);
    const delivery = isStorableText(id) ? await this.#storage.deliveries.get(id) : undefined;
    if (!delivery || (owner !== undefined && delivery.owner !== owner)) {
      throw new ScenepressError('not_found', `There is no delivery ${id.slice(0, 80)}.`);
    }
    return delivery;
  }
}

/** Converts a record to the public view. */
export function deliveryOf(record: DeliveryRecord): Delivery {
  const { deliveryId, jobId, owner, keyId, event, url, attempts, repeats, dueAtMs } = record;
  const status = statusOf(record);
  const ended = attempts.filter(({ endedAtMs }) => endedAtMs !== null);
  return {
    deliveryId,
    jobId,
    owner,
    keyId,
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
