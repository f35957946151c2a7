import { join } from 'node:path';
import { OneAtATime } from '../../async/one-at-a-time.ts';
import { jobLimits } from '../../model/limits.ts';
import type { RenderJob } from '../../model/renderer-messages.ts';
import type { ZygoteReady } from '../../model/zygote-messages.ts';
import { Backoff } from '../../time/backoff.ts';
import type { Timer } from '../../time/clock.ts';
import { discardFolder } from '../end/remove-folder.ts';
import { assertSameLayers, EncoderProcess, startZygote } from '../start/encoder-process.ts';
import { mountsState, type RendererRole } from '../start/launcher.ts';
import { fontsState, openToReaders } from '../start/studio.ts';
import { identityAt } from '../start/work-folder.ts';
import { type Zygote, ZygoteDied } from '../start/zygote.ts';
import { SandboxRefused } from '../trial/sandbox-refused.ts';
import { type SandboxStatus, sandboxStatus } from '../trial/sandbox-status.ts';
import { type ErrorOf, SandboxTrial } from '../trial/sandbox-trial.ts';
import type { Forks, Occupied } from './forks.ts';
import type { WorkerEvents, WorkerSettings } from './worker-settings.ts';

const AGAIN_FIRST_MS = 1_000;
const AGAIN_LONGEST_MS = 60_000;
/** Time-out of the service's own renders, such as the sandbox check. */
const OWN_RENDER_TIMEOUT_MS = 30_000;
export const OWN_SIZE = { widthPx: 64, heightPx: 36, fps: 1 } as const;

export type Orientation = 'landscape' | 'portrait';

/** A started or starting zygote, and the state of the files that it reads at its start. */
interface StartedZygote {
  zygote: Promise<Zygote>;
  ground: string;
  place: ZygotePlace;
}

interface ZygotePlace {
  /** The identity of its work folder, once created; a new folder with the same name is not visible to it. */
  folder?: string;
}

/**
 * The warm processes of a worker: a zygote for landscape; one for portrait, started with the first portrait job,
 * because Manim fixes some ranges on import; and the process that encodes their frames. Processes that die are restarted.
 */
export class Zygotes {
  readonly #settings: WorkerSettings;
  readonly #events: WorkerEvents;
  readonly #folder: string;
  readonly #forks: Forks;
  readonly #zygotes = new Map<Orientation, StartedZygote>();
  /** Zygotes that have been replaced. */
  readonly #retired = new WeakSet<Zygote>();
  readonly #encoder: EncoderProcess;
  readonly #trial: SandboxTrial;
  /** One at a time, because all trials of a worker use the same files. */
  readonly #trials = new OneAtATime();
  #warmZygotes = 0;
  /** The last `ready` event, repeated when the encoder has restarted. */
  #lastReady: [ZygoteReady, SandboxStatus] | undefined;
  #stopping = false;
  /** The delays of starts after failed ones. */
  readonly #backoff = new Backoff(AGAIN_FIRST_MS, AGAIN_LONGEST_MS);
  #again: Timer | undefined;

  /** `folder`: the worker's folder. */
  constructor(options: { settings: WorkerSettings; events: WorkerEvents; folder: string; forks: Forks }) {
    this.#settings = options.settings;
    this.#events = options.events;
    this.#folder = options.folder;
    this.#forks = options.forks;
    this.#trial = new SandboxTrial(options.settings, options.folder);
    this.#encoder = new EncoderProcess({
      start: () => this.#startProcess('encoder'),
      onWarm: () => {
        if (this.warm > 0 && this.#lastReady) this.#events.onReady(...this.#lastReady);
      },
      onDeath: (reason) => {
        if (this.#stopping) return;
        this.#events.onUnready(reason);
        void this.#replaceEncoder();
      },
    });
  }

  /** The number of usable warm zygotes; 0 without the encoder. */
  get warm(): number {
    return this.#encoder.alive ? this.#warmZygotes : 0;
  }

