import { EventEmitter } from 'node:events';
import { isScenepressError } from '../base/errors.ts';
import type { Logger } from '../base/logger.ts';
import type { DeliveryRecord } from '../storage/delivery.ts';
import type { DeliveryStore } from '../storage/delivery-store.ts';
import { retry } from '../time/backoff.ts';
import type { Clock, Timer } from '../time/clock.ts';
import { within } from '../time/within.ts';
import { WebhookSpan } from '../tracing/webhook-span.ts';
import { ConcurrencyLimits, type ConcurrencyOptions, type Slot } from './concurrency-limits.ts';
import { BEGIN_WITHIN_MS, type DeliveryBook } from './delivery-book.ts';
import type { ExchangeResult, OutboundRequest, Sends } from './outbound.ts';
import { type Addressed, type Chosen, SendOrder } from './send-order.ts';
import { signWebhook } from './signature.ts';

/** Returns the current signing secret of a delivery; null when there is none. */
export type SecretOf = (delivery: DeliveryRecord) => Promise<string | null>;

/** Poll interval for due deliveries. */
const POLL_MS = 1_000;
/** Claims per transaction, which then takes a few milliseconds. */
const CLAIMED_AT_ONCE = 32;
/** The delay before a delivery that cannot be read is claimed again. */
const UNREADABLE_MS = 5 * 60_000;

export interface DeliverySenderOptions extends ConcurrencyOptions {
  store: DeliveryStore;
  book: DeliveryBook;
  outbound: Sends;
  secretOf: SecretOf;
  /** Returns false to pause new attempts. Default: always true. */
  mayBegin?: () => boolean;
  clock: Clock;
  logger: Logger;
}

const UNSIGNED: ExchangeResult = {
  status: 0,
  reason: 'secret',
  detail: 'there is no secret to sign it with',
  answer: null,
  sent: false,
};

const TOO_LATE: ExchangeResult = {
  status: 0,
  reason: 'stopped',
  detail: 'the service stalled before it could be sent',
  answer: null,
  sent: false,
};

interface Sending {
  delivery: DeliveryRecord;
  controller: AbortController;
  ended: Promise<void>;
}

/** A claimed delivery; `sinceMs`: the uptime just before the claim. */
interface Claimed {
  delivery: DeliveryRecord;
  sinceMs: number;
}

/**
 * Sends due deliveries: reads which are due, chooses those that the limits allow, and claims them in a short
 * transaction. Only deliveries with a running attempt are in memory; all others are in the store and survive crashes.
 * Several processes can share a store: each delivery is claimed by one of them at a time. Limits per owner and host apply
 * to each process, so only one of them should send.
 * Emits `attempt` for every recorded attempt.
 */
export class DeliverySender extends EventEmitter<{ attempt: [delivery: DeliveryRecord] }> {
  readonly #store: DeliveryStore;
  readonly #book: DeliveryBook;
  readonly #outbound: Sends;
  readonly #secretOf: SecretOf;
  readonly #mayBegin: () => boolean;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #limits: ConcurrencyLimits;
  readonly #order: SendOrder;
  readonly #sending = new Map<string, Sending>();
  /** Deliveries that could not be read, and until when they are left out. */
  readonly #unreadable = new Map<string, Addressed & { untilMs: number }>();
  #poll: Timer | undefined;
  #filling: Promise<void> | undefined;
  #fillAgain = false;
  #stopSignal = new AbortController();

  constructor(options: DeliverySenderOptions) {
    super();
    this.#store = options.store;
    this.#book = options.book;
    this.#outbound = options.outbound;
    this.#secretOf = options.secretOf;
    this.#mayBegin = options.mayBegin ?? (() => true);
    this.#clock = options.clock;
    this.#logger = options.logger;
    this.#limits = new ConcurrencyLimits(options);
    this.#order = new SendOrder(options.store, this.#limits);
  }

  start(): void {
    this.#stopSignal = new AbortController();
    this.#poll ??= this.#clock.every(POLL_MS, () => this.wake());
    this.wake();
  }

