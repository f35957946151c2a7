import assert from 'node:assert/strict';
import type { Page } from '../base/pages.ts';
import type { Random } from '../base/random.ts';
import type { ResealedStep, ResealStep } from '../keys/sealed-secrets.ts';
import type { DeliveryRecord, Exchange } from '../storage/delivery.ts';
import type {
  DeliveryQuery,
  DeliveryState,
  DeliveryStore,
  DueQuery,
  DueToHostQuery,
  UnfinishedHost,
} from '../storage/delivery-store.ts';
import type { SqlDatabase, SqlTransaction } from '../storage/sql.ts';
import type { Transaction } from '../storage/transaction.ts';
import { inOrder } from './page-order.ts';
import { resealRows } from './reseal-rows.ts';
import { textKeyOf } from './row-format.ts';
import { BODIES, DELIVERIES, EXCHANGES } from './row-formats.ts';
import { readInSlices } from './slices.ts';
import { addTextKey, blankTextKey, type TextKey } from './text-keys.ts';

const DEFAULT_LIMIT = 50;

/** As in the indexes. */
const STATE_CONDITIONS: Record<DeliveryState, string> = {
  pending: 'due_at_ms IS NOT NULL',
  delivered: 'delivered_at_ms IS NOT NULL',
  failed: 'due_at_ms IS NULL AND delivered_at_ms IS NULL',
};

const UNFINISHED = 'FROM deliveries WHERE due_at_ms IS NOT NULL';

/** The first value of a column, found by one lookup in the index; `min` would read all rows of an owner. */
const first = (column: string, condition: string) =>
  `(SELECT deliveries.${column} ${UNFINISHED} AND ${condition} ORDER BY deliveries.${column} LIMIT 1)`;

/** Selects the next different values of a column, one after the other. */
const distinct = (column: 'owner' | 'host', condition: string) =>
  `WITH RECURSIVE found (${column}, number) AS (
     SELECT ${first(column, `${condition}${column} > ?`)}, 1
     UNION ALL SELECT ${first(column, `${condition}deliveries.${column} > found.${column}`)}, number + 1
       FROM found WHERE found.${column} IS NOT NULL AND number < ?
   )`;

const OWNERS = `${distinct('owner', '')} SELECT owner FROM found WHERE owner IS NOT NULL ORDER BY number`;

const HOSTS = `${distinct('host', 'owner = ? AND ')}
  SELECT host, ${first('due_at_ms', 'owner = ? AND deliveries.host = found.host')} AS first_due_ms
  FROM found WHERE host IS NOT NULL ORDER BY number`;

/** A later time than any valid one was written by a wrong clock. */
const DUE_TO_HOST = ['due_at_ms <= ?', 'due_at_ms > ?']
  .map(
    (
      when,
    ) => `SELECT * FROM (SELECT delivery_id, due_at_ms FROM deliveries WHERE owner = ? AND host = ? AND ${when}
      ORDER BY due_at_ms, delivery_id LIMIT ?) AS due`,
  )
  .join(' UNION ALL ');

/** Deliveries in an SQL database. */
export class SqlDeliveryStore implements DeliveryStore {
  readonly #database: SqlDatabase;
  readonly #random: Random;

  constructor(database: SqlDatabase, random: Random) {
    this.#database = database;
    this.#random = random;
  }

