import type { ClassLinkRecord, ClassSeatRecord } from '../model/class-link.ts';
import type { Transaction } from './transaction.ts';

/** A page of class links, newest first. */
export interface ClassLinkPage {
  owner?: string | undefined;
  /** Only those whose ids are less. */
  before?: string | undefined;
  limit: number;
}

/** Class links with their seats. */
export interface ClassLinkStore {
  insert(tx: Transaction, link: ClassLinkRecord): Promise<void>;
  /** Ends one that exists. */
  revoke(tx: Transaction, link: ClassLinkRecord): Promise<void>;
  /** Removes one with its seats, and makes all copies of its texts unreadable. */
  delete(tx: Transaction, classLinkId: string): Promise<void>;
  /** With `tx`, no other transaction can change it or its seats until this one ends. */
  get(classLinkId: string, tx?: Transaction): Promise<ClassLinkRecord | undefined>;
  /** The class link whose token has this hash. */
  withToken(tokenHash: string): Promise<ClassLinkRecord | undefined>;
  list(page: ClassLinkPage): Promise<ClassLinkRecord[]>;

  /** Adds a seat, or replaces that of the same account. Its class link is locked. */
  putSeat(tx: Transaction, seat: ClassSeatRecord): Promise<void>;
  /** Frees a seat. Its class link is locked. */
  dropSeat(tx: Transaction, seat: Pick<ClassSeatRecord, 'classLinkId' | 'accountId'>): Promise<void>;
  /** All seats that are taken, in the order in which they were. */
  seats(classLinkId: string, tx?: Transaction): Promise<ClassSeatRecord[]>;
  countSeats(classLinkId: string, tx?: Transaction): Promise<number>;
}
