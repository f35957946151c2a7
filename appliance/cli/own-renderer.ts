import { rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { LocalRenderer } from '../../lib/index.ts';
import { ownCacheFolder, type SceneFolder } from '../../lib/internal.ts';
import type { Config } from '../config/config.ts';
import { interruptible } from '../runtime/interruptible.ts';
import { type CommandRendererOptions, withRenderer } from '../runtime/with-renderer.ts';
import { flagsOf } from './config-flags.ts';
import type { ProgressLine } from './progress-line.ts';
import { hostRenderer } from './warm-host.ts';
import { type HostSettings, type OwnRenders, WarmRenderer, warmKey, warmSocket } from './warm-renderer.ts';

/** Options of the configuration that a renderer of this machine's user has. */
export const RENDERER_FLAGS: ReturnType<typeof flagsOf> = flagsOf('render');
/** Options with paths, which a host must not resolve in another folder. */
const PATHS = ['python', 'rendererDir', 'studioDir'] as const;
const KEPT_MINUTES = 5;

interface OwnRenderer {
  /** That scenes may read; null: none. */
  folder: SceneFolder | null;
  config: Config;
  workers: number;
  /** How long it is kept for the next call; default: 5 in a terminal, else 0. */
  keepWarm: number | undefined;
  /** It is used for more than one call's time. */
  isLasting?: boolean;
  progress: ProgressLine;
}

/** Calls `work` with a renderer of this machine: one that an earlier call has kept, or a new one. */
export async function withOwnRenderer(
  { folder, config, workers, keepWarm, isLasting = false, progress }: OwnRenderer,
  work: (renderer: OwnRenders, interrupted: AbortSignal) => Promise<void>,
): Promise<void> {
  const idleMs = (keepWarm ?? (process.stderr.isTTY ? KEPT_MINUTES : 0)) * 60_000;
  const path = idleMs > 0 && workers === 1 && !isLasting ? await warmSocket() : undefined;
  if (path !== undefined) {
    const used: Partial<Config> = Object.fromEntries(RENDERER_FLAGS.map((name) => [name, config[name]]));
    for (const name of PATHS) if (used[name] !== undefined) used[name] = resolve(used[name]);
    const warm = new WarmRenderer({ path, key: warmKey(folder, used), idleMs, folder, config: used });
    return interruptible((signal) => work(warm, signal));
  }
  const start = async (renderer: LocalRenderer, interrupted: AbortSignal) => {
    progress.start();
    await renderer.start().finally(() => progress.stop());
    await work(renderer, interrupted);
  };
  const make = (options: CommandRendererOptions) => localRenderer(options, workers, folder);
  await withRenderer(config, make, start, { say: (words) => progress.say(words), lasting: true });
}

/** Keeps a renderer for calls of the command. */
export async function hostOwnRenderer({ folder, config, ...settings }: HostSettings): Promise<void> {
  const make = (options: CommandRendererOptions) => localRenderer(options, 1, folder);
  const serve = (renderer: LocalRenderer, signal: AbortSignal) =>
    hostRenderer(renderer, { ...settings, signal });
  // The missing options do not affect a renderer.
  await withRenderer(config as Config, make, serve, { lasting: true });
}

/** The last videos of scenes, of which the next renders copy the frames that are equal. */
export function keptVideosFolder(): string | undefined {
  const folder = ownCacheFolder();
  return folder && join(folder, 'videos');
}

export async function forgetKeptVideos(): Promise<void> {
  const folder = keptVideosFolder();
  if (folder !== undefined) await rm(folder, { recursive: true, force: true });
}

function localRenderer(
  options: CommandRendererOptions,
  workers: number,
  folder: SceneFolder | null,
): LocalRenderer {
  const cache = keptVideosFolder();
  return new LocalRenderer({
    ...options,
    workers,
    ...(folder && { sceneFolder: folder }),
    ...(cache !== undefined && { cacheFolder: cache }),
  });
}
