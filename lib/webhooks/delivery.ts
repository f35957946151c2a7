/**
 * The sending of one job's outcome, and its life.
 *
 * ```
 *                 its time has come            2xx
 *      waiting ─────────────────────▶ sending ─────▶ delivered
 *         ▲                             │ │ │
 *         │   anything else, or killed, │ │ │ the same, at the last attempt
 *         └───────── attempts left ─────┘ │ └──────▶ failed
 *         ▲                               │
 *         └── stopped, nothing was sent ──┘
 * ```
 *
 * | from | to | by | also |
 * |---|---|---|---|
 * | - | waiting | a job that has a webhook became terminal | in the same commit; due at once |
 * | - | waiting | somebody asked to send it again | a record of its own, with one attempt |
 * | waiting | sending | the sender has room for its host | the attempt is written down before it is made |
 * | sending | delivered | 2xx, complete within 10 s | |
 * | sending | waiting | any other end | due 30 s, 5 min, 30 min after the attempt's end |
 * | sending | failed | any other end of the last attempt | |
 * | sending | waiting | the service stopped before a byte of the request left | the attempt doesn't count |
 *
 * An attempt whose sending thread dies or hangs ends then, `interrupted`. A process that is killed, or cut off from the
 * store, leaves an attempt without an end. When its claim lapses it counts as one that took all its time and got no
 * answer, `interrupted`: the receiver may have seen it, and there are never more than four. What that process writes
 * after all changes nothing.
 */
export type DeliveryStatus = 'waiting' | 'sending' | 'delivered' | 'failed';

/** Why an exchange didn't come to its end. */
export type FailureReason =
  /** The name has no address, or can't be looked up. */
  | 'dns'
  /** An address of it lies in a network that may not be called. */
  | 'blocked'
  | 'refused'
  | 'unreachable'
  /** No handshake, or a certificate that isn't trusted or is another's. */
  | 'tls'
  /** Not done within 10 s. */
  | 'timeout'
  /** The connection was broken off. */
  | 'reset'
  /** What came back is no HTTP, or has headers without end or too many interim answers (1xx). */
  | 'protocol'
  /** Too much came back before the answer's headers were complete. */
  | 'too_large'
  /** There is no secret to sign with. */
  | 'secret'
  /** The service was stopped meanwhile. */
  | 'stopped'
  /** The service was killed meanwhile, or the thread that sends ended. */
  | 'interrupted';

/** One HTTP request. */
export interface DeliveryAttempt {
  startedAtMs: number;
  /** Null while it is being made. */
  endedAtMs: number | null;
  /** The HTTP code, whenever a status line arrived; else 0. */
  status: number;
  reason: FailureReason | null;
  /** The reason in words, for the operator only: it may tell of the network that the service stands in. */
  detail: string | null;
}

/** A delivery as it is stored. Times are epoch milliseconds (UTC). Body and answer are stored apart. */
export interface DeliveryRecord {
  /** Sorts by time. */
  deliveryId: string;
  jobId: string;
  owner: string;
  /** The key whose secret signs it, as it is at each attempt. */
  keyId: string | null;
  /** A secret of the job's own, encrypted with the master key; wins over the key's. */
  secretSealed?: string;
  event: 'completed' | 'failed';
  url: string;
  /** Host and port: deliveries to the same one wait for each other, others don't. */
  host: string;
  createdAtMs: number;
  /** The delivery that this one repeats, because somebody asked; null for the automatic one. */
  repeats: string | null;
  mostAttempts: number;
  /** Grows with each claim: a sender that holds an earlier one can't change the delivery any more. */
  token: number;
  attempts: DeliveryAttempt[];
  /**
   * When the next attempt is due; while one is being made, when the claim of its sender lapses: another is due then, if
   * this one never ended. Null when it is delivered or failed.
   */
  dueAtMs: number | null;
  deliveredAtMs: number | null;
}

/** A delivery as the library shows it. */
export interface Delivery {
  deliveryId: string;
  jobId: string;
  owner: string;
  event: 'completed' | 'failed';
  url: string;
  status: DeliveryStatus;
  /** The HTTP code of the last attempt that ended, or 0 without one; null before the first has. */
  lastStatus: number | null;
  attempts: {
    /** ISO 8601, UTC. */
    startedAt: string;
    endedAt: string | null;
    status: number;
    reason: FailureReason | null;
    /** For the operator only. */
    detail: string | null;
  }[];
  /** Null while an attempt is made, and when there is none to come. */
  nextAttemptAt: string | null;
  repeats: string | null;
  createdAt: string;
}

/** With what is kept apart. */
export interface DeliveryDetails extends Delivery {
  /** What is sent. */
  body: string;
  /** The first 1 KB of the last answer; null when none came. */
  answer: string | null;
}
