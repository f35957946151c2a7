import type { Quality } from '../model/qualities.ts';
import type { Role } from '../model/roles.ts';

/** A process that has not reported for so long, after six missed reports, has ended. */
export const MACHINE_DEAD_AFTER_MS = 30_000;

/** What a process of a service reports about itself. */
export interface MachineReport {
  /** Of this process; new at each start. */
  machineId: string;
  /** For people, such as the host name. */
  name: string;
  /** What its process does. */
  roles: readonly Role[];
  /** The qualities that it renders; null: all. */
  qualities: readonly Quality[] | null;
  /** Of Scenepress. */
  version: string;
  /** Whether it does its work. */
  state: 'starting' | 'ready' | 'not ready' | 'draining';
  /** How many scenes it can render at the same time. */
  workers: number;
  /** How many of them render. */
  busyWorkers: number;
  /** How many of them have loaded Manim. */
  warmWorkers: number;
  /**
   * Settings that must be the same on all machines, such as prices, by their names. Machines are compared by those that
   * both have.
   */
  settings: Readonly<Record<string, string>>;
  /** Settings that may differ, for people to compare. */
  limits: Readonly<Record<string, string>>;
}

/** A process of a service, as it last reported. */
export interface Machine extends MachineReport {
  /** Epoch milliseconds, by the clock of the store. */
  startedAtMs: number;
  /** Epoch milliseconds of its last report. */
  seenAtMs: number;
  /** Milliseconds since its last report. */
  unseenForMs: number;
  /** How far its clock is ahead of that of the store, in milliseconds; null if it has not told. */
  clockAheadMs: number | null;
  /** When it was asked to finish its renders and exit; null if it was not. */
  drainRequestedAtMs: number | null;
}

/** A setting that differs from that of machines that work. */
export interface Disagreement {
  /** Of the setting. */
  name: string;
  /** The value of the machine that was compared. */
  own: string;
  /** The value of the others. */
  others: string;
  /** Their names. */
  machines: string[];
}

/** What a machine learns when it reports. */
export interface MachineOrders {
  /** Whether it is to finish its renders and exit. */
  mustDrain: boolean;
  /** How far its clock is ahead of that of the store, in milliseconds. */
  clockAheadMs: number;
  /** Why it must not work; empty: it may. */
  disagreements: Disagreement[];
}

/** The processes of a service that share a storage. Each reports every few seconds; all times are those of the store. */
export interface MachineStore {
  /**
   * Adds the machine or replaces its report. A machine may work unless one that does, and is alive, has other settings: the
   * first one decides, and another value is accepted when no machine with the former one is left.
   */
  report(report: MachineReport): Promise<MachineOrders>;
  /** All machines, in the order of their starts. */
  list(): Promise<Machine[]>;
  /** Asks a machine to finish its renders and exit; false when there is no such machine. */
  requestDrain(machineId: string): Promise<boolean>;
  /** Removes a machine; false when there is no such machine. */
  remove(machineId: string): Promise<boolean>;
  /** Removes machines that have not reported for at least that time. */
  removeUnseen(unseenForMs: number): Promise<void>;
}
