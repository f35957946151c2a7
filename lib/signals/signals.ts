/** A notification about a change. */
export type Signal =
  /** A job waits for a worker. */
  | { kind: 'waiting' }
  /** A webhook delivery is due. */
  | { kind: 'due' }
  /** Claims on the job are invalid: it was canceled. */
  | { kind: 'canceled'; jobId: string };

/**
 * Notifies the processes of a service of changes, this one included. Best effort: a signal may arrive late, twice or
 * never, so listeners must also poll. Sent after the change is committed.
 */
export interface Signals {
  /** Sends a signal without waiting. Never throws. */
  publish(signal: Signal): void;
  /** Subscribes; the returned function unsubscribes. Listeners must not throw. */
  subscribe(listener: (signal: Signal) => void): () => void;
}
