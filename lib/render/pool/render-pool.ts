import { EventEmitter } from 'node:events';
import { existsSync } from 'node:fs';
import { readdir, rename, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { BroadcastChannel, MessageChannel } from 'node:worker_threads';
import { abortable } from '../../async/abortable.ts';
import { ScenepressError } from '../../base/errors.ts';
import type { Logger } from '../../base/logger.ts';
import type { Random } from '../../base/random.ts';
import { OLD_WORK_SUFFIX } from '../../files/data-files.ts';
import type { KnownFolder } from '../../files/disk.ts';
import type { RenderLimits } from '../../model/limits.ts';
import type {
  CheckResult,
  CheckTask,
  ListResult,
  ListTask,
  RenderMessage,
  RenderResult,
  RenderTask,
  SceneSource,
  StopReason,
  TaskMessage,
} from '../../model/render-task.ts';
import type { RendererVersions } from '../../model/service-problems.ts';
import type { Speaker } from '../../speech/speaker.ts';
import { SpeechOfRender } from '../../speech/speech-of-render.ts';
import type { Clock } from '../../time/clock.ts';
import { within } from '../../time/within.ts';
import { newPulses, Pulse } from '../counters/pulse.ts';
import { STOPPING, threadCounters } from '../counters/thread-counters.ts';
import { discardFolder, removeFolder } from '../end/remove-folder.ts';
import { plainSettings } from '../environment/python-environment.ts';
import { relocate } from '../environment/relocation.ts';
import { onMachine } from '../environment/renderer-root.ts';
import type { Launcher } from '../start/launcher.ts';
import { WorkFolder } from '../start/work-folder.ts';
import type { SandboxStatus } from '../trial/sandbox-status.ts';
import { type StartThreads, startThreads, type Threads } from './threads.ts';
import type { WorkerData, WorkerMessage } from './worker-data.ts';

const STOP_TIMEOUT_MS = 15_000;

/** A running render. */
export interface PooledRender {
  result: Promise<RenderResult>;
  /** Milliseconds since its start, 0 before, without those in which the whole process was stopped. */
  workedMs(): number;
  /** Stops the render; its result is `stopped`, unless it has already ended. */
  stop(reason: StopReason): void;
}

export interface RenderEvents {
  onStarted: () => void;
  onProgress: (progress: Extract<RenderMessage, { type: 'progress' }>) => void;
  onPreview: (jpeg: Buffer) => void;
  /** The scene's code printed something. */
  onOutput?: (text: string) => void;
}

interface RenderPoolEvents {
  /** A render completed, or a renderer process died. */
  result: [result: 'rendered' | 'died'];
  /** A worker became warm. */
  warm: [];
}

/** A Piscina pool whose threads each own a warm Python process. */
export class RenderPool extends EventEmitter<RenderPoolEvents> {
  readonly size: number;
  readonly #launcher: Launcher;
  readonly #limits: RenderLimits;
  readonly #workFolder: string;
  readonly #dataFolder: KnownFolder | undefined;
  readonly #place: WorkFolder;
  /** What was written into the work folder for the renderers. */
  #preparedPath: string | undefined;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #random: Random;
  readonly #shutdownName: string;
  readonly #startThreads: StartThreads;
  readonly #speaker: Speaker | undefined;
  #threads: Threads | undefined;
  #counters = threadCounters();
  readonly #pulses = newPulses();
  readonly #pulse: Pulse;
  /** Keeps the process alive, which idle threads do not. */
  #keepAlive: MessageChannel | undefined;
  /** The removal of files of earlier runs. */
  #removal: Promise<unknown> | undefined;
  /** The number of warm zygotes, by thread. */
  readonly #warm = new Map<number, number>();
  versions: RendererVersions | null = null;
  /** The sandbox of the last worker that became warm. */
  sandbox: SandboxStatus | null = null;
  /** Why rendering is refused: the sandbox of a new worker failed its check. */
  refusal: string | null = null;

  /** How many renderer processes died or failed to start. */
  rendererDeaths = 0;
  /** Running renders. */
  #rendering = 0;

  constructor(options: {
    size: number;
    launcher: Launcher;
    limits: RenderLimits;
    workFolder: string;
    /** The data folder that contains it, if one does. */
    dataFolder?: KnownFolder | undefined;
    clock: Clock;
    random: Random;
    logger: Logger;
    /** Says the texts of scenes that have no file with them; default: none. */
    speaker?: Speaker | undefined;
    /** Default: the threads of a Piscina. */
    startThreads?: StartThreads | undefined;
  }) {
    super();
    this.size = options.size;
    this.#launcher = options.launcher;
    this.#limits = options.limits;
    this.#workFolder = options.workFolder;
    this.#dataFolder = options.dataFolder;
    this.#place = new WorkFolder(options.workFolder, options.dataFolder);
    this.#clock = options.clock;
    this.#pulse = new Pulse({ pulses: this.#pulses, side: 'owner', clock: options.clock });
    this.#random = options.random;
    this.#shutdownName = `scenepress-${this.#uniqueName()}`;
    this.#logger = options.logger;
    this.#startThreads = options.startThreads ?? startThreads;
    this.#speaker = options.speaker;
  }

  /**
   * Starts all workers and waits until one is warm. Errors: `renderer_unavailable` when the first worker to report is
   * not warm; the reason of `signal` on abort. After an error, call `stop`.
   */
  async start(signal: AbortSignal): Promise<void> {
    await this.#renameOldFolder();
    await this.#place.make();
    this.#counters = threadCounters();
    const workerData: WorkerData = {
      launcher: await this.#prepared(),
      limits: this.#limits,
      workers: this.size,
      workFolder: this.#workFolder,
      dataFolder: this.#dataFolder,
      shutdownChannel: this.#shutdownName,
      threads: this.#counters,
      pulses: this.#pulses,
    };
    signal.throwIfAborted();
    this.#keepAlive = new MessageChannel();
    this.#keepAlive.port1.ref();
    const threads = this.#startThreads(this.size, workerData);
    this.#threads = threads;
    threads.on('error', (error: Error) => {
      this.#logger.error({ err: error }, 'A worker thread crashed; it is replaced.');
    });
    const isWarm = new Promise<void>((resolve, reject) => {
      threads.on('message', (message: WorkerMessage) => this.#hear(message, resolve, reject));
      threads.on('error', (error: Error) => {
        const message = `A worker thread could not be started: ${error.message}.`;
        reject(new ScenepressError('renderer_unavailable', message, { cause: error }));
      });
    });
    await abortable(isWarm, signal);
  }

  /**
   * Renames the work folder of a killed service and removes it in the background; the start does not wait for it,
   * nor fail because of it.
   */
  async #renameOldFolder(): Promise<void> {
    const prefix = `${this.#workFolder}${OLD_WORK_SUFFIX}`;
    await rename(this.#workFolder, `${prefix}${this.#uniqueName()}`).catch(
      async (error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT') return;
        // A mount point cannot be renamed, so it is emptied.
        await removeFolder(this.#workFolder).catch((error: NodeJS.ErrnoException) => {
          if (error.code !== 'EBUSY') throw error;
        });
      },
    );
    const parent = dirname(prefix);
    const names = await readdir(parent).catch(() => []); // Missing before the first start.
    const left = names.filter((name) => name.startsWith(basename(prefix)));
    this.#removal = Promise.all(left.map((name) => discardFolder(join(parent, name), this.#warn)));
  }

  readonly #warn = (problem: string): void => this.#logger.warn({}, problem);

  get hasIdleWorker(): boolean {
    return this.#rendering < this.size;
  }

  /** Workers that have a warm renderer process. */
  get warmWorkers(): number {
    const running = this.#threads?.threads ?? [];
    return running.filter(({ threadId }) => (this.#warm.get(threadId) ?? 0) > 0).length;
  }

  /**
   * Relocates a tree that cannot be mounted as `/`; rewrites an environment's settings without its original paths.
   */
  async #prepared(): Promise<Launcher> {
    const launcher = this.#launcher;
    const { environment } = launcher;
    if (environment?.isVirtual && launcher.isolation === 'bubblewrap') {
      const settingsFile = join(this.#workFolder, 'pyvenv.cfg');
      this.#preparedPath = settingsFile;
      try {
        await writeFile(settingsFile, plainSettings(environment), { mode: 0o644 });
        return { ...launcher, environment: { ...environment, settingsFile } };
      } catch (error) {
        // The service also starts on a full disk; scenes can then read the environment's original paths.
        if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
        return launcher;
      }
    }
    if (launcher.tree === undefined || launcher.isolation !== 'none') return launcher;
    this.#preparedPath = join(this.#workFolder, 'relocation');
    return { ...launcher, relocation: await relocate(launcher, this.#preparedPath) };
  }

  /**
   * Checks the work folder and what renderers need in it; see {@link WorkFolder.check}. Workers whose folder is gone
   * restart before their next job.
   */
  async checkWorkFolder(how: { write: boolean }): Promise<boolean> {
    const isNew = await this.#place.check(how);
    if (isNew || (this.#preparedPath && !existsSync(this.#preparedPath))) await this.#prepared();
    return isNew;
  }

  /** Renders on the next free worker. The caller must not exceed `size` concurrent renders. */
  render(task: Omit<RenderTask, 'port'>, events: RenderEvents): PooledRender {
    if (!this.#threads) throw new ScenepressError('not_running', 'The renderer is not started.');
    const { port1: ours, port2: port } = new MessageChannel();
    const tell = (message: TaskMessage) => ours.postMessage(message);
    const speech = this.#speaker && new SpeechOfRender(this.#speaker);
    let measure: ReturnType<Pulse['begin']> | undefined;
    ours.on('message', (message: RenderMessage) => {
      if (message.type === 'started') {
        measure ??= this.#pulse.begin();
        events.onStarted();
      } else if (message.type === 'progress') events.onProgress(message);
      else if (message.type === 'output') events.onOutput?.(message.text);
      else if (message.type === 'speech') {
        const { request } = message;
        void speech?.answer(message).then((answer) => tell({ type: 'spoken', request, ...answer }));
      } else events.onPreview(Buffer.from(message.jpegBase64, 'base64'));
    });
    const given = { ...task, ...(speech && { hasSpeech: true }), port };
    const result = (this.#threads.run(given, { transferList: [port] }) as Promise<RenderResult>)
      .catch((error: Error): RenderResult => ({ kind: 'interrupted', durationMs: 0, message: error.message }))
      .finally(() => {
        speech?.end();
        ours.close();
      });
    this.#rendering += 1;
    void result.then((ended) => {
      this.#rendering -= 1;
      measure?.end();
      if (ended.kind === 'rendered' || ended.kind === 'died') this.emit('result', ended.kind);
      else if (ended.kind === 'interrupted' && !ended.isShortage) this.emit('result', 'died');
    });
    return {
      result,
      workedMs: () => measure?.workedMs() ?? 0,
      stop: (reason) => tell({ type: 'stop', reason }),
    };
  }

  /** Lists the scenes of a source on the next free worker. */
  async listScenes(
    code: SceneSource,
    how: Omit<ListTask, 'listScenesOf'> = { background: false },
  ): Promise<ListResult> {
    if (!this.#threads) throw new ScenepressError('not_running', 'The renderer is not started.');
    return (await this.#threads.run({ listScenesOf: code, ...how })) as ListResult;
  }

  /** Runs a scene without drawing it, on the next free worker. */
  async check(task: CheckTask): Promise<CheckResult> {
    if (!this.#threads) throw new ScenepressError('not_running', 'The renderer is not started.');
    return (await this.#threads.run({ ...task, ...(this.#speaker && { hasSpeech: true }) })) as CheckResult;
  }

  /** Stops all renders and zygotes, then the threads. */
  async stop(): Promise<void> {
    const threads = this.#threads;
    if (!threads) return;
    this.#threads = undefined;
    Atomics.store(this.#counters, STOPPING, 1);
    await this.#stopWorkers(threads);
    await threads.destroy();
    this.#warm.clear();
    this.versions = null;
    this.sandbox = null;
    this.refusal = null;
    if (this.#place.isInPlace) await discardFolder(this.#workFolder, this.#warn);
    await this.#removal;
    this.#keepAlive?.port1.close();
  }

  async #stopWorkers(threads: Threads): Promise<void> {
    const shutdown = new BroadcastChannel(this.#shutdownName);
    let left = threads.threads.length;
    const allStopped = new Promise<void>((resolve) => {
      threads.on('message', (message: WorkerMessage) => {
        if (message.type === 'stopped') left -= 1;
        if (left === 0) resolve();
      });
    });
    shutdown.postMessage('stop');
    await within(this.#clock, STOP_TIMEOUT_MS, allStopped);
    shutdown.close();
    // Unresponsive threads are terminated with the others; their processes end with them.
    if (left > 0) this.#logger.warn({ threads: left }, 'Worker threads did not stop in time.');
  }

  #hear(message: WorkerMessage, started: () => void, failed: (error: Error) => void): void {
    if ('warm' in message) this.#warm.set(message.thread, message.warm);
    switch (message.type) {
      case 'ready':
        this.versions ??= { manim: message.manim, python: message.python };
        this.sandbox = message.sandbox;
        this.refusal = null;
        started();
        this.emit('warm');
        break;
      case 'unready':
        this.rendererDeaths += 1;
        this.emit('result', 'died');
        this.#logger.warn({ reason: message.message }, 'A renderer process ended or could not be started.');
        failed(
          new ScenepressError(
            'renderer_unavailable',
            `The renderer could not be started: ${message.message}.${this.#hint()}`,
          ),
        );
        break;
      case 'refused':
        this.refusal = message.message;
        this.emit('result', 'died');
        this.#logger.error({ reason: message.message }, 'The sandbox does not hold: nothing is rendered.');
        failed(new ScenepressError('renderer_unavailable', message.message));
        break;
      case 'log':
        this.#logger.info({ renderer: message.line }, 'Output of the renderer.');
        break;
    }
  }

  /** The most likely reason without isolation when the service runs as root. */
  #hint(): string {
    if (this.#launcher.isolation !== 'none' || this.#launcher.firstUid === undefined) return '';
    return (
      ` Renders run as user id ${this.#launcher.firstUid}, which must be able to read ` +
      `${onMachine(this.#launcher, this.#launcher.python)} and to enter ${this.#workFolder}. Start the service as an ` +
      `ordinary user; or make bubblewrap work, so that this is unnecessary: ${this.#launcher.isolationProblem}.`
    );
  }

  #uniqueName(): string {
    return this.#random.bytes(16).toString('hex');
  }
}
