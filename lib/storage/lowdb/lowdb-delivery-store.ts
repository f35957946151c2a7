import assert from 'node:assert/strict';
import type { DeliveryRecord } from '../../webhooks/delivery.ts';
import type { DeliveryQuery, DeliveryStore, DueQuery } from '../../webhooks/delivery-store.ts';
import type { Transaction } from '../storage.ts';
import type { LowdbDatabase } from './database.ts';
import { DueQueue } from './due-queue.ts';

const TABLE = 'deliveries';
const BODIES = 'deliveryBodies';
const ANSWERS = 'deliveryAnswers';
const DEFAULT_LIMIT = 50;

/** Webhook deliveries in the embedded database; bodies and answers don't stay in memory. */
export class LowdbDeliveryStore implements DeliveryStore {
  readonly #database: LowdbDatabase;
  readonly #byJob = new Map<string, string[]>();
  readonly #due: DueQueue;

  constructor(database: LowdbDatabase) {
    this.#database = database;
    this.#due = new DueQueue((id) => database.get<DeliveryRecord>(TABLE, id));
    database.keepCold(BODIES);
    database.keepCold(ANSWERS);
    database.listen(TABLE, (_id, before, after) => {
      if (after) this.#index(after as DeliveryRecord, before === undefined);
      else this.#forget(); // Deliveries are never removed: only closing the database does it.
    });
  }

  async insert(tx: Transaction, delivery: DeliveryRecord, body: string): Promise<void> {
    const inside = this.#database.inside(tx);
    assert(inside.get(TABLE, delivery.deliveryId) === undefined, 'a deliveryId is used once');
    inside.put(TABLE, delivery.deliveryId, delivery);
    inside.putCold(BODIES, delivery.deliveryId, body);
  }

  async update(tx: Transaction, delivery: DeliveryRecord, answer?: string): Promise<void> {
    const inside = this.#database.inside(tx);
    assert(inside.get(TABLE, delivery.deliveryId), 'the delivery exists');
    inside.put(TABLE, delivery.deliveryId, delivery);
    if (answer !== undefined) inside.putCold(ANSWERS, delivery.deliveryId, answer);
  }

  async get(deliveryId: string, tx?: Transaction): Promise<DeliveryRecord | undefined> {
    return tx ? this.#database.inside(tx).get(TABLE, deliveryId) : this.#database.get(TABLE, deliveryId);
  }

  async list({ owner, jobId, limit = DEFAULT_LIMIT, before }: DeliveryQuery): Promise<DeliveryRecord[]> {
    const found: DeliveryRecord[] = [];
    for (const delivery of this.#newestFirst(jobId)) {
      if (before !== undefined && delivery.deliveryId >= before) continue;
      if (owner !== undefined && delivery.owner !== owner) continue;
      if (found.push(delivery) >= limit) break;
    }
    return found;
  }

  async due(query: DueQuery): Promise<DeliveryRecord[]> {
    return this.#due.take(query).map((id) => this.#database.get<DeliveryRecord>(TABLE, id) as DeliveryRecord);
  }

  async readBody(deliveryId: string): Promise<string | undefined> {
    return this.#database.readCold<string>(BODIES, deliveryId);
  }

  async readAnswer(deliveryId: string): Promise<string | undefined> {
    return this.#database.readCold<string>(ANSWERS, deliveryId);
  }

  #newestFirst(jobId: string | undefined): DeliveryRecord[] {
    if (jobId === undefined) return [...this.#database.all<DeliveryRecord>(TABLE)].reverse();
    const ids = this.#byJob.get(jobId) ?? [];
    return ids.map((id) => this.#database.get<DeliveryRecord>(TABLE, id) as DeliveryRecord).reverse();
  }

  #index({ deliveryId, jobId, host, dueAtMs }: DeliveryRecord, isNew: boolean): void {
    this.#due.set(deliveryId, host, dueAtMs);
    if (!isNew) return;
    const ids = this.#byJob.get(jobId);
    if (ids) ids.push(deliveryId);
    else this.#byJob.set(jobId, [deliveryId]);
  }

  #forget(): void {
    this.#due.clear();
    this.#byJob.clear();
  }
}
