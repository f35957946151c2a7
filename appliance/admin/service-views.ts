import type { Quality, Role, ServiceStatus } from '../../lib/index.ts';
import type { AuditReport, BackupsInfo, DataStatistics } from '../../lib/internal.ts';
import type { PostgresRights } from '../../lib/postgres/index.ts';
import type { Readiness } from '../http/health.ts';
import type { Fault } from '../support/faults.ts';

/** Data of a data folder for the doctor. */
export interface Examination {
  status: ServiceStatus;
  /** Null where renders cost nothing. */
  audit: AuditReport | null;
  data: DataStatistics;
  /** Null if no backups are scheduled. */
  backups: BackupsInfo | null;
  /** Why a file can't be put into the store of artifacts; null if it can. */
  storeFailure: string | null;
  /** Of the user of the database; null for a data folder. */
  rights: PostgresRights | null;
  /** User ids of accounts whose deletion is in progress or was interrupted. */
  halfDeletedAccounts: string[];
  /** Whether a rotation of the master key is in progress or was interrupted. */
  isRotating: boolean;
  /** How far the clock of this machine is ahead of that of the database; null without one. */
  clockAheadMs: number | null;
  /** Creation time of the newest job in epoch milliseconds; null without jobs. */
  newestMs: number | null;
}

/** Numbers of stored items, and the state of the service. */
export interface Counts {
  accounts: number;
  disabledAccounts: number;
  keys: number;
  revokedKeys: number;
  data: DataStatistics;
  service: ServiceStatus;
}

/** How long artifacts are kept; null: without a limit. */
export interface RetentionInfo {
  days: number | null;
  gibibytes: number | null;
}

/** Disk space of the data, in bytes. */
export interface DiskInfo {
  /** Jobs, deliveries and the ledger, with commits that are not yet in the main file. */
  databaseBytes: number;
  /** Accounts, keys and settings. */
  documentBytes: number;
  /** Videos, thumbnails and captions; null until they have been added up. */
  artifactBytes: number | null;
  freeBytes: number;
  totalBytes: number;
  retention: RetentionInfo;
}

/** A process of an installation with a database. */
export interface MachineInfo {
  machineId: string;
  name: string;
  roles: Role[];
  /** The qualities that it renders; null: all. */
  qualities: Quality[] | null;
  version: string;
  /** `dead`: it has not reported for half a minute. */
  state: 'starting' | 'ready' | 'not ready' | 'draining' | 'dead';
  workers: number;
  busyWorkers: number;
  warmWorkers: number;
  startedAt: string;
  /** When it last reported. */
  seenAt: string;
  /** How far its clock is ahead of that of the database; null if not known. */
  clockAheadMs: number | null;
  /** What decides about money and links, by the names of the options. */
  settings: Record<string, string>;
  /** The limits that it applies, by the names of the options. */
  limits: Record<string, string>;
  /** Where it differs from most machines that are alive. */
  differences: MachineDifference[];
}

/** A setting, a limit or the version of a machine that most others have otherwise. */
export interface MachineDifference {
  name: string;
  value: string;
  others: string;
}

/** The service as its operator sees it. */
export interface ServiceInfo {
  version: string;
  /** As reported by `/health/ready`. */
  health: Readiness;
  status: ServiceStatus;
  disk: DiskInfo;
  /** Null if no backups are scheduled. */
  backups: BackupsInfo | null;
  /** The latest warnings and errors of the running server, newest first. */
  faults: Fault[];
  /** All processes; null without a database. */
  machines: MachineInfo[] | null;
}

/** State of the queue. */
export interface QueueInfo {
  /** Time since which no renders start; null if the queue isn't paused. */
  pausedAt: string | null;
  queued: number;
  running: number;
  /** Number of scenes that can be rendered concurrently, on all machines; 0 without a server. */
  workers: number;
  /** Whether renders can start now. */
  ready: boolean;
  /** Maximum duration of a render. */
  renderTimeoutSeconds: number;
  /** Sentences that say why jobs are not rendered; empty while no machine runs, and without a database. */
  warnings: string[];
}
