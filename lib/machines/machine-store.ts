import type { Quality } from '../jobs/job.ts';
import type { Role } from '../render-service-options.ts';

/** What a process of a service reports about itself. */
export interface MachineReport {
  /** Of this process; new at each start. */
  machineId: string;
  /** For people, such as the host name. */
  name: string;
  roles: readonly Role[];
  /** The qualities that it renders; null: all. */
  qualities: readonly Quality[] | null;
  version: string;
  state: 'starting' | 'ready' | 'not ready' | 'draining';
  workers: number;
  busyWorkers: number;
  warmWorkers: number;
}

/** A process of a service, as it last reported. */
export interface Machine extends MachineReport {
  /** Epoch milliseconds, by the clock of the store. */
  startedAtMs: number;
  seenAtMs: number;
  /** Milliseconds since its last report. */
  unseenForMs: number;
  /** When it was asked to finish its renders and exit; null if it was not. */
  drainRequestedAtMs: number | null;
}

/** The processes of a service that share a storage. Each reports every few seconds; all times are those of the store. */
export interface MachineStore {
  /** Adds the machine or replaces its report. Resolves with whether it is to drain. */
  report(report: MachineReport): Promise<{ mustDrain: boolean }>;
  /** All machines, in the order of their starts. */
  list(): Promise<Machine[]>;
  /** Asks a machine to finish its renders and exit; false when there is no such machine. */
  requestDrain(machineId: string): Promise<boolean>;
  /** Removes a machine; false when there is no such machine. */
  remove(machineId: string): Promise<boolean>;
  /** Removes machines that have not reported for at least that time. */
  removeUnseen(unseenForMs: number): Promise<void>;
}
