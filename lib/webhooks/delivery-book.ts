import assert from 'node:assert/strict';
import type { Clock } from '../clock.ts';
import { ScenepressError } from '../errors.ts';
import { SortableIds } from '../ids.ts';
import { type JobRecord, jobOf } from '../jobs/job.ts';
import { jobJson } from '../jobs/job-json.ts';
import type { Storage, Transaction } from '../storage/storage.ts';
import type { DeliveryAttempt, DeliveryRecord } from './delivery.ts';
import type { DueLanes, DuePeriod, DueRequest } from './delivery-store.ts';
import { EXCHANGE_TIMEOUT_MS, type ExchangeResult } from './outbound.ts';

/** How long after the end of the first, second and third attempt the next one is made (contract §6.4). */
export const RETRY_DELAYS_MS: readonly number[] = [30_000, 5 * 60_000, 30 * 60_000];

/** When a last attempt that never ended is given up. */
const ABANDONED_AFTER_MS = 30_000;
/**
 * A request that can't be made sooner after its delivery was claimed isn't made: one takes at most
 * {@link EXCHANGE_TIMEOUT_MS}, and no claim lapses within 30 s, so that it is over by then.
 */
export const BEGIN_WITHIN_MS = 15_000;
/** Between the beginning of an attempt and the next one, if the first takes all its time. */
const LONGEST_DELAY_MS = EXCHANGE_TIMEOUT_MS + Math.max(...RETRY_DELAYS_MS);

/** What is due at a moment. */
export function dueAt(nowMs: number): DuePeriod {
  return { nowMs, latestDueMs: nowMs + LONGEST_DELAY_MS };
}

/** What a sender asks the book for. */
export interface Claiming extends Pick<DueRequest, 'most' | 'changed' | 'underWay' | 'onUnreadable'> {
  /** Called again where the work has to be done again: then no place was taken before. */
  lanes: () => DueLanes;
}

/** Writes the life of deliveries down: every transition of {@link DeliveryStatus}. */
export class DeliveryBook {
  readonly #storage: Storage;
  readonly #clock: Clock;
  readonly #ids: SortableIds;
  readonly #assetUrl: () => string;

  /** `assetUrl`: what links in outcomes begin with. */
  constructor(options: { storage: Storage; clock: Clock; assetUrl?: () => string }) {
    this.#storage = options.storage;
    this.#clock = options.clock;
    this.#ids = new SortableIds(options.clock);
    this.#assetUrl = options.assetUrl ?? (() => '');
  }

  /**
   * Opens the delivery of a job that becomes terminal in this transaction, if a webhook was asked for: so there is one
   * for each such job, whatever happens. The bytes to be sent are fixed here.
   */
  async open(tx: Transaction, job: JobRecord): Promise<void> {
    const { jobId, owner, keyId, webhookUrl: url, webhookSecretSealed } = job;
    if (url === null) return;
    assert(job.phase === 'completed' || job.phase === 'failed');
    const delivery: DeliveryRecord = {
      deliveryId: this.#ids.next(),
      jobId,
      owner,
      keyId,
      ...(webhookSecretSealed !== undefined && { secretSealed: webhookSecretSealed }),
      event: job.phase,
      url,
      host: new URL(url).host,
      createdAtMs: this.#clock.now(),
      repeats: null,
      mostAttempts: 1 + RETRY_DELAYS_MS.length,
      token: 0,
      attempts: [],
      dueAtMs: this.#clock.now(),
      deliveredAtMs: null,
    };
    await this.#storage.deliveries.insert(tx, delivery, jobJson(jobOf(job), this.#assetUrl()));
  }

