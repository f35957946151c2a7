import type { ZygoteReady } from '../../model/zygote-messages.ts';
import type { Clock } from '../../time/clock.ts';
import type { Processes } from '../start/processes.ts';
import type { SandboxStatus } from '../trial/sandbox-status.ts';
import type { SharedSettings } from './shared-settings.ts';

export interface WorkerSettings extends SharedSettings {
  /** The worker number, which determines its folder and user id. */
  index: number;
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
}
