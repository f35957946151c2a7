import assert from 'node:assert/strict';
import type { DeliveryRecord } from '../../webhooks/delivery.ts';
import type { DeliveryQuery, DeliveryStore, DueQuery } from '../../webhooks/delivery-store.ts';
import { DueQueue } from '../../webhooks/due-queue.ts';
import type { ResealedStep, ResealStep, Transaction } from '../storage.ts';
import { inOrder } from './page-order.ts';
import { resealRows } from './reseal-rows.ts';
import { textKeyOf } from './row-format.ts';
import type { SqlDatabase, SqlTransaction } from './sql.ts';
import { ANSWERS, BODIES, DELIVERIES } from './tables.ts';
import { addTextKey, blankTextKey, type TextKey } from './text-keys.ts';

const DEFAULT_LIMIT = 50;

/** Deliveries in a database that speaks SQL. Who is due when is kept in memory too, for turns between hosts. */
export class SqlDeliveryStore implements DeliveryStore {
  readonly #database: SqlDatabase;
  #due = new DueQueue((id) => this.#waiting.get(id));
  readonly #waiting = new Map<string, DeliveryRecord>();

  constructor(database: SqlDatabase) {
    this.#database = database;
  }

  /** Finds what is due. */
  async start(): Promise<void> {
    this.#waiting.clear();
    this.#due = new DueQueue((id) => this.#waiting.get(id));
    const rows = await this.#database.all(
      `SELECT ${DELIVERIES.names} FROM deliveries WHERE due_at_ms IS NOT NULL`,
    );
    for (const row of rows) this.#note(DELIVERIES.record(row));
  }

  async insert(tx: Transaction, delivery: DeliveryRecord, body: string): Promise<void> {
    const { deliveryId } = delivery;
    const inside = this.#database.inside(tx);
    const textKey = await addTextKey(inside);
    const sent = { deliveryId, body };
    await inside.run(DELIVERIES.insert, ...DELIVERIES.row(delivery), ...DELIVERIES.texts(delivery, textKey));
    await inside.run(BODIES.insert, ...BODIES.row(sent), ...BODIES.texts(sent, textKey));
    this.#noteAfter(inside, delivery);
  }

  async update(tx: Transaction, delivery: DeliveryRecord, answer?: string): Promise<void> {
    const { deliveryId } = delivery;
    const inside = this.#database.inside(tx);
    const updated = await inside.run(DELIVERIES.update, ...DELIVERIES.row(delivery), deliveryId);
    assert.equal(updated, 1, 'the delivery exists');
    this.#noteAfter(inside, delivery);
    if (answer === undefined) return;
    await inside.run('DELETE FROM delivery_answers WHERE delivery_id = ?', deliveryId);
    const kept = { deliveryId, answer };
    const textKey = await this.#textKeyOf(inside, deliveryId);
    await inside.run(ANSWERS.insert, ...ANSWERS.row(kept), ...ANSWERS.texts(kept, textKey));
  }

  async forget(tx: Transaction, delivery: DeliveryRecord): Promise<void> {
    const { deliveryId } = delivery;
    const inside = this.#database.inside(tx);
    const blank = await blankTextKey(inside, await this.#textKeyOf(inside, deliveryId));
    const texts = DELIVERIES.sealTexts(delivery, blank);
    await inside.run(DELIVERIES.updateWithTexts, ...DELIVERIES.row(delivery), texts, deliveryId);
    this.#noteAfter(inside, delivery);
    await inside.run('DELETE FROM delivery_bodies WHERE delivery_id = ?', deliveryId);
    await inside.run('DELETE FROM delivery_answers WHERE delivery_id = ?', deliveryId);
  }

  resealSecrets(step: ResealStep): Promise<ResealedStep> {
    const noteAfter = (tx: SqlTransaction, delivery: DeliveryRecord) => this.#noteAfter(tx, delivery);
    return resealRows(this.#database, DELIVERIES, 'secretSealed', step, noteAfter);
  }

  async get(deliveryId: string, tx?: Transaction): Promise<DeliveryRecord | undefined> {
    const reader = tx ? this.#database.inside(tx) : this.#database;
    const row = await reader.get(
      `SELECT ${DELIVERIES.names} FROM deliveries WHERE delivery_id = ?`,
      deliveryId,
    );
    return row && DELIVERIES.record(row);
  }

  async list({ owner, jobId, limit = DEFAULT_LIMIT, before }: DeliveryQuery): Promise<DeliveryRecord[]> {
    const conditions = [
      ...(jobId === undefined ? [] : [{ text: 'job_id = ?', value: jobId }]),
      ...(owner === undefined ? [] : [{ text: 'owner = ?', value: owner }]),
      ...(before === undefined ? [] : [{ text: 'delivery_id < ?', value: before }]),
    ];
    const where = conditions.length > 0 ? `WHERE ${conditions.map(({ text }) => text).join(' AND ')}` : '';
    const rows = await this.#database.all(
      `SELECT ${DELIVERIES.names} FROM deliveries ${where} ORDER BY delivery_id DESC LIMIT ?`,
      ...conditions.map(({ value }) => value),
      limit,
    );
    const deliveries = rows.map((row) => DELIVERIES.record(row));
    return inOrder(DELIVERIES, ({ deliveryId }) => deliveryId, deliveries, { up: false, from: before });
  }

  async due({ lanes, ...query }: DueQuery): Promise<DeliveryRecord[]> {
    const ids = lanes ? this.#due.take({ ...query, lanes }) : this.#due.all(query);
    return ids.map((id) => this.#waiting.get(id) as DeliveryRecord);
  }

  async readBody(deliveryId: string): Promise<string | undefined> {
    const row = await this.#database.get(
      `SELECT ${BODIES.names} FROM delivery_bodies WHERE delivery_id = ?`,
      deliveryId,
    );
    return row && BODIES.record(row).body;
  }

  async readAnswer(deliveryId: string): Promise<string | undefined> {
    const row = await this.#database.get(
      `SELECT ${ANSWERS.names} FROM delivery_answers WHERE delivery_id = ?`,
      deliveryId,
    );
    return row && ANSWERS.record(row).answer;
  }

  async #textKeyOf(tx: SqlTransaction, deliveryId: string): Promise<TextKey> {
    const row = await tx.get(
      `SELECT text_key_id, ${DELIVERIES.textKey} FROM deliveries WHERE delivery_id = ?`,
      deliveryId,
    );
    assert(row, 'the delivery exists');
    return textKeyOf(row);
  }

  #noteAfter(tx: SqlTransaction, delivery: DeliveryRecord): void {
    const noted = structuredClone(delivery);
    tx.afterCommit(() => this.#note(noted));
  }

  #note(delivery: DeliveryRecord): void {
    const { deliveryId, dueAtMs } = delivery;
    const wasWaiting = this.#waiting.has(deliveryId);
    if (dueAtMs !== null) this.#waiting.set(deliveryId, delivery);
    else this.#waiting.delete(deliveryId);
    if (dueAtMs !== null || wasWaiting) this.#due.set(deliveryId, dueAtMs);
  }
}