  /** Opens a delivery of the same body, with one attempt. */
  async openAgain(delivery: DeliveryRecord): Promise<DeliveryRecord> {
    const body = await this.#storage.deliveries.readBody(delivery.deliveryId);
    if (body === undefined) throw removed();
    const again: DeliveryRecord = {
      ...delivery,
      deliveryId: this.#ids.next(),
      createdAtMs: this.#clock.now(),
      repeats: delivery.repeats ?? delivery.deliveryId,
      mostAttempts: 1,
      token: 0,
      attempts: [],
      dueAtMs: this.#clock.now(),
      deliveredAtMs: null,
    };
    await this.#storage.transaction(async (tx) => {
      // What was just read may have been removed since.
      const job = await this.#storage.getJob(delivery.jobId, tx);
      if (job?.forgottenAtMs !== undefined) throw removed();
      // As it is sealed now: the master key may have been replaced since.
      const secretSealed = (await this.#storage.deliveries.get(delivery.deliveryId, tx))?.secretSealed;
      await this.#storage.deliveries.insert(
        tx,
        { ...again, ...(secretSealed !== undefined && { secretSealed }) },
        body,
      );
    });
    return again;
  }

  /** Whether something may be claimed. */
  async isAnyDue(): Promise<boolean> {
    const period = dueAt(this.#clock.now());
    return (await this.#storage.deliveries.countDue({ ...period, limit: 1 })) > 0;
  }

  /**
   * Claims what is due, and writes down that attempts are about to be made, so that a crash can't lead to one too many.
   * Answers with the deliveries to make them for, and those that are over (not due any more): they have used up their
   * attempts.
   */
  claim({ lanes, ...claiming }: Claiming): Promise<DeliveryRecord[]> {
    return this.#storage.transaction((tx) => {
      const nowMs = this.#clock.now();
      return this.#storage.deliveries.claimDue(tx, {
        ...claiming,
        ...dueAt(nowMs),
        lanes: lanes(),
        begin: (delivery) => withNewAttempt(withoutOpenAttempt(delivery), nowMs),
      });
    });
  }

  /** Writes down how an attempt ended; nothing where its claim has lapsed and another was made. */
  conclude(begun: DeliveryRecord, result: ExchangeResult): Promise<DeliveryRecord | undefined> {
    return this.#change(
      begun,
      (delivery) => {
        const now = this.#clock.now();
        if (result.reason === 'stopped' && !result.sent) {
          return { ...delivery, attempts: delivery.attempts.slice(0, -1), dueAtMs: now };
        }
        const { status, reason, detail } = result;
        const last = delivery.attempts.at(-1) as DeliveryAttempt;
        const attempts = [
          ...delivery.attempts.slice(0, -1),
          { ...last, endedAtMs: now, status, reason, detail },
        ];
        const delivered = reason === null && status >= 200 && status < 300;
        const dueAtMs = delivered ? null : nextAttemptMs({ ...delivery, attempts }, now);
        return { ...delivery, attempts, dueAtMs, deliveredAtMs: delivered ? now : null };
      },
      result.answer ?? undefined,
    );
  }

  /** Changes a delivery while the claim under which the attempt was begun holds, and the attempt is still open. */
  #change(
    begun: DeliveryRecord,
    change: (delivery: DeliveryRecord) => DeliveryRecord,
    answer: string | undefined,
  ): Promise<DeliveryRecord | undefined> {
    const { deliveries } = this.#storage;
    return this.#storage.transaction(async (tx) => {
      const delivery = await deliveries.get(begun.deliveryId, tx);
      const last = delivery?.attempts.at(-1);
      if (!delivery || delivery.token !== begun.token || last?.endedAtMs !== null) return undefined;
      const changed = change(delivery);
      await deliveries.update(tx, changed, answer);
      return changed;
    });
  }
}

/** With an attempt that is about to be made; over when it has used up all of them. */
function withNewAttempt(delivery: DeliveryRecord, nowMs: number): DeliveryRecord {
  if (delivery.attempts.length >= delivery.mostAttempts) return { ...delivery, dueAtMs: null };
  const attempt: DeliveryAttempt = {
    startedAtMs: nowMs,
    endedAtMs: null,
    status: 0,
    reason: null,
    detail: null,
  };
  const attempts = [...delivery.attempts, attempt];
  // If it never ends, it has taken all its time.
  const again = nextAttemptMs({ ...delivery, attempts }, nowMs + EXCHANGE_TIMEOUT_MS);
  return { ...delivery, attempts, dueAtMs: again ?? nowMs + ABANDONED_AFTER_MS };
}

function nextAttemptMs({ attempts, mostAttempts }: DeliveryRecord, endedAtMs: number): number | null {
  const delayMs = RETRY_DELAYS_MS[attempts.length - 1];
  return delayMs === undefined || attempts.length >= mostAttempts ? null : endedAtMs + delayMs;
}

function removed(): ScenepressError {
  return new ScenepressError('not_found', 'What this delivery sent was removed: it cannot be sent again.');
}

/** An attempt that has no end was cut off with its process. */
function withoutOpenAttempt(delivery: DeliveryRecord): DeliveryRecord {
  const last = delivery.attempts.at(-1);
  if (!last || last.endedAtMs !== null) return delivery;
  const interrupted: DeliveryAttempt = {
    ...last,
    endedAtMs: last.startedAtMs + EXCHANGE_TIMEOUT_MS,
    reason: 'interrupted',
    detail: 'the service ended while the request was under way',
  };
  return { ...delivery, attempts: [...delivery.attempts.slice(0, -1), interrupted] };
}
