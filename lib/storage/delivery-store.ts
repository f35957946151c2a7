import type { Page } from '../base/pages.ts';
import type { ResealedStep, ResealStep } from '../keys/sealed-secrets.ts';
import type { DeliveryRecord, Exchange } from './delivery.ts';
import type { Transaction } from './transaction.ts';

/** `pending`: waiting, or being sent. */
export type DeliveryState = 'pending' | 'delivered' | 'failed';

/** A query for deliveries, newest first. */
export interface DeliveryQuery {
  /** Only those of this owner. */
  owner?: string;
  /** Only those of this job. */
  jobId?: string;
  /** Only deliveries signed with the secret of this API key. */
  keyId?: string;
  /** Only those in this state. */
  state?: DeliveryState;
  /** Maximum number of deliveries; default 50. */
  limit?: number;
  /** Only deliveries older than this one: the last `deliveryId` of the previous page. */
  before?: string;
  /** Only deliveries whose ids sort behind it. */
  after?: string;
}

/** The period of due deliveries. */
export interface DuePeriod {
  /** Epoch milliseconds. */
  nowMs: number;
  /** The latest valid due time; later ones were written by a wrong clock and count as due now. */
  latestDueMs: number;
}

/** A query for due deliveries. */
export interface DueQuery extends DuePeriod {
  /** Maximum number of deliveries. */
  limit: number;
}

/** A query for the due deliveries of an owner to a host. */
export interface DueToHostQuery extends DueQuery {
  owner: string;
  host: string;
}

/** A host with unfinished deliveries of an owner. */
export interface UnfinishedHost {
  host: string;
  /** When the first of them is due. */
  firstDueMs: number;
}

/** The store of deliveries, in the same database as the jobs. The rules of {@link Storage} apply. */
export interface DeliveryStore {
  /** Adds a delivery with the text of its body. A `deliveryId` must not be reused. */
  insert(tx: Transaction, delivery: DeliveryRecord, body: string): Promise<void>;
  /**
   * Replaces the record of an existing delivery, except its URL; adds an exchange. Throws when the token is less than
   * the stored one, and for a delivery that has ended.
   */
  update(tx: Transaction, delivery: DeliveryRecord, exchange?: Exchange): Promise<void>;
  /** Replaces the record of a delivery, including its URL; removes its body and exchanges. */
  forget(tx: Transaction, delivery: DeliveryRecord): Promise<void>;
  /** Re-encrypts the secrets of deliveries, as {@link Storage.resealSecrets} does. */
  resealSecrets(step: ResealStep): Promise<ResealedStep>;
  /** Undefined if there is none. */
  get(deliveryId: string, tx?: Transaction): Promise<DeliveryRecord | undefined>;
  /** Newest first. */
  list(query: DeliveryQuery, tx?: Transaction): Promise<DeliveryRecord[]>;
  /** As {@link get}, without waiting: also undefined while another transaction has locked the delivery. */
  getUnlocked(deliveryId: string, tx: Transaction): Promise<DeliveryRecord | undefined>;
  /** The number of due deliveries, including those with expired claims. */
  countDue(query: DueQuery): Promise<number>;
  /** Ids of due deliveries to a host, longest due first. */
  listDue(query: DueToHostQuery): Promise<string[]>;
  /** Owners with unfinished deliveries, by name. The cost does not depend on the number of deliveries. */
  listUnfinishedOwners(page: Page): Promise<string[]>;
  /** An owner's hosts with unfinished deliveries, by name. The cost does not depend on the number of deliveries. */
  listUnfinishedHosts(owner: string, page: Page): Promise<UnfinishedHost[]>;
  /** Unfinished deliveries, oldest first. */
  listUnfinished(page?: Page): Promise<DeliveryRecord[]>;
  /** The body, verbatim. */
  readBody(deliveryId: string): Promise<string | undefined>;
  /** In the order in which they were added. */
  readExchanges(deliveryId: string): Promise<Exchange[]>;
}
