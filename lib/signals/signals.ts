/** Something that others may want to act on at once. */
export type Signal =
  /** A job waits for a worker. */
  | { kind: 'waiting' }
  /** Something is to be sent to a webhook. */
  | { kind: 'due' }
  /** A claim on the job is worthless: it was canceled. */
  | { kind: 'worthless'; jobId: string };

/**
 * Tells the processes of a service what changed, this one too. Best effort: a signal may come late, twice or never, so
 * whoever listens also looks from time to time. What is told is committed already.
 */
export interface Signals {
  /** Doesn't throw, and isn't waited for. */
  tell(signal: Signal): void;
  /** The answer ends it. A listener doesn't throw. */
  listen(listener: (signal: Signal) => void): () => void;
}
