import type { Transaction } from '../storage/storage.ts';
import type { DeliveryRecord } from './delivery.ts';

/** Which deliveries to list. Newest first. */
export interface DeliveryQuery {
  owner?: string;
  jobId?: string;
  /** At most this many; default 50. */
  limit?: number;
  /** Only deliveries older than this one: the last `deliveryId` of the page before. */
  before?: string;
}

/** Which deliveries are to be sent. */
export interface DueQuery {
  dueByMs: number;
  limit: number;
  /** At most this many to one host. */
  limitPerHost: number;
  /** None to these: they have as many under way as they may. */
  exceptHosts: ReadonlySet<string>;
}

/** Where deliveries live, in the same database as the jobs. The rules of {@link Storage} hold here too. */
export interface DeliveryStore {
  /** Adds a delivery with the text of its body. A `deliveryId` is used once only. */
  insert(tx: Transaction, delivery: DeliveryRecord, body: string): Promise<void>;
  /** Replaces the record of a delivery that exists; an `answer` replaces the one kept before. */
  update(tx: Transaction, delivery: DeliveryRecord, answer?: string): Promise<void>;
  /** Replaces the record of a delivery; removes its body and the answer. */
  forget(tx: Transaction, delivery: DeliveryRecord): Promise<void>;
  /** Replaces each secret that came with a job by what `reseal` makes of it. */
  resealSecrets(tx: Transaction, reseal: (sealed: string) => string): Promise<void>;
  get(deliveryId: string, tx?: Transaction): Promise<DeliveryRecord | undefined>;
  list(query: DeliveryQuery): Promise<DeliveryRecord[]>;
  /**
   * Deliveries whose time has come: the longest due of each host, hosts in turns, so that many to one host don't stand
   * before those to others. Takes no longer when more are due.
   */
  due(query: DueQuery): Promise<DeliveryRecord[]>;
  /** The body exactly as it was inserted. */
  readBody(deliveryId: string): Promise<string | undefined>;
  readAnswer(deliveryId: string): Promise<string | undefined>;
}
