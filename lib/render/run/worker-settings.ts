import type { Clock } from '../../clock.ts';
import type { ThreadCounters } from '../pool/thread-counters.ts';
import type { SandboxStatus } from '../sandbox/sandbox-status.ts';
import type { Launcher } from '../start/launcher.ts';
import type { Processes } from '../start/processes.ts';
import type { TexLease } from '../tex/tex-cache.ts';
import type { RenderLimits } from './limits.ts';
import type { ZygoteReady } from './messages.ts';

export interface WorkerSettings {
  /** The worker number, which determines its folder and user id. */
  index: number;
  /** The number of workers. */
  workers: number;
  /** Counters shared by all threads. */
  threads: ThreadCounters;
  launcher: Launcher;
  limits: RenderLimits;
  /** The parent of the workers' folders. */
  workFolder: string;
  clock: Clock;
  processes: Processes;
}

export interface WorkerEvents {
  /** A zygote is warm: this worker can render. */
  onReady: (ready: ZygoteReady, sandbox: SandboxStatus) => void;
  /** A zygote died or could not be started. */
  onUnready: (message: string) => void;
  /** The sandbox failed its check; nothing is rendered. */
  onRefused: (message: string) => void;
  onLog: (line: string) => void;
  /** A new pack of formulas was written. */
  onTexPack: (lease: TexLease, newPath: string) => void;
}
