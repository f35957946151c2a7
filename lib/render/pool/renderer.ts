import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { isScenepressError, ScenepressError } from '../../base/errors.ts';
import type { Logger } from '../../base/logger.ts';
import type { Random } from '../../base/random.ts';
import type { FolderLock } from '../../files/folder-lock.ts';
import type { FolderPlace } from '../../files/folder-place.ts';
import type { SpareSpace } from '../../files/spare-space.ts';
import type { RenderLimits } from '../../model/limits.ts';
import type {
  CheckResult,
  CheckTask,
  ListResult,
  ListTask,
  RenderTask,
  SceneSource,
} from '../../model/render-task.ts';
import type { RendererVersions } from '../../model/service-problems.ts';
import type { Speaker } from '../../speech/speaker.ts';
import type { Clock } from '../../time/clock.ts';
import { WorkFolderWatch } from '../end/work-folder-watch.ts';
import { type ReadSource, type ReadTask, SceneReader } from '../reading/scene-reader.ts';
import { type CgroupHome, closeCgroups } from '../sandbox/cgroup.ts';
import { findLauncher, type Launcher, type RendererOptions } from '../start/launcher.ts';
import { outliveTheRenderer } from '../start/memory-priority.ts';
import { systemProcesses } from '../start/processes.ts';
import type { SceneFolder } from '../start/scene-folder.ts';
import { makeStudioParts, type StudioFolder } from '../start/studio.ts';
import { ownScene } from '../trial/own-scenes.ts';
import type { SandboxStatus } from '../trial/sandbox-status.ts';
import { type PooledRender, type RenderEvents, RenderPool } from './render-pool.ts';
import { RendererWatch } from './renderer-watch.ts';
import type { StartThreads } from './threads.ts';

const PROBE_AFTER_MS = 10 * 60_000;
const NO_READER = 'Checks without a dry run are switched off here.';

/** The status of a renderer. */
export interface RendererStatus {
  workers: number;
  /** Workers with a warm process. */
  warmWorkers: number;
  /** How many processes died or failed to start. */
  deaths: number;
  /** The sandbox failed its check after it had passed before. */
  refused: boolean;
  /** The probe scene does not render. */
  broken: boolean;
  /** The work folder cannot be used. */
  workFolderUnusable: boolean;
  versions: RendererVersions | null;
  sandbox: SandboxStatus | null;
}

interface Options {
  renderer: RendererOptions;
  studio: StudioFolder | undefined;
  /** The folder of the author's own file; never for a service, whose scenes come from others. */
  scene?: SceneFolder;
  workers: number;
  limits: RenderLimits;
  /** Absolute. Only a renderer that does not start needs none. */
  workFolder: string | undefined;
  /** Locks the work folder, which another process may use by mistake. */
  lock?: FolderLock | undefined;
  /** Milliseconds without a finished video before a probe; 0: no such probes. Default 10 minutes. */
  probeAfterMs: number | undefined;
  clock: Clock;
  random: Random;
  logger: Logger;
  spareSpace: SpareSpace | undefined;
  /** The place of the data folder, if it contains the work folder. */
  dataPlace?: FolderPlace | undefined;
  /** Says the texts of scenes that have no file with them. */
  speaker?: Speaker | undefined;
  /** Replaces the Python side, for simulations. */
  simulated?: { launcher: Launcher; startThreads: StartThreads } | undefined;
}

/**
 * The renderer of a service: its workers and their monitoring. Emits `ready` when a worker became warm or the
 * renderer works again.
 */
export class Renderer extends EventEmitter<{ ready: [] }> {
  readonly #options: Options;
  #pool: RenderPool | undefined;
  #watch: RendererWatch | undefined;
  #placeWatch: WorkFolderWatch | undefined;
  #cgroups: CgroupHome | undefined;
  #reader: SceneReader | undefined;

  constructor(options: Options) {
    super();
    this.#options = options;
  }

