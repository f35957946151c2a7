import type { Page } from '../pages.ts';
import type { ResealedStep, ResealStep, Transaction } from '../storage/storage.ts';
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

/** What a sender knows of one of an owner's hosts: `new` hosts have not been called lately. */
export type HostPace = 'quick' | 'new' | 'slow';

/** Who may be called now. The attempts of one owner, and of these the ones to one host, have bounds of their own. */
export interface DueLanes {
  paceOf(owner: string, host: string): HostPace;
  /** False when no more of the owner's attempts to hosts of this pace may begin now, whatever the host. */
  mayCall(owner: string, pace: HostPace): boolean;
  /** Takes a place for an attempt; false when there is none. It is not used where the host has nothing to be sent. */
  enter(owner: string, host: string): boolean;
}

/** What is due now. */
export interface DuePeriod {
  nowMs: number;
  /** Nothing is due later: what is, was written by a clock that was wrong, and is due now. */
  latestDueMs: number;
}

/** What a sender asks for. */
export interface DueRequest extends DuePeriod {
  /** At most so many deliveries are changed. */
  most: number;
  lanes: DueLanes;
  /** Hosts whose pace has changed since it was asked last, and all that it had claimed was committed. */
  changed?: Iterable<{ owner: string; host: string }>;
  /**
   * What a delivery becomes while it is claimed: with the attempt that is about to be made, and due again when the claim
   * lapses. Not due any more: it is over, and not claimed.
   */
  begin: (delivery: DeliveryRecord) => DeliveryRecord;
  /** Ids of deliveries at which the sender still makes an attempt, though its claim may have lapsed: they can wait. */
  underWay?: ReadonlySet<string>;
  /** Told of a delivery that can't be read. It is tried again in some minutes, so that others don't wait for it. */
  onUnreadable: (deliveryId: string, error: unknown) => void;
}

export interface DueQuery extends DuePeriod {
  /** Counts no further. */
  limit: number;
}

/** Where deliveries live, in the same database as the jobs. The rules of {@link Storage} hold here too. */
export interface DeliveryStore {
  /** Adds a delivery with the text of its body. A `deliveryId` is used once only. */
  insert(tx: Transaction, delivery: DeliveryRecord, body: string): Promise<void>;
  /** Replaces the record of a delivery that exists, except its URL; an `answer` replaces the one kept before. */
  update(tx: Transaction, delivery: DeliveryRecord, answer?: string): Promise<void>;
  /** Replaces the record of a delivery, with its URL; removes its body and the answer. */
  forget(tx: Transaction, delivery: DeliveryRecord): Promise<void>;
  /** Replaces secrets that came with jobs, as {@link Storage.resealSecrets} does. */
  resealSecrets(step: ResealStep): Promise<ResealedStep>;
  get(deliveryId: string, tx?: Transaction): Promise<DeliveryRecord | undefined>;
  list(query: DeliveryQuery): Promise<DeliveryRecord[]>;
  /**
   * Claims deliveries that are due: each gets a greater `token`, and what its sender writes about it later is fenced by
   * that: it compares the token in the transaction. Answers with those that `begin` changed, as they now are.
   *
   * Owners take turns, and of each owner the hosts; of a host, the longest due goes first. A host that may not be called
   * is passed over. It costs the same however many deliveries, hosts and owners are due.
   */
  claimDue(tx: Transaction, request: DueRequest): Promise<DeliveryRecord[]>;
  /** How many are due and not claimed, those that lapsed included. */
  countDue(query: DueQuery): Promise<number>;
  /** Deliveries that are not over, oldest first. */
  listOpen(page?: Page): Promise<DeliveryRecord[]>;
  /** The body exactly as it was inserted. */
  readBody(deliveryId: string): Promise<string | undefined>;
  readAnswer(deliveryId: string): Promise<string | undefined>;
}