  /** Starts no more attempts. Running ones may continue for `graceMs`, then they are aborted and recorded. */
  async stop({ graceMs = 0 }: { graceMs?: number } = {}): Promise<void> {
    this.#poll?.cancel();
    this.#poll = undefined;
    await this.#filling;
    const ended = Promise.all([...this.#sending.values()].map((sending) => sending.ended));
    if (graceMs > 0) await within(this.#clock, graceMs, ended);
    this.#stopSignal.abort();
    for (const { controller } of this.#sending.values()) controller.abort();
    await ended;
  }

  /** Checks for due deliveries. Called by the poll timer and when a delivery was added. */
  wake(): void {
    if (!this.#poll) return;
    this.#fillAgain = true;
    this.#filling ??= this.#fill();
  }

  /** Starts attempts until nothing is due or the limits are reached. */
  async #fill(): Promise<void> {
    try {
      while (this.#fillAgain && this.#poll) {
        this.#fillAgain = false;
        while (this.#poll && (await this.#beginSome())) {}
      }
    } catch (error) {
      this.#logger.error({ err: error }, 'Claiming due webhook deliveries failed; retrying.');
    } finally {
      // Together with the last look at `#fillAgain`: a wake in between would be lost until the next poll.
      this.#filling = undefined;
    }
  }

  /** False when no more attempts can start. */
  async #beginSome(): Promise<boolean> {
    const most = Math.min(this.#limits.free, CLAIMED_AT_ONCE);
    if (most <= 0 || !this.#mayBegin()) return false;
    const period = await this.#book.duePeriod();
    if (!period) return false;
    const chosen = await this.#order.choose(period, most, this.#excluded());
    if (chosen.length === 0) return false;
    const unused = new Map(chosen.map(({ deliveryId, slot }) => [deliveryId, slot]));
    const sinceMs = this.#clock.uptimeMs();
    try {
      const claimed = await this.#claim(chosen);
      for (const delivery of claimed) {
        const slot = unused.get(delivery.deliveryId);
        if (delivery.dueAtMs === null || !slot) continue;
        unused.delete(delivery.deliveryId);
        this.#send({ delivery, sinceMs }, slot);
      }
      return claimed.length > 0;
    } finally {
      for (const slot of unused.values()) slot.leave();
    }
  }

  /** Deliveries with a running attempt, although the claim may have expired, and those that could not be read. */
  #excluded(): Addressed[] {
    const nowMs = this.#clock.uptimeMs();
    for (const [id, { untilMs }] of this.#unreadable) if (untilMs <= nowMs) this.#unreadable.delete(id);
    const sending = [...this.#sending.values()].map(({ delivery }) => delivery);
    return [...sending, ...this.#unreadable.values()];
  }

  /** Claims them one by one when some are damaged, and leaves those out for some minutes. */
  async #claim(chosen: Chosen[]): Promise<DeliveryRecord[]> {
    try {
      return await this.#book.claim(chosen.map(({ deliveryId }) => deliveryId));
    } catch (error) {
      if (!isScenepressError(error, 'storage_damaged')) throw error;
      if (chosen.length > 1) {
        const claimed: DeliveryRecord[] = [];
        for (const one of chosen) claimed.push(...(await this.#claim([one])));
        return claimed;
      }
      for (const { deliveryId, owner, host } of chosen) {
        this.#logger.error({ err: error, deliveryId }, "A delivery can't be read; retrying later.");
        const untilMs = this.#clock.uptimeMs() + UNREADABLE_MS;
        this.#unreadable.set(deliveryId, { deliveryId, owner, host, untilMs });
      }
      return [];
    }
  }

  #send(claimed: Claimed, slot: Slot): void {
    const { delivery } = claimed;
    const { deliveryId } = delivery;
    const controller = new AbortController();
    const ended = this.#attempt(claimed, controller.signal, slot)
      .catch((error: unknown) =>
        this.#logger.error({ err: error, deliveryId }, 'An attempt ended unexpectedly.'),
      )
      .finally(() => {
        this.#sending.delete(deliveryId);
        this.wake();
      });
    this.#sending.set(deliveryId, { delivery, controller, ended });
  }

  async #attempt({ delivery, sinceMs }: Claimed, signal: AbortSignal, slot: Slot): Promise<void> {
    const startedAt = this.#clock.uptimeMs();
    let exchange: { tookMs: number; answered: boolean } | undefined;
    let result: ExchangeResult;
    let signature: string | null = null;
    const span = new WebhookSpan(delivery, this.#clock.now());
    try {
      const request = await this.#requestOf(delivery, span.headers);
      signature = request?.headers['svc-signature'] ?? null;
      const askedAt = this.#clock.uptimeMs();
      // The claim may have expired while the process or the disk stalled.
      const inTime = this.#clock.uptimeMs() - sinceMs < BEGIN_WITHIN_MS;
      if (request) result = inTime ? await this.#outbound.post(request, signal) : TOO_LATE;
      else result = UNSIGNED;
      const isReceivers = result.reason !== 'stopped' && result.reason !== 'interrupted';
      if (isReceivers)
        exchange = { tookMs: this.#clock.uptimeMs() - askedAt, answered: result.reason === null };
    } finally {
      slot.leave(exchange);
    }
    span.end(result, this.#clock.now());
    await this.#conclude(delivery, result, signature);
    const { deliveryId, jobId, host, attempts } = delivery;
    const { status, reason, detail } = result;
    const details = { deliveryId, jobId, host, attempt: attempts.length, status, reason, detail };
    this.#logger.info({ ...details, ms: Math.round(this.#clock.uptimeMs() - startedAt) }, 'webhook');
  }

  /** Undefined without a signing secret. */
  async #requestOf(
    delivery: DeliveryRecord,
    traceHeaders: Record<string, string>,
  ): Promise<OutboundRequest | undefined> {
    const { deliveryId, event, url, repeats } = delivery;
    const secret = await this.#secretOf(delivery).catch((error: unknown) => {
      this.#logger.error({ err: error, deliveryId }, 'A webhook secret could not be read.');
      return null;
    });
    if (!secret) return undefined;
    const body = await this.#store.readBody(deliveryId);
    if (body === undefined) throw new Error('the delivery has no body');
    const bytes = Buffer.from(body);
    const headers = {
      'content-type': 'application/json',
      'svc-event': event,
      'svc-signature': signWebhook(bytes, secret, { now: this.#clock.now() }),
      ...(repeats !== null && { 'svc-redelivery': repeats }),
      'user-agent': 'scenepress',
      ...traceHeaders,
    };
    return { url, headers, body: bytes };
  }

  /**
   * Retries until the result is recorded. If it never is, the attempt counts as interrupted when the claim expires.
   */
  async #conclude(delivery: DeliveryRecord, result: ExchangeResult, signature: string | null): Promise<void> {
    const { deliveryId, attempts } = delivery;
    const step = async () => {
      const concluded = await this.#book.conclude(delivery, result, signature);
      // An attempt that was stopped before anything was sent is not counted.
      if (concluded?.attempts.length === attempts.length) this.emit('attempt', concluded);
    };
    await retry(step, {
      clock: this.#clock,
      signal: this.#stopSignal.signal,
      logger: this.#logger,
      failed: 'Recording an attempt failed',
      subject: { deliveryId },
    });
  }
}
