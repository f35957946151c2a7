import type { ResealedStep, ResealStep } from '../keys/sealed-secrets.ts';
import type { Page } from '../pages.ts';
import type { Transaction } from '../storage/storage.ts';
import type { DeliveryRecord, Exchange } from './delivery.ts';

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

/** The response speed of an owner's host; `new`: not called recently. */
export type HostPace = 'quick' | 'new' | 'slow';

/** Concurrency limits per owner, and per owner and host. */
export interface DueLanes {
  /** How an owner may send to a host at present. */
  paceOf(owner: string, host: string): HostPace;
  /** False when no attempt of the owner to any host of this pace may start now. */
  mayCall(owner: string, pace: HostPace): boolean;
  /**
   * Reserves a place for an attempt; false when none is free. The place stays unused when the host has nothing due.
   */
  enter(owner: string, host: string): boolean;
}

/** The period of due deliveries. */
export interface DuePeriod {
  /** Epoch milliseconds. */
  nowMs: number;
  /** The latest valid due time; later ones were written by a wrong clock and count as due now. */
  latestDueMs: number;
}

/** A sender's request for due deliveries. */
export interface DueRequest extends DuePeriod {
  /** Maximum number of deliveries to change. */
  most: number;
  /** What may be sent at present. */
  lanes: DueLanes;
  /** Hosts whose pace has changed since the last committed claim. */
  changed?: Iterable<{ owner: string; host: string }>;
  /**
   * Returns the claimed delivery: with the new attempt, and due again when the claim expires. A delivery returned as
   * not due is finished and not claimed.
   */
  begin: (delivery: DeliveryRecord) => DeliveryRecord;
  /** Ids of deliveries with an attempt of this sender still running, although the claim may have expired; skipped. */
  underWay?: ReadonlySet<string>;
  /** Called for a delivery that cannot be read. It is postponed by some minutes, so others are not blocked. */
  onUnreadable: (deliveryId: string, error: unknown) => void;
}

/** Counts due deliveries. */
export interface DueQuery extends DuePeriod {
  /** Stops counting at this number. */
  limit: number;
}

/** The store of deliveries, in the same database as the jobs. The rules of {@link Storage} apply. */
export interface DeliveryStore {
  /** Adds a delivery with the text of its body. A `deliveryId` must not be reused. */
  insert(tx: Transaction, delivery: DeliveryRecord, body: string): Promise<void>;
  /** Replaces the record of an existing delivery, except its URL; adds an exchange. */
  update(tx: Transaction, delivery: DeliveryRecord, exchange?: Exchange): Promise<void>;
  /** Replaces the record of a delivery, including its URL; removes its body and exchanges. */
  forget(tx: Transaction, delivery: DeliveryRecord): Promise<void>;
  /** Re-encrypts the secrets of deliveries, as {@link Storage.resealSecrets} does. */
  resealSecrets(step: ResealStep): Promise<ResealedStep>;
  /** Undefined if there is none. */
  get(deliveryId: string, tx?: Transaction): Promise<DeliveryRecord | undefined>;
  /** Newest first. */
  list(query: DeliveryQuery, tx?: Transaction): Promise<DeliveryRecord[]>;
  /**
   * Claims due deliveries. Each gets a higher `token`, a fencing token that its sender compares in each later
   * transaction. Returns the deliveries that `begin` changed.
   *
   * Scheduling is round-robin over owners and over the hosts of an owner; within a host, the longest due goes first.
   * Hosts that may not be called are skipped. The cost does not depend on the number of due deliveries, hosts and
   * owners.
   */
  claimDue(tx: Transaction, request: DueRequest): Promise<DeliveryRecord[]>;
  /** The number of due deliveries, including those with expired claims. */
  countDue(query: DueQuery): Promise<number>;
  /** Unfinished deliveries, oldest first. */
  listUnfinished(page?: Page): Promise<DeliveryRecord[]>;
  /** The body, verbatim. */
  readBody(deliveryId: string): Promise<string | undefined>;
  /** In the order in which they were added. */
  readExchanges(deliveryId: string): Promise<Exchange[]>;
}
