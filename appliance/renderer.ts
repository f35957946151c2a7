import { resolve } from 'node:path';
import type { Logger, RendererOptions } from '../lib/index.ts';
import type { Config } from './config/config.ts';
import { ownArchive } from './packed/archive.ts';
import { UnpackedRoot } from './packed/unpacked-root.ts';

/**
 * What renders, as the configuration says. In the single executable it is the root that it carries (`root`, or else one
 * unpacked in `folder`), unless another folder or an interpreter is configured, when the service starts; `signal` ends that. `say` shows
 * on a terminal how far it is, and null when it is done; without it, a line of its own does.
 */
export function rendererOptions(
  { python, rendererDir, insecureNoSandbox }: Config,
  options: { logger?: Logger; say?: Say; signal?: AbortSignal } & (
    | { folder: string }
    | { root: UnpackedRoot | undefined }
  ),
): RendererOptions {
  const { logger, say = sayInLine, signal } = options;
  if (python !== undefined) return { python, insecureNoSandbox };
  const root = 'root' in options ? options.root : rootIn(resolve(rendererDir ?? options.folder));
  if (!root) return { insecureNoSandbox };
  return {
    insecureNoSandbox,
    root: async () => {
      await unpackWithWords(root, { logger, show: say, signal });
      return root.path;
    },
  };
}

function rootIn(folder: string): UnpackedRoot | undefined {
  const archive = ownArchive();
  return archive && new UnpackedRoot({ archive, folder });
}

/** Shows on a terminal what happens; null: nothing any more. */
export type Say = (words: string | null) => void;

/** On a terminal the progress is shown; else it is logged, or said, once. */
async function unpackWithWords(
  root: UnpackedRoot,
  { logger, show, signal }: { logger: Logger | undefined; show: Say; signal: AbortSignal | undefined },
): Promise<void> {
  const terminal = process.stderr.isTTY;
  let said: string | undefined;
  const say = (message: string, progress = '') => {
    if (terminal) show(`${message} … ${progress}`);
    else if (said !== message && logger) logger.info({ folder: root.path }, message);
    else if (said !== message) process.stderr.write(`${message} …\n`);
    said = message;
  };
  try {
    await root.start({
      ...(signal && { signal }),
      onProgress: (part) =>
        say('Unpacking the renderer, once for this version', `${Math.floor(part * 100)} %`),
      onWait: () => say('Waiting for another process that unpacks the renderer'),
    });
  } finally {
    if (terminal && said) show(null);
  }
}

function sayInLine(words: string | null): void {
  process.stderr.write(`\r${words ?? ''}\x1b[K`);
}
