import { join } from 'node:path';
import { abortable } from '../../async/abortable.ts';
import { ScenepressError } from '../../base/errors.ts';
import type { Logger } from '../../base/logger.ts';
import type { Finding } from '../../model/finding-types.ts';
import { type DeclaredParam, declaredParam } from '../../model/params.ts';
import type { SceneSource } from '../../model/render-task.ts';
import type { JobReport } from '../../model/renderer-messages.ts';
import { MOST_PARAMS } from '../../model/renderer-protocol.ts';
import { Backoff } from '../../time/backoff.ts';
import type { Timer } from '../../time/clock.ts';
import { discardFolder } from '../end/remove-folder.ts';
import { type ForkSettings, Forks, type Occupied } from '../run/forks.ts';
import { linksBeside } from '../run/job-files.ts';
import { readJob } from '../run/jobs-of-tasks.ts';
import { startZygote } from '../start/encoder-process.ts';
import { mountsState } from '../start/launcher.ts';
import { identityAt } from '../start/work-folder.ts';
import type { Zygote } from '../start/zygote.ts';

/** How long a read may take on a busy machine; most take some milliseconds, and its process limits its CPU time. */
const TIMEOUT_MS = 5_000;
/** How long a read waits for the process, which starts in a few seconds. */
const PATIENCE_MS = 10_000;
const UNUSED_MS = 10 * 60_000;
const AGAIN_FIRST_MS = 1_000;
const AGAIN_LONGEST_MS = 60_000;
const MOST_WAITING = 64;
/** More are of somebody who types faster than is read. */
const MOST_WAITING_OF_OWNER = 4;

/** A source to read. */
export interface ReadTask {
  code: SceneSource;
  /** Undefined: all its scenes. */
  className?: string | undefined;
  /** Whose it is; undefined: the operator's. */
  owner?: string | undefined;
  /** The folder with the files of its job, as of a `RenderTask`. */
  files?: string | undefined;
}

/** What was read in a source. */
export interface ReadSource {
  /** What is certainly wrong. */
  findings: Finding[];
  /** The parameters that it declares, as far as they are written out. */
  params: DeclaredParam[];
}

interface Waiting {
  task: ReadTask;
  /** Undefined: it could not be read. */
  end: (read: ReadSource | undefined) => void;
}

interface Started {
  zygote: Promise<Zygote>;
  ground: string;
  folder: string;
}

/**
 * Reads sources without running them, in forks of a process of its own, which has imported Manim: one at a time, apart
 * from the workers. The process is started when it is needed, and stopped when it is not used for some minutes. If it
 * dies or hangs, the source is not read; a dry run still finds everything.
 */
export class SceneReader {
  readonly #settings: ForkSettings;
  readonly #folder: string;
  readonly #logger: Logger;
  readonly #forks: Forks;
  readonly #backoff = new Backoff(AGAIN_FIRST_MS, AGAIN_LONGEST_MS);
  #waiting: Waiting[] = [];
  #isReading = false;
  #occupied: Occupied | undefined;
  #started: Started | undefined;
  /** Until when no process is started, after one has failed. */
  #pausedUntilMs = 0;
  #unused: Timer | undefined;
  #isStopped = false;
  #reads = 0;

  /** `settings.index`: that of no worker, so that its forks have a user id of their own. */
  constructor(settings: ForkSettings & { workFolder: string; logger: Logger }) {
    this.#settings = settings;
    this.#folder = join(settings.workFolder, 'reader');
    this.#logger = settings.logger;
    this.#forks = new Forks(settings, this.#folder);
  }

  /** How many reads wait. */
  get waiting(): number {
    return this.#waiting.length;
  }