  /**
   * Locates the renderer, starts and monitors the workers; resolves when one is warm. `allowTraversal` lets the workers'
   * own users traverse to the work folder. `signal` aborts the start, which rejects with its reason. Errors:
   * `renderer_unavailable`; `storage_locked` when another process has the work folder.
   */
  async start({
    allowTraversal,
    signal,
  }: {
    allowTraversal: () => Promise<void>;
    signal: AbortSignal;
  }): Promise<void> {
    const { renderer, studio, scene, workers, limits, workFolder, lock, clock, random, logger, dataPlace } =
      this.#options;
    const { simulated } = this.#options;
    assert(workFolder !== undefined, 'a renderer that starts has a work folder');
    if (studio) openStudio(studio);
    signal.throwIfAborted();
    outliveTheRenderer();
    const launcher = simulated?.launcher ?? (await findLauncher(renderer, studio, [workFolder], scene));
    this.#cgroups = launcher.cgroups;
    signal.throwIfAborted();
    if (launcher.isolation === 'none' && launcher.firstUid !== undefined) await allowTraversal();
    const pool = new RenderPool({
      size: workers,
      launcher,
      limits,
      workFolder,
      dataFolder: dataPlace?.known,
      clock,
      random,
      logger,
      speaker: this.#options.speaker,
      startThreads: simulated?.startThreads,
    });
    if (lock) await lockFolder(workFolder, lock, logger);
    // Its stop removes the work folder.
    this.#pool = pool;
    await pool.start(signal);
    const emitReady = () => void this.emit('ready');
    pool.on('warm', emitReady);
    this.#logSandbox(pool);
    if (!simulated && renderer.reader !== false)
      this.#reader = new SceneReader({
        index: workers,
        ...{ launcher, limits, workFolder, clock, logger },
        processes: systemProcesses,
        dataFolder: dataPlace?.known,
      });
    const { probeAfterMs = PROBE_AFTER_MS, spareSpace } = this.#options;
    const place = new WorkFolderWatch({
      check: async (how) => {
        dataPlace?.assert();
        return pool.checkWorkFolder(how);
      },
      clock,
      logger,
    });
    const watch = new RendererWatch({
      pool,
      probe: ownScene(launcher, 'probe.py'),
      clock,
      logger,
      idleMs: probeAfterMs || Number.POSITIVE_INFINITY,
      spareSpace,
      place,
    });
    watch.on('recovered', emitReady);
    place.on('change', () => {
      watch.requestProbe();
      emitReady();
    });
    this.#watch = watch;
    this.#placeWatch = place;
    watch.start();
    place.start();
  }

  /** Stops monitoring; running renders continue. */
  async stopWatch(): Promise<void> {
    await Promise.all([this.#watch?.stop(), this.#placeWatch?.stop()]);
  }

  /** Stops everything; resolves when no process is left. */
  async stop(): Promise<void> {
    await this.stopWatch();
    this.#watch = undefined;
    this.#placeWatch = undefined;
    await Promise.all([this.#reader?.stop(), this.#pool?.stop()]);
    this.#reader = undefined;
    this.#pool = undefined;
    this.#options.lock?.release();
    if (this.#cgroups) await closeCgroups(this.#cgroups, this.#options.clock);
    this.#cgroups = undefined;
  }

  /** The number of concurrent renders. */
  get size(): number {
    return this.#options.workers;
  }

  /** As {@link RenderPool.render}. Error: `not_running` without workers. */
  render(task: Omit<RenderTask, 'port'>, events: RenderEvents): PooledRender {
    return this.#started.render(task, events);
  }

  /** False while renders would fail because of a known problem. */
  get mayRender(): boolean {
    return !this.#pool?.refusal && !this.#watch?.problem && !this.#placeWatch?.problem;
  }

  get status(): RendererStatus {
    const pool = this.#pool;
    return {
      workers: pool?.size ?? 0,
      warmWorkers: pool?.warmWorkers ?? 0,
      deaths: pool?.rendererDeaths ?? 0,
      refused: Boolean(pool?.refusal),
      broken: Boolean(this.#watch?.problem),
      workFolderUnusable: Boolean(this.#placeWatch?.problem),
      versions: pool?.versions ?? null,
      sandbox: pool?.sandbox ?? null,
    };
  }

  /** The scenes of a source; see {@link RenderPool.listScenes}. Error: `not_running` without workers. */
  async listScenes(code: SceneSource, how?: Omit<ListTask, 'listScenesOf'>): Promise<ListResult> {
    return this.#started.listScenes(code, how);
  }

  /** Runs a scene without drawing it; see {@link RenderPool.check}. Error: `not_running` without workers. */
  async check(task: CheckTask): Promise<CheckResult> {
    return this.#started.check(task);
  }

  /**
   * What is wrong with a source, without running it; see {@link SceneReader.read}. Errors: `not_running` without workers,
   * `renderer_unavailable` without a reader.
   */
  async read(task: ReadTask, signal?: AbortSignal): Promise<ReadSource | undefined> {
    if (this.#started && this.#reader) return this.#reader.read(task, signal);
    throw new ScenepressError('renderer_unavailable', NO_READER);
  }

  get #started(): RenderPool {
    if (this.#pool) return this.#pool;
    throw new ScenepressError('not_running', 'The service has no workers. Start it.');
  }

  #logSandbox({ sandbox }: RenderPool): void {
    const { logger } = this.#options;
    if (sandbox?.level === 'full') logger.info({ sandbox }, 'Scenes are rendered in the full sandbox.');
    else if (sandbox?.level === 'watched')
      logger.info({ sandbox }, 'Scenes are rendered in the full sandbox, but some limits are only watched.');
    else if (sandbox?.level === 'reduced')
      logger.warn({ sandbox }, 'Scenes are rendered in a reduced sandbox.');
    else logger.warn({ sandbox }, 'Scenes are rendered without a sandbox: their code must be trusted.');
  }
}

/** Error: `storage_locked`. */
async function lockFolder(folder: string, lock: FolderLock, logger: Logger): Promise<void> {
  try {
    await mkdir(dirname(folder), { recursive: true });
    await lock.acquire();
  } catch (err) {
    if (isScenepressError(err, 'storage_locked')) throw err;
    // A mount point of a container whose own file system is read-only.
    logger.warn({ err }, `The work folder ${folder} can't be locked: no other process may use it.`);
  }
}

/** The studio folder. Only the data folder is known to be inaccessible to other users. */
export function studioOf(
  folder: string | undefined,
  dataFolder: { path: string } | undefined,
): StudioFolder | undefined {
  if (folder !== undefined) return { path: resolve(folder), closed: false };
  return dataFolder && { path: dataFolder.path, closed: true };
}

function openStudio({ path, closed }: StudioFolder): void {
  if (closed) makeStudioParts(path);
  if (existsSync(path)) return;
  throw new ScenepressError(
    'renderer_unavailable',
    `The studio folder ${path} does not exist. Create it, or use another folder.`,
  );
}
