import assert from 'node:assert/strict';
import { ScenepressError } from '../base/errors.ts';
import type { Random } from '../base/random.ts';
import { SortableIds } from '../model/ids.ts';
import { type JobRecord, jobOf } from '../model/job.ts';
import { type ArtifactLinks, jobJson } from '../model/job-json.ts';
import type { DeliveryAttempt, DeliveryRecord, Exchange } from '../storage/delivery.ts';
import type { DuePeriod } from '../storage/delivery-store.ts';
import { nowOf } from '../storage/now-of.ts';
import type { Storage } from '../storage/storage.ts';
import type { Transaction } from '../storage/transaction.ts';
import type { Clock } from '../time/clock.ts';
import { EXCHANGE_TIMEOUT_MS, type ExchangeResult } from './outbound.ts';

/** Delays after the first, second and third attempt (contract §6.4). */
export const RETRY_DELAYS_MS: readonly number[] = [30_000, 5 * 60_000, 30 * 60_000];

/** How long to wait for the end of a last attempt before giving it up. */
const ABANDONED_AFTER_MS = 30_000;
/**
 * The latest start of a request after its delivery was claimed. A request takes at most {@link EXCHANGE_TIMEOUT_MS}
 * and a claim lasts at least 30 s, so the request ends before the claim expires.
 */
export const BEGIN_WITHIN_MS = 15_000;
/** The longest time between the starts of two attempts. */
const LONGEST_DELAY_MS = EXCHANGE_TIMEOUT_MS + Math.max(...RETRY_DELAYS_MS);

/** The period of deliveries that are due at a time. */
export function dueAt(nowMs: number): DuePeriod {
  return { nowMs, latestDueMs: nowMs + LONGEST_DELAY_MS };
}

/** Records the lifecycle of deliveries: every transition of {@link DeliveryStatus}. */
export class DeliveryBook {
  readonly #storage: Storage;
  readonly #clock: Clock;
  readonly #ids: SortableIds;
  readonly #links: () => ArtifactLinks;

  /** `random`: the source of ids. `links`: makes the links to artifacts. */
  constructor(options: { storage: Storage; clock: Clock; random: Random; links?: () => ArtifactLinks }) {
    this.#storage = options.storage;
    this.#clock = options.clock;
    this.#ids = new SortableIds(options.clock, options.random);
    this.#links = options.links ?? (() => '');
  }

  /**
   * Adds the delivery of a job with a webhook in the transaction that makes it terminal, so each such job has exactly
   * one. Fixes the bytes to be sent.
   */
  async add(tx: Transaction, job: JobRecord): Promise<void> {
    const { jobId, owner, keyId, webhookUrl: url, webhookSecretSealed, traceContext } = job;
    if (url === null) return;
    assert(job.phase === 'completed' || job.phase === 'failed');
    const nowMs = await this.#nowMs(tx);
    const delivery: DeliveryRecord = {
      deliveryId: this.#ids.next(),
      jobId,
      owner,
      keyId,
      ...(webhookSecretSealed !== undefined && { secretSealed: webhookSecretSealed }),
      event: job.phase,
      url,
      host: new URL(url).host,
      createdAtMs: nowMs,
      repeats: null,
      mostAttempts: 1 + RETRY_DELAYS_MS.length,
      token: 0,
      attempts: [],
      dueAtMs: nowMs,
      deliveredAtMs: null,
      traceContext,
    };
    await this.#storage.deliveries.insert(tx, delivery, jobJson(jobOf(job), this.#links()));
  }