  /** Whether the work folder of every zygote still exists. */
  get haveFolders(): boolean {
    return [...this.#zygotes.values()].every((started) => this.#hasFolder(started));
  }

  /** The warm encoder. */
  encoder(): Promise<Zygote> {
    return this.#encoder.ready();
  }

  /** Ends all processes; no more are started. */
  async stop(): Promise<void> {
    this.#stopping = true;
    this.#again?.cancel();
    const started = await Promise.allSettled([...this.#zygotes.values()].map(({ zygote }) => zygote));
    await Promise.all(
      started.map((result) => (result.status === 'fulfilled' ? result.value.stop() : undefined)),
    );
    await this.#encoder.stop();
  }

  /** The zygote of an orientation; replaced when it is dead or what it was started with has changed. */
  get(orientation: Orientation): Promise<Zygote> {
    let ground: string;
    try {
      ground = this.#ground();
    } catch (error) {
      this.#startAgain(orientation);
      return Promise.reject(error);
    }
    const known = this.#zygotes.get(orientation);
    if (known && known.ground === ground && this.#hasFolder(known)) return known.zygote;
    const place: ZygotePlace = {};
    const zygote = known ? this.#replace(known, orientation, place) : this.#start(orientation, place);
    const started: StartedZygote = { zygote, ground, place };
    this.#zygotes.set(orientation, started);
    zygote.catch(() => {
      if (this.#zygotes.get(orientation) === started) this.#zygotes.delete(orientation);
    });
    return zygote;
  }

  #hasFolder({ place: { folder } }: StartedZygote): boolean {
    return folder === undefined || folder === identityAt(this.#folder);
  }

  #ground(): string {
    const { launcher } = this.#settings;
    const { studio, firstUid } = launcher;
    if (studio?.closed && firstUid !== undefined) openToReaders(studio);
    return `${mountsState(launcher)}\n${studio ? fontsState(studio) : ''}`;
  }

  async #replace(known: StartedZygote, orientation: Orientation, place: ZygotePlace): Promise<Zygote> {
    const zygote = await known.zygote.catch(() => undefined);
    if (zygote) {
      this.#retired.add(zygote);
      await zygote.stop();
      await this.#encoder.stop(); // It may be outdated, too.
    }
    return this.#start(orientation, place);
  }

  async #start(orientation: Orientation, place: ZygotePlace): Promise<Zygote> {
    try {
      if (this.#stopping) throw new ZygoteDied('the service is stopping');
      this.#forks.makeFolder(this.#folder);
      place.folder = identityAt(this.#folder) ?? '';
      const [zygote, ready] = await this.#startWithEncoder(orientation);
      if (this.#stopping) {
        await zygote.stop();
        throw new ZygoteDied('the service is stopping');
      }
      const sandbox = sandboxStatus(this.#settings.launcher, ready);
      await this.#trySandbox(zygote, sandbox);
      // Its death is only heard from here on.
      if (!zygote.alive) throw new ZygoteDied('it ended after its sandbox was checked');
      zygote.once('death', (reason) => {
        this.#warmZygotes -= 1;
        if (this.#retired.has(zygote)) return;
        this.#zygotes.delete(orientation);
        if (this.#stopping) return;
        this.#events.onUnready(reason);
        this.get(orientation).catch(() => {}); // Reported, and tried again.
      });
      this.#warmZygotes += 1;
      this.#lastReady = [ready, sandbox];
      this.#backoff.reset();
      this.#events.onReady(ready, sandbox);
      return zygote;
    } catch (error) {
      if (error instanceof SandboxRefused) this.#events.onRefused(error.message);
      else if (!this.#stopping) this.#events.onUnready((error as Error).message);
      this.#startAgain(orientation);
      throw error;
    }
  }

  /** Starts zygote and encoder in parallel; both are needed. */
  async #startWithEncoder(orientation: Orientation): Promise<[Zygote, ZygoteReady]> {
    const encoder = this.#encoder.ready();
    const [zygote] = await Promise.allSettled([this.#startProcess(orientation), encoder]);
    if (zygote.status === 'rejected') throw zygote.reason;
    try {
      assertSameLayers(await encoder, zygote.value[0]);
      return zygote.value;
    } catch (error) {
      await zygote.value[0].stop();
      throw error;
    }
  }

  async #startProcess(role: RendererRole): Promise<[Zygote, ZygoteReady]> {
    this.#forks.makeFolder(this.#folder);
    const { onLog } = this.#events;
    return startZygote(this.#settings, { workFolder: this.#folder, role, onLog });
  }

  /** Restarts a dead encoder; retries after a delay when that fails. */
  async #replaceEncoder(): Promise<void> {
    if (this.#encoder.alive) return;
    try {
      await this.#encoder.ready();
    } catch (error) {
      if (this.#stopping) return;
      this.#events.onUnready((error as Error).message);
      this.#startAgain('landscape');
    }
  }

  /** Retries the start. Nothing else would, because workers without a zygote get no jobs. */
  #startAgain(orientation: Orientation): void {
    if (this.#stopping) return;
    this.#again?.cancel();
    const start = () => this.get(orientation).then(() => this.#replaceEncoder());
    this.#again = this.#settings.clock.after(this.#backoff.next(), () => void start().catch(() => {}));
  }

  /**
   * Checks the sandbox of a new zygote by an attack. Ends the zygote when the attack succeeds, unless
   * `insecureNoSandbox` is set.
   */
  async #trySandbox(zygote: Zygote, sandbox: SandboxStatus): Promise<void> {
    const errorOf: ErrorOf = (code, className) => this.#errorOf(zygote, code, className);
    const refusal = await this.#trials
      .run(() => this.#trial.refusalOf(sandbox, errorOf))
      .catch(async (error: unknown) => {
        await zygote.stop();
        throw error;
      });
    if (!refusal) return;
    if (this.#settings.launcher.insecureNoSandbox) {
      this.#events.onLog(`The sandbox failed its check; rendering anyway, without one. ${refusal.message}`);
      return;
    }
    await zygote.stop();
    throw refusal;
  }

  /**
   * Runs a small render of the service's own. Returns its error, null when it succeeded, undefined without a verdict.
   */
  async #errorOf(zygote: Zygote, code: string, className: string): Promise<string | undefined | null> {
    const folder = join(this.#folder, className.toLowerCase());
    const limits = jobLimits(this.#settings.limits);
    const job: RenderJob = {
      kind: 'render',
      code,
      isBytes: false,
      className,
      ...OWN_SIZE,
      local: null,
      still: null,
      inspect: null,
      part: null,
      pictures: [],
      seed: null,
      params: '{}',
      audio: [],
      hasSpeech: false,
      isTexHeld: false,
      isTransparent: false,
      hasColours: false,
      hasSections: false,
      limits,
    };
    const occupied: Occupied = { zygote, background: false, endReason: undefined };
    const timer = this.#settings.clock.after(OWN_RENDER_TIMEOUT_MS, () => zygote.killJob());
    try {
      const { verdict } = await this.#forks.run(occupied, folder, job, () => {});
      return verdict?.type === 'failed' ? verdict.error : verdict && null;
    } finally {
      timer.cancel();
      await discardFolder(folder, this.#events.onLog);
    }
  }
}
