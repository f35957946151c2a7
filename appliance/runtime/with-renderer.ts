import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { RendererOptions, RenderLimits } from '../../lib/index.ts';
import { ownCacheFolder, type SpeechOptions, type UnpackedRoot } from '../../lib/internal.ts';
import { limitsOf } from '../app/render-limits.ts';
import { rendererOptions, type Say } from '../app/renderer.ts';
import { speechOf } from '../app/speech.ts';
import type { Config } from '../config/config.ts';
import { programsFolder, rootForCommand } from '../packed/own-root.ts';
import { UserError } from '../support/user-error.ts';
import { interruptible } from './interruptible.ts';

/** Parts of a renderer of a command: options of `RenderService` and `LocalRenderer`. */
export interface CommandRendererOptions {
  /** A temporary folder. */
  folder: string;
  limits: Partial<RenderLimits>;
  studioFolder?: string;
  renderer: RendererOptions;
  speech?: SpeechOptions;
}

/**
 * Runs `work` with the renderer that `make` creates in a temporary folder, which is removed afterwards, also on Ctrl-C
 * (`interrupted`). `say` shows on a terminal the progress of unpacking the renderer. `lasting`: in the single
 * executable, keep the unpacked renderer for the next command.
 */
export async function withRenderer<Made extends { stop(): Promise<void> }>(
  config: Config,
  make: (options: CommandRendererOptions) => Made,
  work: (renderer: Made, interrupted: AbortSignal, root: UnpackedRoot | undefined) => Promise<void>,
  { say, lasting }: { say?: Say; lasting: boolean },
): Promise<void> {
  await interruptible(async (signal) => {
    const root = config.python === undefined ? await rootForCommand(config, { lasting }) : undefined;
    const folder = await makeFolder(await programsFolder(root));
    const made = make({
      folder,
      limits: limitsOf(config),
      ...speechOf(config, ownCacheFolder()),
      ...(config.studioDir !== undefined && { studioFolder: config.studioDir }),
      renderer: rendererOptions(config, { root, signal, ...(say && { say }) }),
    });
    let stopped: Promise<void> | undefined;
    const stop = () => {
      stopped ??= made.stop();
      return stopped;
    };
    signal.addEventListener('abort', stop);
    try {
      await work(made, signal, root);
    } finally {
      await stop();
      await rm(folder, { recursive: true, force: true });
      await root?.end();
    }
  });
}

async function makeFolder(place: string): Promise<string> {
  try {
    await mkdir(place, { recursive: true });
    return await mkdtemp(join(place, 'scenepress-'));
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    throw new UserError(
      `Cannot create a temporary folder in ${place} (${code}). Set TMPDIR to a folder in which this user may write ` +
        'files and execute programs.',
      { cause },
    );
  }
}
