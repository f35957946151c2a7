import type { RendererVersions } from './render/pool/render-pool.ts';
import type { SandboxStatus } from './render/sandbox/sandbox.ts';

/** Where a service is in its life. */
export type ServiceState = 'stopped' | 'open' | 'starting' | 'running' | 'stopping';

/** Why renders can't be made now. */
export interface ServiceProblem {
  part: 'service' | 'sandbox' | 'renderer' | 'disk' | 'resources';
  /** What is wrong and what to do, in words that may be shown to anyone: the log has the cause. */
  message: string;
}

export interface ServiceStatus {
  /** Renders can be made now: there are no problems. */
  ready: boolean;
  problems: ServiceProblem[];
  workers: number;
  idleWorkers: number;
  /** Workers that have a warm renderer process. */
  warmWorkers: number;
  /** How often a renderer process died or could not be started since the service started. */
  rendererDeaths: number;
  queued: number;
  /** When the job that has waited longest was made (ISO 8601, UTC); null when none waits. */
  oldestQueuedAt: string | null;
  running: number;
  /** Since when no more renders are begun, ISO 8601; null when they are. A service whose queue is paused is ready. */
  queuePausedAt: string | null;
  /** The disk has room only for ending what has begun: no jobs are taken on, none is begun, until there is more. */
  diskFull: boolean;
  /** How many things the last audit of the books found; null before the first, and where there are no books. */
  bookProblems: number | null;
  renderer: RendererVersions | null;
  /** What keeps scene code in; null until a worker is warm. */
  sandbox: SandboxStatus | null;
}

const NOT_RUNNING: Record<Exclude<ServiceState, 'running'>, string> = {
  stopped: 'The service is not started.',
  open: 'The service is open without workers: jobs wait until it is started.',
  starting: 'The service is starting: a renderer is being warmed up, which takes some seconds.',
  stopping: 'The service is stopping and takes no more jobs.',
};
const SANDBOX_REFUSED =
  'The sandbox no longer holds, so nothing is rendered. The log says what got through; `scenepress doctor` looks again.';
const RENDERER_BROKEN =
  'A small scene could not be rendered; jobs wait until it is, which is tried again and again. The log has the reason; ' +
  '`scenepress doctor` looks for it.';

const PLACELESS =
  'Renders in progress have no place: their folder, work in the data folder, is no folder or can’t be written to. Jobs ' +
  'wait until it can. Let the service write to it, or remove what is there: it is then made again. The log has the cause.';
const DISK_FULL =
  'The disk is full: no jobs are taken on and none is begun. Free some space; the service then goes on by itself.';

const SHORTAGE =
  'The machine, or what the service may use of it, is short of something that renders need (open files, processes, ' +
  'memory, the store of artifacts). Accepted jobs wait, and are tried again and again. The log says what is missing.';

/** What keeps a service from rendering. */
export function problemsOf(service: {
  state: ServiceState;
  /** A sandbox that held before doesn't any more. */
  refused: boolean;
  /** A scene that must render doesn't. */
  broken: boolean;
  /** The folder for renders in progress can't be used. */
  placeless: boolean;
  diskFull: boolean;
  /** The last attempt could not be made for lack of a resource. */
  isShortage: boolean;
}): ServiceProblem[] {
  if (service.state !== 'running') return [{ part: 'service', message: NOT_RUNNING[service.state] }];
  return [
    ...(service.refused ? [{ part: 'sandbox' as const, message: SANDBOX_REFUSED }] : []),
    ...(service.placeless ? [{ part: 'disk' as const, message: PLACELESS }] : []),
    ...(service.broken ? [{ part: 'renderer' as const, message: RENDERER_BROKEN }] : []),
    ...(service.diskFull ? [{ part: 'disk' as const, message: DISK_FULL }] : []),
    ...(service.isShortage ? [{ part: 'resources' as const, message: SHORTAGE }] : []),
  ];
}
