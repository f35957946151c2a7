import { join } from 'node:path';
import { assertSameWalls, Inspector, startZygote } from '../end/inspector.ts';
import { discardFolder } from '../end/remove-folder.ts';
import { SandboxRefused, type SandboxStatus, sandboxStatus } from '../sandbox/sandbox.ts';
import { SandboxTrial } from '../sandbox/sandbox-trial.ts';
import type { RendererRole } from '../start/launcher.ts';
import { openToReaders, studioState } from '../start/studio.ts';
import { identityAt } from '../start/work-folder.ts';
import { type Zygote, ZygoteDied } from '../start/zygote.ts';
import type { Forks, Occupied } from './forks.ts';
import type { RendererJob, ZygoteReady } from './protocol.ts';
import { endedBefore } from './words.ts';
import type { WorkerEvents, WorkerSettings } from './worker-settings.ts';

const AGAIN_FIRST_MS = 1_000;
const AGAIN_LONGEST_MS = 60_000;
/** Renders of the service's own, as those that try the sandbox. */
export const OWN_RENDER_TIMEOUT_MS = 30_000;
export const OWN_SIZE = { widthPx: 64, heightPx: 36, fps: 1, previewIntervalMs: 0 } as const;

export type Orientation = 'landscape' | 'portrait';

/** A zygote, or one that is on its way, and what it knows of the studio's folder. */
interface StartedZygote {
  zygote: Promise<Zygote>;
  studio: string | undefined;
  /** The folder that it works in, as soon as that is made; another one with the same name is none that it sees. */
  folder?: string;
}

/**
 * The warm processes of a worker: a zygote for landscape, one for portrait from the first portrait job on, because Manim
 * fixes some ranges when it is imported, and the inspector of what they render. What dies is started again.
 */
export class Zygotes {
  readonly #settings: WorkerSettings;
  readonly #events: WorkerEvents;
  readonly #folder: string;
  readonly #forks: Forks;
  readonly #zygotes = new Map<Orientation, StartedZygote>();
  /** Those that others have taken the place of. */
  readonly #retired = new WeakSet<Zygote>();
  readonly #inspector: Inspector;
  readonly #trial: SandboxTrial;
  #warmZygotes = 0;
  /** What was said last of a warm zygote, to be said again when the inspector is back. */
  #lastReady: [ZygoteReady, SandboxStatus] | undefined;
  #stopping = false;
  /** After a start that failed: how long until the next. */
  #againInMs = AGAIN_FIRST_MS;
  #again: NodeJS.Timeout | undefined;

