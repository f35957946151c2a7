import type { ThreadCounters } from '../pool/thread-counters.ts';
import type { SandboxStatus } from '../sandbox/sandbox.ts';
import type { Launcher } from '../start/launcher.ts';
import type { RenderLimits } from './limits.ts';
import type { ZygoteReady } from './protocol.ts';

export interface WorkerSettings {
  /** Tells this worker's folder and user id from the others'. */
  index: number;
  /** How many there are. */
  workers: number;
  /** What it shares with the others. */
  threads: ThreadCounters;
  launcher: Launcher;
  limits: RenderLimits;
  /** Below it, each worker has a folder of its own. */
  workFolder: string;
}

export interface WorkerEvents {
  /** A zygote is warm: this worker can render. */
  onReady: (ready: ZygoteReady, sandbox: SandboxStatus) => void;
  /** A zygote died or could not be started. */
  onUnready: (message: string) => void;
  /** Nothing is rendered, because a scene would not stay in the sandbox. */
  onRefused: (message: string) => void;
  onLog: (line: string) => void;
}
