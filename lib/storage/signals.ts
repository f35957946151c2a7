import type { JobRecord } from '../model/job.ts';
import type { RenderProgress } from '../model/render-task.ts';

/** What other processes learn about a job whose status changed. */
export type ChangedJob = Pick<
  JobRecord,
  'jobId' | 'owner' | 'phase' | 'attempts' | 'failedBy' | 'durationMs' | 'completedAtMs'
>;

/** A notification about a change. `from` is the process that sent it. */
export type Signal =
  /** A job waits for a worker. */
  | { kind: 'waiting' }
  /** A webhook delivery is due. */
  | { kind: 'due' }
  /** Claims on the job are invalid: it was canceled. */
  | { kind: 'canceled'; jobId: string }
  /** Settings were changed. */
  | { kind: 'settings' }
  /** Jobs were created or changed their status. */
  | { kind: 'changed'; from: string; jobs: ChangedJob[] }
  /** Subscribes to the progress and previews of these jobs for half a minute. */
  | { kind: 'watched'; from: string; jobIds: string[] }
  /** A watched job advanced. */
  | { kind: 'progress'; from: string; jobId: string; progress: RenderProgress }
  /** The frame that a watched job draws: a small JPEG, in base64. */
  | { kind: 'preview'; from: string; jobId: string; jpeg: string };

/**
 * Notifies the processes of a service of changes, this one included. Best effort: a signal may arrive late, twice or
 * never, so listeners must also poll. Sent after the change is committed. A signal has up to some 100 KB as JSON.
 */
export interface Signals {
  /** Sends a signal without waiting. Never throws. */
  publish(signal: Signal): void;
  /** Subscribes; the returned function unsubscribes. Listeners must not throw. */
  subscribe(listener: (signal: Signal) => void): () => void;
}