  /** `folder`: of the worker. */
  constructor(options: { settings: WorkerSettings; events: WorkerEvents; folder: string; forks: Forks }) {
    this.#settings = options.settings;
    this.#events = options.events;
    this.#folder = options.folder;
    this.#forks = options.forks;
    this.#trial = new SandboxTrial(options.settings, options.folder);
    this.#inspector = new Inspector({
      start: () => this.#startProcess('inspector'),
      onDeath: (reason) => {
        if (this.#stopping) return;
        this.#events.onUnready(reason);
        void this.#replaceInspector();
      },
    });
  }

  /** Zygotes that are warm now, and of use: what they render can be looked at. */
  get warm(): number {
    return this.#inspector.alive ? this.#warmZygotes : 0;
  }

  /** Every zygote still sees the folder that it was started in. */
  get haveFolders(): boolean {
    return [...this.#zygotes.values()].every((started) => this.#hasFolder(started));
  }

  /** The inspector, warm. */
  inspector(): Promise<Zygote> {
    return this.#inspector.ready();
  }

  /** Ends all of them; none is started any more. */
  async stop(): Promise<void> {
    this.#stopping = true;
    clearTimeout(this.#again);
    const started = await Promise.allSettled([...this.#zygotes.values()].map(({ zygote }) => zygote));
    await Promise.all(
      started.map((result) => (result.status === 'fulfilled' ? result.value.stop() : undefined)),
    );
    await this.#inspector.stop();
  }

  /** The zygote of an orientation; one that is dead, or knows an earlier state of the studio's folder, is replaced. */
  get(orientation: Orientation): Promise<Zygote> {
    let studio: string | undefined;
    try {
      studio = this.#studioState();
    } catch (error) {
      this.#startAgain(orientation);
      return Promise.reject(error);
    }
    const known = this.#zygotes.get(orientation);
    if (known && known.studio === studio && this.#hasFolder(known)) return known.zygote;
    const onFolder = (folder: string) => {
      started.folder = folder;
    };
    const zygote = known ? this.#replace(known, orientation, onFolder) : this.#start(orientation, onFolder);
    const started: StartedZygote = { zygote, studio };
    this.#zygotes.set(orientation, started);
    zygote.catch(() => {
      if (this.#zygotes.get(orientation) === started) this.#zygotes.delete(orientation);
    });
    return zygote;
  }

  #hasFolder({ folder }: StartedZygote): boolean {
    return folder === undefined || folder === identityAt(this.#folder);
  }

  #studioState(): string | undefined {
    const { studio, firstUid } = this.#settings.launcher;
    if (studio?.closed && firstUid !== undefined) openToReaders(studio);
    return studio && studioState(studio);
  }

  async #replace(
    known: StartedZygote,
    orientation: Orientation,
    onFolder: (folder: string) => void,
  ): Promise<Zygote> {
    const zygote = await known.zygote.catch(() => undefined);
    if (zygote) {
      this.#retired.add(zygote);
      await zygote.stop();
      await this.#inspector.stop(); // It may know an earlier folder, too.
    }
    return this.#start(orientation, onFolder);
  }

  async #start(orientation: Orientation, onFolder: (folder: string) => void): Promise<Zygote> {
    try {
      if (this.#stopping) throw new ZygoteDied('the service is stopping');
      await this.#forks.makeFolder(this.#folder);
      onFolder(identityAt(this.#folder) ?? '');
      const [zygote, ready] = await this.#startWithInspector(orientation);
      if (this.#stopping) {
        await zygote.stop();
        throw new ZygoteDied('the service is stopping');
      }
      const sandbox = sandboxStatus(this.#settings.launcher, ready);
      await this.#trySandbox(zygote, sandbox);
      zygote.onDeath = (reason) => {
        this.#warmZygotes -= 1;
        if (this.#retired.has(zygote)) return;
        this.#zygotes.delete(orientation);
        if (this.#stopping) return;
        this.#events.onUnready(reason);
        this.get(orientation).catch(() => {}); // Reported, and tried again.
      };
      this.#warmZygotes += 1;
      this.#lastReady = [ready, sandbox];
      this.#againInMs = AGAIN_FIRST_MS;
      this.#events.onReady(ready, sandbox);
      return zygote;
    } catch (error) {
      if (error instanceof SandboxRefused) this.#events.onRefused(error.message);
      else if (!this.#stopping) this.#events.onUnready((error as Error).message);
      this.#startAgain(orientation);
      throw error;
    }
  }

  /** Both at the same time; a zygote is of no use without. */
  async #startWithInspector(orientation: Orientation): Promise<[Zygote, ZygoteReady]> {
    const inspector = this.#inspector.ready();
    const [zygote] = await Promise.allSettled([this.#startProcess(orientation), inspector]);
    if (zygote.status === 'rejected') throw zygote.reason;
    try {
      assertSameWalls(await inspector, zygote.value[0]);
      return zygote.value;
    } catch (error) {
      await zygote.value[0].stop();
      throw error;
    }
  }

  async #startProcess(role: RendererRole): Promise<[Zygote, ZygoteReady]> {
    await this.#forks.makeFolder(this.#folder);
    const { onLog } = this.#events;
    return startZygote(this.#settings, { workFolder: this.#folder, role, onLog });
  }

  /** Starts an inspector unless there is one; one that can't be started now is started after a while. */
  async #replaceInspector(): Promise<void> {
    if (this.#inspector.alive) return;
    try {
      await this.#inspector.ready();
      if (this.warm > 0 && this.#lastReady) this.#events.onReady(...this.#lastReady);
    } catch (error) {
      if (this.#stopping) return;
      this.#events.onUnready((error as Error).message);
      this.#startAgain('landscape');
    }
  }

  /** Jobs are given out only to those who can take them, so nothing else would. */
  #startAgain(orientation: Orientation): void {
    if (this.#stopping) return;
    clearTimeout(this.#again);
    const start = () => this.get(orientation).then(() => this.#replaceInspector());
    this.#again = setTimeout(() => start().catch(() => {}), this.#againInMs);
    this.#againInMs = Math.min(2 * this.#againInMs, AGAIN_LONGEST_MS);
  }

  /** Attacks a new zygote's sandbox. A zygote whose sandbox doesn't hold is ended, unless that is accepted. */
  async #trySandbox(zygote: Zygote, sandbox: SandboxStatus): Promise<void> {
    const refusal = await this.#trial
      .refusalOf(sandbox, (code, className) => this.#errorOf(zygote, code, className))
      .catch(async (error: unknown) => {
        await zygote.stop();
        throw error;
      });
    if (!refusal) return;
    if (this.#settings.launcher.insecureNoSandbox) {
      this.#events.onLog(`Rendering without a sandbox that holds, as told. ${refusal.message}`);
      return;
    }
    await zygote.stop();
    throw refusal;
  }

  /** Runs a small render of our own: its error, null when it has none, undefined when it says nothing. */
  async #errorOf(zygote: Zygote, code: string, className: string): Promise<string | undefined | null> {
    const folder = join(this.#folder, className.toLowerCase());
    const job: RendererJob = { kind: 'render', code, className, ...OWN_SIZE, limits: this.#settings.limits };
    const occupied: Occupied = { zygote, background: false, endReason: undefined };
    const timer = setTimeout(() => zygote.killJob(), OWN_RENDER_TIMEOUT_MS);
    try {
      const { verdict, begun, end } = await this.#forks.run(occupied, folder, job, () => {});
      if (!begun) throw new ZygoteDied(endedBefore(end));
      return verdict?.type === 'failed' ? verdict.error : verdict && null;
    } finally {
      clearTimeout(timer);
      await discardFolder(folder, this.#events.onLog);
    }
  }
}
