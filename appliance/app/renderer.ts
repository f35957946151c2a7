import { resolve } from 'node:path';
import type { Logger, RendererOptions } from '../../lib/index.ts';
import { UnpackedRoot } from '../../lib/internal.ts';
import type { Config } from '../config/config.ts';
import { ownArchive } from '../packed/own-root.ts';

/**
 * Renderer options from the configuration. The single executable uses its own renderer root unless an interpreter is
 * configured: `root`, or one that is unpacked at the start of the service into the configured folder or `folder`;
 * `signal` aborts that. `say` shows the progress on a terminal, null when done; default: on a line of its own.
 */
export function rendererOptions(
  { python, rendererDir, insecureNoSandbox, check }: Config,
  options: { logger?: Logger; say?: Say; signal?: AbortSignal } & (
    | { folder: string }
    | { root: UnpackedRoot | undefined }
  ),
): RendererOptions {
  const { logger, say = showInLine, signal } = options;
  const how = { insecureNoSandbox, reader: check === 'on' };
  if (python !== undefined) return { python, ...how };
  const root = 'root' in options ? options.root : rootIn(resolve(rendererDir ?? options.folder));
  if (!root) return { ...how, ...(rendererDir !== undefined && { folder: rendererDir }) };
  return {
    ...how,
    root: async () => {
      await unpackWithProgress(root, { logger, show: say, signal });
      return root.path;
    },
  };
}

function rootIn(folder: string): UnpackedRoot | undefined {
  const archive = ownArchive();
  return archive && new UnpackedRoot({ archive, folder });
}

/** Shows a status text on a terminal; null clears it. */
export type Say = (words: string | null) => void;

/** Shows the progress on a terminal; otherwise logs or prints one line per step. */
async function unpackWithProgress(
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
      onWait: () => say('Waiting for another process that is unpacking the renderer'),
    });
  } finally {
    if (terminal && said) show(null);
  }
}

function showInLine(words: string | null): void {
  process.stderr.write(`\r${words ?? ''}\x1b[K`);
}
