import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import type { RenderLimits } from '../run/limits.ts';
import type { ZygoteReady } from '../run/protocol.ts';
import type { RenderedFile } from '../run/render-task.ts';
import { JobCgroup } from '../sandbox/cgroup.ts';
import { type Launcher, type RendererRole, zygoteCommandLine } from '../start/launcher.ts';
import { Zygote, ZygoteDied } from '../start/zygote.ts';

/** What a process that forks jobs is started with. */
export interface ZygoteSettings {
  /** Tells the worker's user id and control groups from the others'. */
  index: number;
  launcher: Launcher;
  limits: RenderLimits;
}

/** Starts a process of a worker's that forks jobs, in a control group of its own where there are any. */
export function startZygote(
  { launcher, index, limits }: ZygoteSettings,
  { workFolder, role, onLog }: { workFolder: string; role: RendererRole; onLog: (line: string) => void },
): Promise<[Zygote, ZygoteReady]> {
  const home = launcher.cgroups.folder;
  const cgroup = home === undefined ? undefined : JobCgroup.make(home, index, limits);
  const commandLine = zygoteCommandLine(launcher, { index, workFolder, role, cgroup: cgroup !== undefined });
  return Zygote.start(commandLine, { onLog, silenceTimeoutMs: launcher.silenceTimeoutMs, cgroup });
}

/**
 * The process that what scenes leave is decoded in, by forks of it: apart from zygotes, so that a scene, which knows
 * its zygote's memory, knows nothing of where things are in this one's. It has no Manim, only what decodes. It is
 * started by the first who asks for it, and again by the first after its death.
 */
export class Inspector {
  readonly #start: () => Promise<[Zygote, ZygoteReady]>;
  readonly #onDeath: (reason: string) => void;
  #started: Promise<Zygote> | undefined;
  /** It is warm. */
  alive = false;

  /** `onDeath`: called when it has died, not when it is stopped nor when it could not be started. */
  constructor(options: { start: () => Promise<[Zygote, ZygoteReady]>; onDeath: (reason: string) => void }) {
    this.#start = options.start;
    this.#onDeath = options.onDeath;
  }

  /** The process, warm. Rejects when it can't be started. */
  ready(): Promise<Zygote> {
    if (this.#started !== undefined) return this.#started;
    // After a stop another may be started before the one that was stopped is gone.
    const started = this.#warmUp(() => this.#started === started);
    this.#started = started;
    return started;
  }

  /** Ends it with what it runs; resolves when it is gone. */
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
      if (isCurrent()) this.alive = true;
      zygote.onDeath = (reason) => {
        if (!isCurrent()) return; // It was stopped.
        this.alive = false;
        this.#started = undefined;
        this.#onDeath(`the inspector: ${reason}`);
      };
      return zygote;
    } catch (error) {
      if (isCurrent()) this.#started = undefined;
      throw error;
    }
  }
}

/** Throws unless an inspection has all walls around it that scenes have. */
export function assertSameWalls(inspector: Zygote, zygote: Zygote): void {
  const missing = zygote.layers.filter((layer) => !inspector.layers.includes(layer));
  if (missing.length === 0) return;
  throw new ZygoteDied(`the inspector's sandbox lacks what scenes have around them: ${missing.join(', ')}`);
}

/** What an inspection writes, by the names that it is published under. */
const PUBLISHED: RenderedFile['name'][] = ['video.mp4', 'thumbnail.jpg', 'captions.vtt'];
const WRITTEN_AS: Partial<Record<RenderedFile['name'], string>> = {
  'video.mp4': 'published.mp4',
  'captions.vtt': 'published.vtt',
};

/** The files that an inspection has written into a folder; undefined when one that there must be isn't there. */
export async function publishedFiles(folder: string): Promise<RenderedFile[] | undefined> {
  const files: RenderedFile[] = [];
  for (const name of PUBLISHED) {
    const path = join(folder, WRITTEN_AS[name] ?? name);
    const status = await lstat(path).catch(() => undefined);
    if (status?.isFile() && status.nlink === 1) files.push({ name, path });
    else if (status || name !== 'captions.vtt') return undefined;
  }
  return files;
}
