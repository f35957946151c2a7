import type { TraceContext } from '../model/trace-context.ts';

/**
 * The lifecycle of a webhook delivery.
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
 * | - | waiting | a job with a webhook became terminal | in the same commit; due immediately |
 * | - | waiting | a redelivery was requested | a new record, with one attempt |
 * | waiting | sending | the sender has capacity for its host | the attempt is recorded before it is made |
 * | sending | delivered | 2xx, complete within 10 s | |
 * | sending | waiting | any other end | due 30 s, 5 min, 30 min after the attempt's end (`RETRY_DELAYS_MS`, delivery-book.ts) |
 * | sending | failed | any other end of the last attempt | |
 * | waiting | waiting | it was to be sent now | due immediately |
 * | waiting | failed | it was given up | no further attempt |
 * | sending | waiting | the service stopped before a byte of the request left | the attempt doesn't count |
 *
 * An attempt whose sending thread dies or hangs ends as `interrupted`. A process that is killed, or loses its
 * connection to the store, leaves an attempt without an end. When its claim expires, the attempt counts as
 * `interrupted` after the full time-out: the receiver may have seen it, and there are never more than four attempts.
 * Later writes of that process have no effect.
 */
export type DeliveryStatus = 'waiting' | 'sending' | 'delivered' | 'failed';

/** Why an exchange failed. */
export type FailureReason =
  /** The host name has no address, or the lookup failed. */
  | 'dns'
  /** An address of the host is in a network that is not allowed. */
  | 'blocked'
  | 'refused'
  | 'unreachable'
  /** The TLS handshake failed, or the certificate is not trusted or is for another name. */
  | 'tls'
  /** Not complete within 10 s. */
  | 'timeout'
  /** The connection was closed early. */
  | 'reset'
  /** The response is not HTTP, or has oversized headers or too many interim responses (1xx). */
  | 'protocol'
  /** Too many bytes before the response headers were complete. */
  | 'too_large'
  /** There is no signing secret. */
  | 'secret'
  /** The service was stopped during the exchange. */
  | 'stopped'
  /** The service was killed during the exchange, or the sending thread ended. */
  | 'interrupted';

/** One HTTP request. */
export interface DeliveryAttempt {
  /** Epoch milliseconds. */
  startedAtMs: number;
  /** Null while it is running. */
  endedAtMs: number | null;
  /** The HTTP code, whenever a status line arrived; else 0. */
  status: number;
  /** Why it failed; null when it succeeded or is running. */
  reason: FailureReason | null;
  /** A description for the operator only: it may reveal details of the internal network. */
  detail: string | null;
}

/** The request and response of one attempt; stored beside the delivery, because few queries need it. */
export interface Exchange {
  /** Its place among the delivery's attempts, from 0. */
  attempt: number;
  /** The header `svc-signature`; null when nothing was sent. */
  signature: string | null;
  /** The first 1 KB of the response body; null without a response. */
  answer: string | null;
}

/** A stored delivery. Times are epoch milliseconds (UTC). Body and exchanges are stored separately. */
export interface DeliveryRecord {
  /** Sorts by time. */
  deliveryId: string;
  /** The job whose outcome it sends. */
  jobId: string;
  /** The owner of the job. */
  owner: string;
  /** The API key whose current secret signs each attempt. */
  keyId: string | null;
  /** The job's own secret, encrypted with the master key; overrides the key's. */
  secretSealed?: string;
  /** The outcome of the job. */
  event: 'completed' | 'failed';
  /** Where it is sent. */
  url: string;
  /** Host and port. Concurrency is limited per host. */
  host: string;
  /** Epoch milliseconds. */
  createdAtMs: number;
  /** The delivery that this redelivery repeats; null for the automatic one. */
  repeats: string | null;
  /** After this many failed attempts it is given up. */
  mostAttempts: number;
  /** A fencing token that grows with each claim: holders of earlier claims can no longer change the delivery. */
  token: number;
  /** What was tried so far, oldest first. */
  attempts: DeliveryAttempt[];
  /**
   * When the next attempt is due; during an attempt, when the claim expires and another attempt becomes due. Null
   * when delivered or failed.
   */
  dueAtMs: number | null;
  /** Epoch milliseconds; null until a receiver accepted it. */
  deliveredAtMs: number | null;
  /** The trace of its job; null without one. */
  traceContext: TraceContext | null;
}

/** The public view of a delivery. */
export interface Delivery {
  /** Identifies it; sorts by its time. */
  deliveryId: string;
  /** The job whose outcome it sends. */
  jobId: string;
  /** The owner of the job. */
  owner: string;
  /** The API key whose secret signs it; null without API keys. */
  keyId: string | null;
  /** The outcome of the job. */
  event: 'completed' | 'failed';
  /** Where it is sent. */
  url: string;
  /** Whether it is due, delivered or given up. */
  status: DeliveryStatus;
  /** The HTTP status code of the last ended attempt, or 0 when it had none; null before the first. */
  lastStatus: number | null;
  /** What was tried so far, oldest first. */
  attempts: {
    /** ISO 8601, UTC. */
    startedAt: string;
    endedAt: string | null;
    status: number;
    reason: FailureReason | null;
    /** For the operator only. */
    detail: string | null;
  }[];
  /** Null during an attempt, and when no more will follow. */
  nextAttemptAt: string | null;
  /** The delivery that it sends again; null: none. */
  repeats: string | null;
  /** ISO 8601, UTC. */
  createdAt: string;
}

/** A delivery with its body, and what was sent and received in each attempt. */
export interface DeliveryDetails extends Delivery {
  /** The request body. */
  body: string;
  attempts: (Delivery['attempts'][number] & {
    /** The request header `svc-signature`; null when nothing was sent. */
    signature: string | null;
    /** The first 1 KB of the response body; null without a response. */
    answer: string | null;
  })[];
}