  /** Adds a delivery of the same body, with one attempt. */
  async redeliver(delivery: DeliveryRecord): Promise<DeliveryRecord> {
    const body = await this.#storage.deliveries.readBody(delivery.deliveryId);
    if (body === undefined) throw removed();
    const again = await this.#storage.transaction(async (tx) => {
      const again = await this.#again(tx, delivery);
      if (again) await this.#storage.deliveries.insert(tx, again, body);
      return again;
    });
    if (!again) throw removed();
    return again;
  }

  /**
   * As {@link redeliver}, for several deliveries, in one transaction. Leaves out those whose body was removed, and those
   * whose job has a newer delivery.
   */
  async redeliverAll(deliveries: DeliveryRecord[]): Promise<DeliveryRecord[]> {
    const store = this.#storage.deliveries;
    const bodies = await Promise.all(deliveries.map(({ deliveryId }) => store.readBody(deliveryId)));
    // Jobs are locked in one order, so that two such transactions do not deadlock.
    const inOrder = deliveries
      .map((delivery, i) => ({ delivery, body: bodies[i] }))
      .sort(({ delivery: a }, { delivery: b }) => (a.jobId < b.jobId ? -1 : 1));
    return this.#storage.transaction(async (tx) => {
      const added: DeliveryRecord[] = [];
      for (const { delivery, body } of inOrder) {
        if (body === undefined) continue;
        const [newest] = await store.list({ jobId: delivery.jobId, limit: 1 }, tx);
        if (newest?.deliveryId !== delivery.deliveryId) continue;
        const again = await this.#again(tx, delivery);
        if (!again) continue;
        await store.insert(tx, again, body);
        added.push(again);
      }
      return added;
    });
  }

  /** The delivery that repeats this one; undefined when its job was forgotten, and its body removed. */
  async #again(tx: Transaction, delivery: DeliveryRecord): Promise<DeliveryRecord | undefined> {
    const job = await this.#storage.getJob(delivery.jobId, tx);
    if (job?.forgottenAtMs !== undefined) return undefined;
    // Read again, because the master key may have been replaced since.
    const secretSealed = (await this.#storage.deliveries.get(delivery.deliveryId, tx))?.secretSealed;
    const nowMs = await this.#nowMs(tx);
    return {
      ...delivery,
      ...(secretSealed !== undefined && { secretSealed }),
      deliveryId: this.#ids.next(),
      createdAtMs: nowMs,
      repeats: delivery.repeats ?? delivery.deliveryId,
      mostAttempts: 1,
      token: 0,
      attempts: [],
      dueAtMs: nowMs,
      deliveredAtMs: null,
    };
  }

  /** Makes the next attempt of a waiting delivery due now. Error: `conflict` when it does not wait. */
  hasten(deliveryId: string): Promise<DeliveryRecord> {
    return this.#changeWaiting(deliveryId, (delivery, nowMs) => ({ ...delivery, dueAtMs: nowMs }));
  }

  /** Makes no further attempt of a waiting delivery: it has failed. Error: `conflict` when it does not wait. */
  giveUp(deliveryId: string): Promise<DeliveryRecord> {
    return this.#changeWaiting(deliveryId, (delivery) => ({ ...delivery, dueAtMs: null }));
  }

  #changeWaiting(
    deliveryId: string,
    change: (delivery: DeliveryRecord, nowMs: number) => DeliveryRecord,
  ): Promise<DeliveryRecord> {
    const { deliveries } = this.#storage;
    return this.#storage.transaction(async (tx) => {
      const delivery = await deliveries.get(deliveryId, tx);
      // An attempt without an end is being made, or was interrupted: its claim decides.
      if (!delivery || delivery.dueAtMs === null || delivery.attempts.at(-1)?.endedAtMs === null) {
        throw new ScenepressError('conflict', 'This delivery does not wait: it is being sent, or has ended.');
      }
      const changed = change(delivery, await this.#nowMs(tx));
      await deliveries.update(tx, changed);
      return changed;
    });
  }

  /** The period of what is due; undefined when nothing is. */
  async duePeriod(): Promise<DuePeriod | undefined> {
    const period = dueAt(await this.#nowMs());
    return (await this.#storage.deliveries.countDue({ ...period, limit: 1 })) > 0 ? period : undefined;
  }

  /**
   * Claims deliveries and records their attempts in advance, so a crash cannot lead to extra attempts. Each gets a
   * higher `token`, a fencing token that is compared when its attempt ends. Returns the claimed deliveries, and those
   * that have used up their attempts (no longer due). Leaves out those that are no longer due or locked, because
   * another process has claimed or changes them.
   */
  claim(deliveryIds: readonly string[]): Promise<DeliveryRecord[]> {
    const { deliveries } = this.#storage;
    return this.#storage.transaction(async (tx) => {
      const [nowMs, ...found] = await Promise.all([
        this.#nowMs(tx),
        ...deliveryIds.map((id) => deliveries.getUnlocked(id, tx)),
      ]);
      const { latestDueMs } = dueAt(nowMs);
      const begun = found.flatMap((delivery) => {
        if (!delivery || delivery.dueAtMs === null) return [];
        if (delivery.dueAtMs > nowMs && delivery.dueAtMs <= latestDueMs) return [];
        return [withNewAttempt(withoutOpenAttempt(delivery), nowMs)];
      });
      await Promise.all(begun.map((delivery) => deliveries.update(tx, delivery)));
      return begun;
    });
  }

  /**
   * Records the result of an attempt. `signature`: that of its request. No effect when the delivery has been claimed
   * again.
   */
  conclude(
    begun: DeliveryRecord,
    result: ExchangeResult,
    signature: string | null = null,
  ): Promise<DeliveryRecord | undefined> {
    return this.#change(
      begun,
      (delivery, nowMs) => {
        if (result.reason === 'stopped' && !result.sent) {
          return { ...delivery, attempts: delivery.attempts.slice(0, -1), dueAtMs: nowMs };
        }
        const { status, reason, detail } = result;
        const last = delivery.attempts.at(-1) as DeliveryAttempt;
        const attempts = [
          ...delivery.attempts.slice(0, -1),
          { ...last, endedAtMs: nowMs, status, reason, detail },
        ];
        const delivered = reason === null && status >= 200 && status < 300;
        const dueAtMs = delivered ? null : nextAttemptMs({ ...delivery, attempts }, nowMs);
        return { ...delivery, attempts, dueAtMs, deliveredAtMs: delivered ? nowMs : null };
      },
      result.sent ? { attempt: begun.attempts.length - 1, signature, answer: result.answer } : undefined,
    );
  }

  #nowMs(tx?: Transaction): Promise<number> {
    return nowOf({ storage: this.#storage, clock: this.#clock }, tx);
  }

  /** Changes a delivery if its claim is still valid and its attempt has not ended. */
  #change(
    begun: DeliveryRecord,
    change: (delivery: DeliveryRecord, nowMs: number) => DeliveryRecord,
    exchange: Exchange | undefined,
  ): Promise<DeliveryRecord | undefined> {
    const { deliveries } = this.#storage;
    return this.#storage.transaction(async (tx) => {
      const delivery = await deliveries.get(begun.deliveryId, tx);
      const last = delivery?.attempts.at(-1);
      if (!delivery || delivery.token !== begun.token || last?.endedAtMs !== null) return undefined;
      const changed = change(delivery, await this.#nowMs(tx));
      await deliveries.update(tx, changed, exchange);
      return changed;
    });
  }
}

