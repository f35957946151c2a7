import type { SharedSettings } from '../run/shared-settings.ts';
import type { SandboxStatus } from '../trial/sandbox-status.ts';

/** The worker data of a thread. */
export interface WorkerData extends SharedSettings {
  /** The channel over which the pool stops all threads. */
  shutdownChannel: string;
}

/** Thread to pool, outside of tasks. */
export type WorkerMessage =
  | ({ type: 'ready'; manim: string; python: string; sandbox: SandboxStatus } & WarmZygotes)
  | ({ type: 'unready' | 'refused'; message: string } & WarmZygotes)
  | { type: 'log'; line: string }
  | { type: 'stopped' };

export interface WarmZygotes {
  /** The sending thread, and its number of warm zygotes. */
  thread: number;
  warm: number;
}
