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
  /** The hosts whose pace has changed since this was asked last. */
  changed(): Iterable<{ owner: string; host: string }>;
  /** False when no more of the owner's attempts to hosts of this pace may begin now, whatever the host. */
  mayCall(owner: string, pace: HostPace): boolean;
  /** Takes a place for an attempt at this delivery; false when there is none. */
  enter(delivery: Pick<DeliveryRecord, 'deliveryId' | 'owner' | 'host'>): boolean;
}

/** Which deliveries are to be sent. */
export interface DueQuery {
  dueByMs: number;
  limit: number;
  /**
   * Only deliveries that got a place here, which each of them takes as it is found: owners in turns, and of each owner
   * the hosts in turns. Default: whatever is due, in no order that means something.
   */
  lanes?: DueLanes;
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
   * Deliveries whose time has come, the longest due of each host first. With `lanes` it takes no longer when more are
   * due. What was taken and is not begun (by an `update`) is due still.
   */
  due(query: DueQuery): Promise<DeliveryRecord[]>;
  /** The body exactly as it was inserted. */
  readBody(deliveryId: string): Promise<string | undefined>;
  readAnswer(deliveryId: string): Promise<string | undefined>;
}