/** Claims a delivery for a new attempt; finishes it when it has used up its attempts. */
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
  // An attempt that never ends counts as having taken the full time-out.
  const again = nextAttemptMs({ ...delivery, attempts }, nowMs + EXCHANGE_TIMEOUT_MS);
  const dueAtMs = again ?? nowMs + ABANDONED_AFTER_MS;
  return { ...delivery, token: delivery.token + 1, attempts, dueAtMs };
}

function nextAttemptMs({ attempts, mostAttempts }: DeliveryRecord, endedAtMs: number): number | null {
  const delayMs = RETRY_DELAYS_MS[attempts.length - 1];
  return delayMs === undefined || attempts.length >= mostAttempts ? null : endedAtMs + delayMs;
}

function removed(): ScenepressError {
  return new ScenepressError(
    'not_found',
    'The body of this delivery has been removed; it cannot be sent again.',
  );
}

/** Marks an attempt without an end as interrupted with its process. */
function withoutOpenAttempt(delivery: DeliveryRecord): DeliveryRecord {
  const last = delivery.attempts.at(-1);
  if (!last || last.endedAtMs !== null) return delivery;
  const interrupted: DeliveryAttempt = {
    ...last,
    endedAtMs: last.startedAtMs + EXCHANGE_TIMEOUT_MS,
    reason: 'interrupted',
    detail: 'the service ended during the request',
  };
  return { ...delivery, attempts: [...delivery.attempts.slice(0, -1), interrupted] };
}