  async insert(tx: Transaction, delivery: DeliveryRecord, body: string): Promise<void> {
    const { deliveryId } = delivery;
    const inside = this.#database.inside(tx);
    const textKey = await addTextKey(inside, this.#random);
    const sent = { deliveryId, body };
    inside.write(DELIVERIES.insert, ...DELIVERIES.rowWithTexts(delivery, textKey, this.#random));
    inside.write(BODIES.insert, ...BODIES.rowWithTexts(sent, textKey, this.#random));
  }

  async update(tx: Transaction, delivery: DeliveryRecord, exchange?: Exchange): Promise<void> {
    const { deliveryId } = delivery;
    const inside = this.#database.inside(tx);
    if (exchange === undefined) {
      const updated = await inside.run(DELIVERIES.update, ...DELIVERIES.changes(delivery));
      assert.equal(updated, 1, 'the delivery exists');
      return;
    }
    inside.write(DELIVERIES.update, ...DELIVERIES.changes(delivery));
    const [before, textKey] = await Promise.all([
      inside.get(EXCHANGES.byKey, deliveryId),
      this.#textKeyOf(inside, deliveryId),
    ]);
    inside.write('DELETE FROM delivery_exchanges WHERE delivery_id = ?', deliveryId);
    const kept = { deliveryId, exchanges: JSON.stringify([...exchangesIn(before), exchange]) };
    inside.write(EXCHANGES.insert, ...EXCHANGES.rowWithTexts(kept, textKey, this.#random));
  }

  async forget(tx: Transaction, delivery: DeliveryRecord): Promise<void> {
    const { deliveryId } = delivery;
    const inside = this.#database.inside(tx);
    const blank = blankTextKey(inside, await this.#textKeyOf(inside, deliveryId));
    const texts = DELIVERIES.sealTexts(delivery, blank, this.#random);
    inside.write(DELIVERIES.updateWithTexts, ...DELIVERIES.changes(delivery, texts));
    inside.write('DELETE FROM delivery_bodies WHERE delivery_id = ?', deliveryId);
    inside.write('DELETE FROM delivery_exchanges WHERE delivery_id = ?', deliveryId);
  }

  resealSecrets(step: ResealStep): Promise<ResealedStep> {
    return resealRows(this.#database, DELIVERIES, 'secretSealed', step);
  }

  async get(deliveryId: string, tx?: Transaction): Promise<DeliveryRecord | undefined> {
    const row = tx
      ? await this.#database.inside(tx).getForUpdate(DELIVERIES.byKey, deliveryId)
      : await this.#database.get(DELIVERIES.byKey, deliveryId);
    return row && DELIVERIES.record(row);
  }

  async list(query: DeliveryQuery, tx?: Transaction): Promise<DeliveryRecord[]> {
    const inside = tx && this.#database.inside(tx);
    // Two transactions that add a delivery because of what they found here run one after the other.
    const locked = query.jobId === undefined ? undefined : inside?.lock(`deliveries of ${query.jobId}`);
    const found = readInSlices(query.limit ?? DEFAULT_LIMIT, (limit, last: DeliveryRecord | undefined) => {
      const before = last?.deliveryId ?? query.before;
      return this.#list({ ...query, limit, ...(before !== undefined && { before }) }, inside);
    });
    const [deliveries] = await Promise.all([found, locked]);
    return deliveries;
  }

  async #list(
    { limit, ...query }: DeliveryQuery & { limit: number },
    inside: SqlTransaction | undefined,
  ): Promise<DeliveryRecord[]> {
    const { state, before } = query;
    const conditions = conditionsOf(query);
    const texts = conditions.map(({ text }) => text);
    if (state !== undefined) texts.push(STATE_CONDITIONS[state]);
    const where = texts.length > 0 ? `WHERE ${texts.join(' AND ')}` : '';
    const rows = await (inside ?? this.#database).all(
      `SELECT ${DELIVERIES.names} FROM deliveries ${where} ORDER BY delivery_id DESC LIMIT ?`,
      ...conditions.map(({ value }) => value),
      limit,
    );
    const deliveries = rows.map((row) => DELIVERIES.record(row));
    return inOrder(DELIVERIES, ({ deliveryId }) => deliveryId, deliveries, { up: false, from: before });
  }

  async getUnlocked(deliveryId: string, tx: Transaction): Promise<DeliveryRecord | undefined> {
    const [row] = await this.#database.inside(tx).allUnlocked(DELIVERIES.byKey, deliveryId);
    return row && DELIVERIES.record(row);
  }

  async countDue({ nowMs, latestDueMs, limit }: DueQuery): Promise<number> {
    const upTo = (condition: string) =>
      `(SELECT count(*) FROM (SELECT 1 FROM deliveries WHERE ${condition} LIMIT ?) AS due)`;
    const counted = await this.#database.get<{ due: number }>(
      `SELECT ${upTo('due_at_ms <= ?')} + ${upTo('due_at_ms > ?')} AS due`,
      Math.floor(nowMs),
      limit,
      Math.floor(latestDueMs),
      limit,
    );
    return Math.min(counted?.due ?? 0, limit);
  }

  async listDue({ owner, host, nowMs, latestDueMs, limit }: DueToHostQuery): Promise<string[]> {
    const times = [nowMs, latestDueMs].map(Math.floor);
    const values = times.flatMap((time) => [owner, host, time, limit]);
    const rows = await this.#database.all<{ delivery_id: string }>(DUE_TO_HOST, ...values);
    return rows.slice(0, limit).map(({ delivery_id }) => delivery_id);
  }

  async listUnfinishedOwners({ after = '', limit = DEFAULT_LIMIT }: Page): Promise<string[]> {
    const rows = await this.#database.all<{ owner: string }>(OWNERS, after, limit);
    return rows.map(({ owner }) => owner);
  }

  async listUnfinishedHosts(
    owner: string,
    { after = '', limit = DEFAULT_LIMIT }: Page,
  ): Promise<UnfinishedHost[]> {
    const rows = await this.#database.all<{ host: string; first_due_ms: number }>(
      HOSTS,
      owner,
      after,
      owner,
      limit,
      owner,
    );
    return rows.map(({ host, first_due_ms }) => ({ host, firstDueMs: first_due_ms }));
  }

  async listUnfinished({ after = '', limit = DEFAULT_LIMIT }: Page = {}): Promise<DeliveryRecord[]> {
    const rows = await this.#database.all(
      `SELECT ${DELIVERIES.names} ${UNFINISHED} AND delivery_id > ? ORDER BY delivery_id LIMIT ?`,
      after,
      limit,
    );
    const deliveries = rows.map((row) => DELIVERIES.record(row));
    return inOrder(DELIVERIES, ({ deliveryId }) => deliveryId, deliveries, { up: true, from: after });
  }

  async readBody(deliveryId: string): Promise<string | undefined> {
    const row = await this.#database.get(BODIES.byKey, deliveryId);
    return row && BODIES.record(row).body;
  }

  async readExchanges(deliveryId: string): Promise<Exchange[]> {
    return exchangesIn(await this.#database.get(EXCHANGES.byKey, deliveryId));
  }

  async #textKeyOf(tx: SqlTransaction, deliveryId: string): Promise<TextKey> {
    const row = await tx.getForUpdate(
      `SELECT text_key_id, ${DELIVERIES.textKey} FROM deliveries WHERE delivery_id = ?`,
      deliveryId,
    );
    assert(row, 'the delivery exists');
    return textKeyOf(row);
  }
}

function exchangesIn(row: object | undefined): Exchange[] {
  return row ? (JSON.parse(EXCHANGES.record(row).exchanges) as Exchange[]) : [];
}

function conditionsOf({
  owner,
  jobId,
  keyId,
  before,
  after,
}: DeliveryQuery): { text: string; value: string }[] {
  const all: [text: string, value: string | undefined][] = [
    ['job_id = ?', jobId],
    ['owner = ?', owner],
    ['key_id = ?', keyId],
    ['delivery_id < ?', before],
    ['delivery_id > ?', after],
  ];
  return all.flatMap(([text, value]) => (value === undefined ? [] : [{ text, value }]));
}
