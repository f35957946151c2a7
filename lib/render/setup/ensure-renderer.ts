import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { ScenepressError } from '../../base/errors.ts';
import { known } from '../../base/known-options.ts';
import { checkMachine } from '../environment/machine.ts';
import {
  environmentFolder,
  type FoundRenderer,
  findRenderer,
  packageRoot,
  rendererFolder,
  rootPrefix,
} from '../environment/renderer-folder.ts';
import { openArchive } from './archive-file.ts';
import { finishRoot } from './finish-root.ts';
import { UnpackedRoot } from './unpacked-root.ts';

/** The current step of {@link ensureRenderer}. */
export interface SetUpProgress {
  /** For people, such as `Building the Python environment`. */
  message: string;
  /** The completed fraction, 0 to 1; null if it isn't known. */
  fraction: number | null;
}

/** Options of {@link ensureRenderer}. */
export interface EnsureRendererOptions {
  /**
   * Where it is set up, once for all projects that use this version. Default: `SCENEPRESS_RENDERER_DIR`, or
   * `$XDG_CACHE_HOME/scenepress` (`~/.cache/scenepress`), or `/var/cache/scenepress` for root. Required for a user without a
   * home folder.
   */
  folder?: string;
  /**
   * The renderer as a file: the single executable of this version, or a `root-….tar.zst` of `npm run build:root`. With
   * it, nothing is downloaded, and the machine needs no Python, TeX or fonts. Default: builds a Python environment from
   * the network, which takes some minutes.
   */
  archive?: string;
  /** Receives the current step. Not called if the renderer is there. */
  onProgress?: (progress: SetUpProgress) => void;
  /** Aborts the set-up, which rejects with its reason. The next one completes it. */
  signal?: AbortSignal;
}

/**
 * Sets up the Python side of the renderer, outside of `node_modules`, unless it is there, which takes milliseconds. A
 * service finds it there by default; with a `folder`, give it the result as its option `renderer`. Several processes
 * may do this at the same time: one works, the others wait.
 *
 * Error: `renderer_unavailable`; the message says what is missing and how to get it, such as a system package.
 *
 * ```ts
 * const renderer = await ensureRenderer({ archive: './scenepress', onProgress: console.log });
 * const service = new RenderService({ folder: './renders', renderer });
 * ```
 */
export async function ensureRenderer(options: EnsureRendererOptions = {}): Promise<FoundRenderer> {
  known('ensureRenderer', options, { folder: true, archive: true, onProgress: true, signal: true });
  checkMachine();
  const folder = resolve(options.folder ?? rendererFolder());
  options.signal?.throwIfAborted();
  if (options.archive !== undefined) return unpackRenderer(folder, options.archive, options);
  return (await findRenderer(folder)) ?? buildEnvironment(folder, options);
}

async function unpackRenderer(
  folder: string,
  file: string,
  { onProgress = () => {}, signal }: EnsureRendererOptions,
): Promise<FoundRenderer> {
  const archive = await openArchive(file);
  const named = { ...archive, name: `${rootPrefix().replace(/^root-/, '')}${archive.name}` };
  const finish = (tree: string) => finishRoot(tree, archive.file);
  const root = new UnpackedRoot({ archive: named, folder, keepsOthers: true, finish });
  if (await root.isWhole()) return { root: root.path };
  await root.start({
    signal,
    onProgress: (fraction) => onProgress({ message: 'Unpacking the renderer', fraction }),
    onWait: () => onProgress({ message: 'Waiting for another set-up to finish', fraction: null }),
  });
  await root.flushed;
  root.stop();
  return { root: root.path };
}

/** In a process of its own, because the set-up changes the umask and waits for locks. */
async function buildEnvironment(
  folder: string,
  { onProgress = () => {}, signal }: EnsureRendererOptions,
): Promise<FoundRenderer> {
  const place = environmentFolder(folder);
  const program = join(packageRoot(), 'scripts', 'setup', 'environment-process.mjs');
  const child = fork(program, [place], {
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    execArgv: [],
    detached: true, // A process group, which can be stopped as a whole.
  });
  const stop = () => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    } catch {
      // It has ended.
    }
  };
  signal?.addEventListener('abort', stop);
  let problem: string | undefined;
  child.on('message', (message: { message: string } | { problem: string }) => {
    if ('problem' in message) problem = message.problem;
    else onProgress({ message: message.message, fraction: null });
  });
  try {
    const [complaint, [status]] = await Promise.all([
      text(child.stderr ?? new ReadableStream()),
      once(child, 'close') as Promise<[number | null]>,
    ]);
    signal?.throwIfAborted();
    if (status !== 0) {
      const reason = problem ?? `The set-up of the renderer ended with status ${status}: ${complaint.trim()}`;
      throw new ScenepressError('renderer_unavailable', reason);
    }
  } finally {
    signal?.removeEventListener('abort', stop);
  }
  return { python: join(place, 'bin', 'python') };
}