  /**
   * Reads a source when it is its turn. `signal` aborts the wait. Undefined if it could not be read. Error: `queue_full`
   * when too many of the owner wait.
   */
  read(task: ReadTask, signal?: AbortSignal): Promise<ReadSource | undefined> {
    signal?.throwIfAborted();
    const { owner } = task;
    const waitsOfOwner = this.#waiting.filter(({ task: other }) => other.owner === owner).length;
    if (owner !== undefined && waitsOfOwner >= MOST_WAITING_OF_OWNER)
      throw new ScenepressError('queue_full', `${MOST_WAITING_OF_OWNER} checks of this account wait.`);
    const { promise, resolve } = Promise.withResolvers<ReadSource | undefined>();
    if (this.#isStopped) resolve(undefined);
    const waiting: Waiting = { task, end: resolve };
    this.#waiting.push(waiting);
    if (this.#waiting.length > MOST_WAITING) this.#waiting.shift()?.end(undefined);
    void this.#readAll();
    return abortable(promise, signal).finally(() => {
      this.#waiting = this.#waiting.filter((other) => other !== waiting);
    });
  }

  /** Ends the process; nothing is read afterwards. Resolves when it is gone. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#unused?.cancel();
    for (const { end } of this.#waiting.splice(0)) end(undefined);
    if (this.#occupied) this.#occupied.endReason = 'shutdown';
    this.#occupied?.zygote.killJob();
    await this.#stopZygote();
    await this.#discard(this.#folder);
  }

  async #readAll(): Promise<void> {
    if (this.#isReading) return;
    this.#isReading = true;
    this.#unused?.cancel();
    for (let next = this.#waiting.shift(); next; next = this.#waiting.shift()) {
      const { task, end } = next;
      end(await this.#read(task, end));
    }
    this.#isReading = false;
    if (this.#isStopped) return;
    this.#unused = this.#settings.clock.after(UNUSED_MS, () => void this.#stopZygote());
  }

  /** Undefined if it could not be read. `end`: called with what was found, before the fork has ended. */
  async #read({ code, className, files }: ReadTask, end: Waiting['end']): Promise<ReadSource | undefined> {
    const { clock, limits } = this.#settings;
    if (this.#isStopped || clock.uptimeMs() < this.#pausedUntilMs) return undefined;
    const folder = join(this.#folder, `${++this.#reads}`);
    try {
      const zygote = await this.#within(PATIENCE_MS, this.#zygote());
      if (!zygote) return undefined;
      const occupied: Occupied = { zygote, background: false, endReason: undefined };
      this.#occupied = occupied;
      const timer = clock.after(TIMEOUT_MS, () => {
        occupied.endReason = 'timeout';
        zygote.killJob();
      });
      const job = readJob(code, className, limits);
      const params: DeclaredParam[] = [];
      const hear = (report: JobReport) => {
        if (report.type === 'params')
          params.push(...report.params.map(declaredParam).slice(0, MOST_PARAMS - params.length));
      };
      const { verdict } = await this.#forks
        .run(occupied, folder, job, hear, {
          files,
          onVerdict: (said) => said.type === 'read' && end({ findings: said.findings, params }),
        })
        .finally(() => timer.cancel());
      return verdict?.type === 'read' ? { findings: verdict.findings, params } : undefined;
    } catch (err) {
      this.#logger.warn({ err }, 'A source could not be read.');
      return undefined;
    } finally {
      this.#occupied = undefined;
      await this.#discard(folder);
      if (files !== undefined) await this.#discard(linksBeside(folder));
    }
  }

  /** Undefined if a promise takes longer. */
  async #within<Value>(ms: number, promise: Promise<Value>): Promise<Value | undefined> {
    const { promise: late, resolve } = Promise.withResolvers<undefined>();
    const timer = this.#settings.clock.after(ms, () => resolve(undefined));
    return Promise.race([promise, late]).finally(() => timer.cancel());
  }

  /** The process; another if what it was started with has changed. */
  async #zygote(): Promise<Zygote> {
    const ground = mountsState(this.#settings.launcher);
    const known = this.#started;
    if (known && (known.ground !== ground || known.folder !== (identityAt(this.#folder) ?? '')))
      await this.#stopZygote();
    this.#started ??= this.#start(ground);
    return this.#started.zygote;
  }

  #start(ground: string): Started {
    this.#forks.makeFolder(this.#folder);
    const folder = identityAt(this.#folder) ?? '';
    const options = {
      workFolder: this.#folder,
      role: 'reader' as const,
      onLog: (line: string) => this.#logger.debug({}, line),
    };
    const zygote = startZygote(this.#settings, options).then(([ready]) => {
      ready.once('death', (reason) => this.#fail(started, reason));
      if (!ready.alive) throw new Error('it ended');
      this.#backoff.reset();
      return ready;
    });
    const started: Started = { zygote, ground, folder };
    zygote.catch((error: Error) => this.#fail(started, error.message));
    return started;
  }

  #fail(failed: Started, reason: string): void {
    if (this.#started !== failed) return; // It was stopped.
    this.#started = undefined;
    this.#pausedUntilMs = this.#settings.clock.uptimeMs() + this.#backoff.next();
    this.#logger.warn({ reason }, 'The process that reads sources has ended.');
  }

  async #stopZygote(): Promise<void> {
    const started = this.#started;
    this.#started = undefined;
    const zygote = await started?.zygote.catch(() => undefined);
    await zygote?.stop();
  }

  #discard(folder: string): Promise<void> {
    return discardFolder(folder, (problem) => this.#logger.warn({}, problem));
  }
}
