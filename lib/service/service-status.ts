import {
  DISK_FULL,
  NO_MORE_FILES,
  type RendererVersions,
  SERVICE_STOPPING,
  type ServiceProblem,
} from '../model/service-problems.ts';
import type { SandboxStatus } from '../render/trial/sandbox-status.ts';
import { isoTime } from '../time/clock.ts';
import type { ServiceParts } from './service-parts.ts';

/** The lifecycle state of a service. */
export type ServiceState = 'stopped' | 'without workers' | 'starting' | 'running' | 'stopping';

/** The condition of a service in this process. */
export interface ServiceStatus {
  /** True when there are no problems. */
  ready: boolean;
  /** Why it cannot render at present; empty when it can. */
  problems: ServiceProblem[];
  /** What clients notice, although it can render or does not render at all. Safe to show, as {@link problems}. */
  warnings: string[];
  /** How many scenes it can render at the same time. */
  workers: number;
  /** How many of them render nothing. */
  idleWorkers: number;
  /** Workers with a warm renderer process. */
  warmWorkers: number;
  /** How many renderer processes died or failed to start since the service started. */
  rendererDeaths: number;
  /** Number of waiting jobs. */
  queued: number;
  /** Creation time of the oldest queued job (ISO 8601, UTC); null when no job is queued. */
  oldestQueuedAt: string | null;
  /** Number of running jobs. */
  running: number;
  /** Running jobs of all processes of the service. */
  runningEverywhere: number;
  /**
   * When the queue was paused (ISO 8601, UTC); null when it is not paused. A service with a paused queue is ready.
   */
  queuePausedAt: string | null;
  /** The disk is full: no jobs are accepted or started until space is freed; work in progress can finish. */
  diskFull: boolean;
  /** Problems found by the last ledger audit; null before the first audit and without a ledger. */
  bookProblems: number | null;
  /** Null until a worker is warm. */
  renderer: RendererVersions | null;
  /** The isolation of scene code; null until a worker is warm. */
  sandbox: SandboxStatus | null;
}

const NOT_RUNNING: Record<Exclude<ServiceState, 'running'>, string> = {
  stopped: 'The service is not started.',
  'without workers': 'The service runs without workers: jobs stay queued until it is started.',
  starting: 'The service is starting: a renderer is being warmed up, which takes some seconds.',
  stopping: SERVICE_STOPPING.message,
};
const STORAGE_AWAY =
  'The database does not answer: requests are refused until it does; the service then continues by itself. The log has the ' +
  'reason.';
const DATABASE_FULL =
  'The disk of the database is full: no jobs are accepted, and jobs that were rendered wait to be recorded. Free some ' +
  'space there; the service then continues by itself.';
const FOLDER_LOST =
  'The data folder was moved or replaced while the service uses it. Jobs can be read; nothing is accepted or written. Put ' +
  'the folder back: the service then continues by itself. To use another folder, stop the service first.';
const SANDBOX_REFUSED =
  'The sandbox no longer holds, so nothing is rendered. The log says what a scene could do; `scenepress doctor` ' +
  'checks again.';
const RENDERER_BROKEN =
  'A small scene could not be rendered; jobs wait until one succeeds; the service keeps trying. The log has the reason; ' +
  '`scenepress doctor` looks for the cause.';

const WORK_FOLDER_UNUSABLE =
  "The folder for renders in progress, work in the data folder, is not a folder or can't be written to. Jobs " +
  'wait until it can. Let the service write to it, or remove what is there; the service recreates the folder. The log has the cause.';
const STORE_UNUSABLE =
  "The store of artifacts can't be written to: no render starts, accepted jobs wait. Check the rights, the free space and " +
  'the mount of its folder, or the bucket and its credentials. It is tried repeatedly; the service then continues by itself. ' +
  'The log has the cause.';
const STORE_UNREADABLE =
  "The store of artifacts can't be read: videos can't be downloaded. Check the bucket and its credentials, or the mount of " +
  'its folder. It is tried repeatedly; the service then continues by itself. The log has the cause.';
