import assert from 'node:assert/strict';
import type { Clock } from '../clock.ts';
import { ScenepressError } from '../errors.ts';
import { SortableIds } from '../ids.ts';
import { type JobRecord, jobOf } from '../jobs/job.ts';
import { jobJson } from '../jobs/job-json.ts';
import type { Storage, Transaction } from '../storage/storage.ts';
import type { DeliveryAttempt, DeliveryRecord } from './delivery.ts';
import { EXCHANGE_TIMEOUT_MS, type ExchangeResult } from './outbound.ts';

/** How long after the end of the first, second and third attempt the next one is made (contract §6.4). */
export const RETRY_DELAYS_MS: readonly number[] = [30_000, 5 * 60_000, 30 * 60_000];

/** When a last attempt that never ended is given up. */
const ABANDONED_AFTER_MS = 30_000;

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

  /**
   * Writes down that attempts are about to be made, so that a crash can't lead to one too many. Answers with the
   * deliveries to make them for: without those that are not due any more, or have used up their attempts.
   */
  async begin(deliveryIds: string[]): Promise<DeliveryRecord[]> {
    const { deliveries } = this.#storage;
    return this.#storage.transaction(async (tx) => {
      const begun: DeliveryRecord[] = [];
      for (const deliveryId of deliveryIds) {
        const found = await deliveries.get(deliveryId, tx);
        const now = this.#clock.now();
        if (!found || found.dueAtMs === null || found.dueAtMs > now) continue;
        const delivery = withoutOpenAttempt(found);
        if (delivery.attempts.length >= delivery.mostAttempts) {
          await deliveries.update(tx, { ...delivery, dueAtMs: null });
          continue;
        }
        const attempt: DeliveryAttempt = {
          startedAtMs: now,
          endedAtMs: null,
          status: 0,
          reason: null,
          detail: null,
        };
        const attempts = [...delivery.attempts, attempt];
        // If it never ends, it has taken all its time.
        const again = nextAttemptMs({ ...delivery, attempts }, now + EXCHANGE_TIMEOUT_MS);
        const sending = { ...delivery, attempts, dueAtMs: again ?? now + ABANDONED_AFTER_MS };
        await deliveries.update(tx, sending);
        begun.push(sending);
      }
      return begun;
    });
  }

  /** Writes down how an attempt ended. */
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

  /** Changes a delivery if the attempt that was begun is still open. */
  #change(
    begun: DeliveryRecord,
    change: (delivery: DeliveryRecord) => DeliveryRecord,
    answer: string | undefined,
  ): Promise<DeliveryRecord | undefined> {
    const { deliveries } = this.#storage;
    return this.#storage.transaction(async (tx) => {
      const delivery = await deliveries.get(begun.deliveryId, tx);
      const last = delivery?.attempts.at(-1);
      if (!delivery || last?.endedAtMs !== null || delivery.attempts.length !== begun.attempts.length)
        return undefined;
      const changed = change(delivery);
      await deliveries.update(tx, changed, answer);
      return changed;
    });
  }
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
