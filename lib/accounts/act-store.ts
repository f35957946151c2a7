/** A recorded operation: actor, operation, time and address. */
export interface Act {
  /** Sortable by time. */
  actId: string;
  /** Epoch milliseconds. */
  atMs: number;
  /** An account id; null for the command line. */
  actor: string | null;
  /** The operation, such as `keys.revoke`; for several equal acts with their number, such as `keys.revoke ×12`. */
  action: string;
  /** The id of its object. */
  subject: string | null;
  /** The client's address; null without one, and once the actor's account was deleted. */
  address: string | null;
}

/** A query for acts, newest first. */
export interface ActQuery {
  /** Only acts of this account. */
  actor?: string;
  /** At most this many. */
  limit: number;
  /** Only acts older than this one: the last `actId` of the previous page. */
  before?: string;
}

/** The append-only record of acts. Each method is atomic, and durable when its promise resolves. */
export interface ActStore {
  /** An `actId` must not be reused. */
  appendAct(act: Act): Promise<void>;
  /** Newest first. */
  listActs(query: ActQuery): Promise<Act[]>;
  /** Erases the client addresses of an account's acts, which is the only change of an act. */
  forgetAddressesOf(actor: string): Promise<void>;
}