const SHORTAGE =
  'The machine, or what the service may use of it, is short of something that renders need (open files, processes, ' +
  'memory, space for files). Accepted jobs wait and are tried repeatedly. The log says what is missing.';

/** The status of a service with these parts. @internal */
export function statusOf(
  { dispatcher, gate, renderer, upkeep }: Pick<ServiceParts, 'dispatcher' | 'gate' | 'renderer' | 'upkeep'>,
  state: ServiceState,
): ServiceStatus {
  const { workers, warmWorkers, deaths, refused, broken, workFolderUnusable, versions, sandbox } =
    renderer.status;
  const { oldestQueuedMs, queued, running, runningEverywhere, isShortage } = dispatcher;
  const { isDiskFull: diskFull, lacksFiles, isStoreUnusable, isStoreUnreadable } = gate;
  const { pausedAtMs, isStorageAway, isDatabaseFull, isFolderLost, heldBack } = gate;
  const problems = problemsOf({
    state,
    heldBack,
    isStorageAway,
    isDatabaseFull,
    isFolderLost,
    refused,
    broken,
    // It is a part of the data folder, unless one of its own is given.
    workFolderUnusable: workFolderUnusable && !isFolderLost,
    diskFull,
    lacksFiles,
    isStoreUnusable,
    isShortage,
  });
  return {
    ready: problems.length === 0,
    problems,
    warnings: state === 'running' && isStoreUnreadable ? [STORE_UNREADABLE] : [],
    workers,
    idleWorkers: workers - running,
    warmWorkers,
    rendererDeaths: deaths,
    queued,
    oldestQueuedAt: oldestQueuedMs === null ? null : isoTime(oldestQueuedMs),
    running,
    runningEverywhere,
    queuePausedAt: pausedAtMs === null ? null : isoTime(pausedAtMs),
    diskFull,
    bookProblems: upkeep.bookProblems,
    renderer: versions,
    sandbox,
  };
}

/** Lists the reasons why a service cannot render. */
function problemsOf(service: {
  state: ServiceState;
  /** Why it must not work. */
  heldBack: string | undefined;
  /** The last poll of the database failed. */
  isStorageAway: boolean;
  /** Writes to the database fail for lack of space. */
  isDatabaseFull: boolean;
  /** The data folder was moved or replaced. */
  isFolderLost: boolean;
  /** The sandbox failed its check after it had passed before. */
  refused: boolean;
  /** The probe scene does not render. */
  broken: boolean;
  /** The work folder cannot be used. */
  workFolderUnusable: boolean;
  diskFull: boolean;
  /** It is full because it can hold no more files. */
  lacksFiles: boolean;
  /** Artifacts can't be stored. */
  isStoreUnusable: boolean;
  /** The last attempt failed for lack of a system resource. */
  isShortage: boolean;
}): ServiceProblem[] {
  if (service.state !== 'running') return [{ part: 'service', message: NOT_RUNNING[service.state] }];
  return [
    ...(service.heldBack === undefined
      ? []
      : [{ part: 'configuration' as const, message: service.heldBack }]),
    ...(service.isStorageAway ? [{ part: 'storage' as const, message: STORAGE_AWAY }] : []),
    ...(service.isDatabaseFull && !service.isStorageAway
      ? [{ part: 'storage' as const, message: DATABASE_FULL }]
      : []),
    ...(service.isFolderLost ? [{ part: 'storage' as const, message: FOLDER_LOST }] : []),
    ...(service.refused ? [{ part: 'sandbox' as const, message: SANDBOX_REFUSED }] : []),
    ...(service.workFolderUnusable ? [{ part: 'disk' as const, message: WORK_FOLDER_UNUSABLE }] : []),
    ...(service.broken ? [{ part: 'renderer' as const, message: RENDERER_BROKEN }] : []),
    ...(service.diskFull ? [service.lacksFiles ? NO_MORE_FILES : DISK_FULL] : []),
    ...(service.isStoreUnusable ? [{ part: 'artifacts' as const, message: STORE_UNUSABLE }] : []),
    ...(service.isShortage ? [{ part: 'resources' as const, message: SHORTAGE }] : []),
  ];
}
