import type { RenderLimits } from '../../model/limits.ts';
import type { ZygoteReady } from '../../model/zygote-messages.ts';
import type { Clock } from '../../time/clock.ts';
import { JobCgroup } from '../sandbox/cgroup.ts';
import { type Launcher, type RendererRole, zygoteCommandLine } from './launcher.ts';
import type { Processes } from './processes.ts';
import { Zygote, ZygoteDied } from './zygote.ts';

/** Settings of a process that forks jobs. */
export interface ZygoteSettings {
  /** The worker number, which determines its user id and control groups. */
  index: number;
  launcher: Launcher;
  limits: RenderLimits;
  clock: Clock;
  processes: Processes;
}

/** Starts a process that forks jobs, in its own control group when available. */
export function startZygote(
  { launcher, index, limits, clock, processes }: ZygoteSettings,
  { workFolder, role, onLog }: { workFolder: string; role: RendererRole; onLog: (line: string) => void },
): Promise<[Zygote, ZygoteReady]> {
  const home = launcher.cgroups.folder;
  const cgroup = home === undefined ? undefined : JobCgroup.make(home, index, limits);
  const commandLine = zygoteCommandLine(launcher, { index, workFolder, role, cgroup: cgroup !== undefined });
  const { silenceTimeoutMs } = launcher;
  return Zygote.start(commandLine, { onLog, silenceTimeoutMs, clock, cgroup, processes });
}

/**
 * The process whose forks encode the frames of scenes. Separate from the zygotes, because a scene knows the memory
 * layout of its zygote, but not of this process, which has not imported Manim. Started on demand, also after its death.
 */
export class EncoderProcess {
  readonly #start: () => Promise<[Zygote, ZygoteReady]>;
  readonly #onWarm: () => void;
  readonly #onDeath: (reason: string) => void;
  #started: Promise<Zygote> | undefined;
  /** Whether it is warm. */
  alive = false;

  /** `onDeath`: called when it dies, but not when it is stopped or fails to start. */
  constructor(options: {
    start: () => Promise<[Zygote, ZygoteReady]>;
    onWarm: () => void;
    onDeath: (reason: string) => void;
  }) {
    this.#start = options.start;
    this.#onWarm = options.onWarm;
    this.#onDeath = options.onDeath;
  }

  /** The warm process. Rejects when it fails to start. */
  ready(): Promise<Zygote> {
    if (this.#started !== undefined) return this.#started;
    // After a stop, a new process may be started before the old one is gone.
    const started = this.#warmUp(() => this.#started === started);
    this.#started = started;
    return started;
  }

  /** Ends the process and its job; resolves when it is gone. */
  async stop(): Promise<void> {
    const started = this.#started;
    this.#started = undefined;
    this.alive = false;
    const zygote = await started?.catch(() => undefined);
    await zygote?.stop();
  }

  async #warmUp(isCurrent: () => boolean): Promise<Zygote> {
    try {
      const [zygote] = await this.#start();
      zygote.once('death', (reason) => {
        if (!isCurrent()) return; // It was stopped.
        this.alive = false;
        this.#started = undefined;
        this.#onDeath(`the encoder: ${reason}`);
      });
      if (isCurrent()) {
        this.alive = true;
        this.#onWarm();
      }
      return zygote;
    } catch (error) {
      if (isCurrent()) this.#started = undefined;
      throw error;
    }
  }
}

/** Asserts that encodings have all sandbox layers of scenes. */
export function assertSameLayers(encoder: Zygote, zygote: Zygote): void {
  const missing = zygote.layers.filter((layer) => !encoder.layers.includes(layer));
  if (missing.length === 0) return;
  throw new ZygoteDied(`the encoder's sandbox lacks what scenes have around them: ${missing.join(', ')}`);
}
