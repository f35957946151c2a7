import { setTimeout as delay } from 'node:timers/promises';
import type { Clock } from '../clock.ts';
import type { Logger } from '../logger.ts';
import type { DeliveryRecord } from './delivery.ts';
import type { DeliveryBook } from './delivery-book.ts';
import type { DeliveryStore } from './delivery-store.ts';
import { HostLanes, type LaneOptions, type Place } from './host-lanes.ts';
import type { ExchangeResult, OutboundRequest, Sends } from './outbound.ts';
import { signWebhook } from './signature.ts';

/** The secret that a delivery is signed with now; null when there is none. */
export type SecretOf = (delivery: DeliveryRecord) => Promise<string | null>;

/** How often the store is asked what is due. */
const POLL_MS = 1_000;
const RETRY_FIRST_MS = 500;
const RETRY_LONGEST_MS = 30_000;

export interface DeliverySenderOptions extends LaneOptions {
  store: DeliveryStore;
  book: DeliveryBook;
  outbound: Sends;
  secretOf: SecretOf;
  /** False while no attempts are to be begun; default: never. */
  mayBegin?: () => boolean;
  clock: Clock;
  logger: Logger;
  /** Told of every attempt that was written down. */
  onAttempt?: (delivery: DeliveryRecord) => void;
}

const UNSIGNED: ExchangeResult = {
  status: 0,
  reason: 'secret',
  detail: 'there is no secret to sign it with',
  answer: null,
  sent: false,
};

interface Sending {
  cutOff: AbortController;
  ended: Promise<void>;
}

/**
 * Makes the attempts that are due. It holds no more of them in memory than are under way: all others are in the
 * store, and survive there whatever happens to the process.
 */
export class DeliverySender {
  readonly #store: DeliveryStore;
  readonly #book: DeliveryBook;
  readonly #outbound: Sends;
  readonly #secretOf: SecretOf;
  readonly #mayBegin: () => boolean;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #onAttempt: (delivery: DeliveryRecord) => void;
  readonly #lanes: HostLanes;
  readonly #sending = new Map<string, Sending>();
  #poll: NodeJS.Timeout | undefined;
  #filling: Promise<void> | undefined;
  #fillAgain = false;
  #stopSignal = new AbortController();

  constructor(options: DeliverySenderOptions) {
    this.#store = options.store;
    this.#book = options.book;
    this.#outbound = options.outbound;
    this.#secretOf = options.secretOf;
    this.#mayBegin = options.mayBegin ?? (() => true);
    this.#clock = options.clock;
    this.#logger = options.logger;
    this.#onAttempt = options.onAttempt ?? (() => {});
    this.#lanes = new HostLanes(options);
  }

  start(): void {
    this.#stopSignal = new AbortController();
    this.#poll ??= setInterval(() => this.wake(), POLL_MS);
    this.wake();
  }

