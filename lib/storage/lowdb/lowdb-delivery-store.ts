import assert from 'node:assert/strict';
import type { DeliveryRecord } from '../../webhooks/delivery.ts';
import type { DeliveryQuery, DeliveryStore, DueQuery } from '../../webhooks/delivery-store.ts';
import type { ResealedStep, ResealStep, Transaction } from '../storage.ts';
import type { LowdbDatabase } from './database.ts';
import { DueQueue } from './due-queue.ts';
import { resealRows } from './reseal-rows.ts';

const TABLE = 'deliveries';
const BODIES = 'deliveryBodies';
const ANSWERS = 'deliveryAnswers';
const DEFAULT_LIMIT = 50;

/** Webhook deliveries in the embedded database. They are kept as long as their jobs: for good, but not in memory. */
export class LowdbDeliveryStore implements DeliveryStore {
  readonly #database: LowdbDatabase;
  readonly #due: DueQueue;

  constructor(database: LowdbDatabase) {
    this.#database = database;
    this.#due = new DueQueue((id) => database.unfinished<DeliveryRecord>(TABLE, id));
    database.archive<DeliveryRecord>(TABLE, {
      finished: ({ dueAtMs }) => dueAtMs === null,
      keepsRecent: true,
      indexes: {
        byJob: ({ jobId, deliveryId }) => ({ bucket: [jobId], order: deliveryId }),
        byOwner: ({ owner, deliveryId }) => ({ bucket: [owner], order: deliveryId }),
      },
    });
    database.archive(BODIES, { finished: () => true });
    database.archive(ANSWERS, { finished: () => true });
    database.listen(TABLE, (id, _before, after) => {
      this.#due.set(id, (after as DeliveryRecord | undefined)?.dueAtMs ?? null);
    });
  }

  async insert(tx: Transaction, delivery: DeliveryRecord, body: string): Promise<void> {
    const inside = this.#database.inside(tx);
    assert((await inside.find(TABLE, delivery.deliveryId)) === undefined, 'a deliveryId is used once');
    inside.put(TABLE, delivery.deliveryId, delivery);
    inside.put(BODIES, delivery.deliveryId, body);
  }

  async update(tx: Transaction, delivery: DeliveryRecord, answer?: string): Promise<void> {
    const inside = this.#database.inside(tx);
    assert(await inside.find(TABLE, delivery.deliveryId), 'the delivery exists');
    inside.put(TABLE, delivery.deliveryId, delivery);
    if (answer !== undefined) inside.put(ANSWERS, delivery.deliveryId, answer);
  }

  async forget(tx: Transaction, delivery: DeliveryRecord): Promise<void> {
    await this.update(tx, delivery);
    const inside = this.#database.inside(tx);
    inside.remove(BODIES, delivery.deliveryId);
    inside.remove(ANSWERS, delivery.deliveryId);
  }

  resealSecrets(step: ResealStep): Promise<ResealedStep> {
    return resealRows<DeliveryRecord>(this.#database, step, {
      table: TABLE,
      idOf: ({ deliveryId }) => deliveryId,
      secret: 'secretSealed',
    });
  }

  async get(deliveryId: string, tx?: Transaction): Promise<DeliveryRecord | undefined> {
    return (tx ? this.#database.inside(tx) : this.#database).find(TABLE, deliveryId);
  }

  async list({ owner, jobId, limit = DEFAULT_LIMIT, before }: DeliveryQuery): Promise<DeliveryRecord[]> {
    const found: DeliveryRecord[] = [];
    const listing = {
      ...(owner !== undefined && { index: 'byOwner', buckets: [[owner]] }),
      ...(jobId !== undefined && { index: 'byJob', buckets: [[jobId]] }),
      ...(before !== undefined && { before }),
    };
    for await (const delivery of this.#database.newestFirst<DeliveryRecord>(TABLE, listing)) {
      if (owner !== undefined && delivery.owner !== owner) continue;
      if (found.push(delivery) >= limit) break;
    }
    return found;
  }

  async due({ lanes, ...query }: DueQuery): Promise<DeliveryRecord[]> {
    const ids = lanes ? this.#due.take({ ...query, lanes }) : this.#due.all(query);
    return ids.map((id) => this.#database.unfinished<DeliveryRecord>(TABLE, id) as DeliveryRecord);
  }

  async readBody(deliveryId: string): Promise<string | undefined> {
    return this.#database.find<string>(BODIES, deliveryId);
  }

  async readAnswer(deliveryId: string): Promise<string | undefined> {
    return this.#database.find<string>(ANSWERS, deliveryId);
  }
}