  /** Begins no more attempts; those under way may go on for `graceMs`, then they are cut off and written down so. */
  async stop({ graceMs = 0 }: { graceMs?: number } = {}): Promise<void> {
    clearInterval(this.#poll);
    this.#poll = undefined;
    await this.#filling;
    const ended = Promise.all([...this.#sending.values()].map((sending) => sending.ended));
    const timer = new AbortController();
    await Promise.race([ended, delay(graceMs, undefined, { signal: timer.signal }).catch(() => {})]);
    timer.abort();
    this.#stopSignal.abort();
    for (const { cutOff } of this.#sending.values()) cutOff.abort();
    await ended;
  }

  /** Looks what is due; called when something was added, too. */
  wake(): void {
    if (!this.#poll) return;
    this.#fillAgain = true;
    this.#filling ??= this.#fill()
      .catch((error: unknown) => {
        this.#logger.error({ err: error }, 'What is due to webhooks could not be looked up; trying again.');
      })
      .finally(() => {
        this.#filling = undefined;
      });
  }

  /** Begins attempts until nothing is due or no more may be under way. */
  async #fill(): Promise<void> {
    while (this.#fillAgain && this.#poll) {
      this.#fillAgain = false;
      while (this.#poll && (await this.#beginSome())) {}
    }
  }

  async #beginSome(): Promise<boolean> {
    const limit = this.#lanes.free;
    if (limit <= 0 || !this.#mayBegin()) return false;
    const places = new Map<string, Place>();
    try {
      const due = await this.#store.due({
        dueByMs: this.#clock.now(),
        limit,
        lanes: {
          paceOf: (owner, host) => this.#lanes.paceOf(owner, host),
          changed: () => this.#lanes.changed(),
          mayCall: (owner, pace) => this.#lanes.mayCall(owner, pace),
          enter: ({ deliveryId, owner, host }) => {
            if (this.#sending.has(deliveryId)) return false;
            const place = this.#lanes.enter(owner, host);
            if (place) places.set(deliveryId, place);
            return place !== undefined;
          },
        },
      });
      if (due.length === 0) return false;
      const begun = await this.#book.begin(due.map(({ deliveryId }) => deliveryId));
      for (const delivery of begun) {
        const place = places.get(delivery.deliveryId) as Place;
        places.delete(delivery.deliveryId);
        this.#send(delivery, place);
      }
      return begun.length > 0;
    } finally {
      for (const place of places.values()) place.leave(undefined);
    }
  }

  #send(delivery: DeliveryRecord, place: Place): void {
    const { deliveryId } = delivery;
    const cutOff = new AbortController();
    const ended = this.#attempt(delivery, cutOff.signal, place)
      .catch((error: unknown) =>
        this.#logger.error({ err: error, deliveryId }, 'An attempt ended unexpectedly.'),
      )
      .finally(() => {
        this.#sending.delete(deliveryId);
        this.wake();
      });
    this.#sending.set(deliveryId, { cutOff, ended });
  }

  async #attempt(delivery: DeliveryRecord, cutOff: AbortSignal, place: Place): Promise<void> {
    const startedAt = performance.now();
    let exchange: { tookMs: number; answered: boolean } | undefined;
    let result: ExchangeResult;
    try {
      const request = await this.#requestOf(delivery);
      const askedAt = performance.now();
      result = request ? await this.#outbound.post(request, cutOff) : UNSIGNED;
      const isReceivers = request && result.reason !== 'stopped' && result.reason !== 'interrupted';
      if (isReceivers) exchange = { tookMs: performance.now() - askedAt, answered: result.reason === null };
    } finally {
      place.leave(exchange);
    }
    await this.#conclude(delivery, result);
    const { deliveryId, jobId, host, attempts } = delivery;
    const { status, reason, detail } = result;
    const details = { deliveryId, jobId, host, attempt: attempts.length, status, reason, detail };
    this.#logger.info({ ...details, ms: Math.round(performance.now() - startedAt) }, 'webhook');
  }

  /** Undefined when there is no secret to sign it with. */
  async #requestOf(delivery: DeliveryRecord): Promise<OutboundRequest | undefined> {
    const { deliveryId, event, url, repeats } = delivery;
    const secret = await this.#secretOf(delivery).catch((error: unknown) => {
      this.#logger.error({ err: error, deliveryId }, 'A webhook secret could not be read.');
      return null;
    });
    if (!secret) return undefined;
    const body = await this.#store.readBody(deliveryId);
    if (body === undefined) throw new Error('a delivery has its body');
    const bytes = Buffer.from(body);
    const headers = {
      'content-type': 'application/json',
      'svc-event': event,
      'svc-signature': signWebhook(bytes, secret, { now: this.#clock.now() }),
      ...(repeats !== null && { 'svc-redelivery': repeats }),
      'user-agent': 'scenepress',
    };
    return { url, headers, body: bytes };
  }

  /** Until it is written down. If it never is, the attempt counts as interrupted when the next one is due. */
  async #conclude(delivery: DeliveryRecord, result: ExchangeResult): Promise<void> {
    for (let waitMs = RETRY_FIRST_MS; ; waitMs = Math.min(2 * waitMs, RETRY_LONGEST_MS)) {
      try {
        const concluded = await this.#book.conclude(delivery, result);
        // One that was stopped before anything was sent doesn't count.
        if (concluded?.attempts.length === delivery.attempts.length) this.#onAttempt(concluded);
        return;
      } catch (error) {
        const { deliveryId } = delivery;
        this.#logger.error({ err: error, deliveryId }, 'An attempt could not be written down; trying again.');
        const stopped = await delay(waitMs, false, { signal: this.#stopSignal.signal }).catch(() => true);
        if (stopped) return;
      }
    }
  }
}
