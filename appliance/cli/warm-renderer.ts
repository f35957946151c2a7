import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import type { Stats } from 'node:fs';
import { lstat, mkdir, stat } from 'node:fs/promises';
import { createConnection, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { isSea } from 'node:sea';
import {
  type ErrorCode,
  type LocalRender,
  type LocalRenderer,
  type LocalRenderOptions,
  type LocalRequest,
  type RenderProgress,
  type SceneFolder,
  ScenepressError,
} from '../../lib/index.ts';
import type { Config } from '../config/config.ts';
import { VERSION } from '../version.ts';

/** Caller to host, one for each connection. Hosts with another key are replaced. */
export type WarmRequest = { key: string } & (
  | { kind: 'list'; code: string }
  | { kind: 'render'; request: LocalRequest }
);

/** Host to caller. The files of a render are removed when the caller disconnects. */
export type WarmAnswer =
  | { kind: 'other' }
  | { kind: 'progress'; progress: RenderProgress }
  | { kind: 'output'; text: string }
  | { kind: 'scenes'; scenes: string[] }
  | { kind: 'rendered'; render: LocalRender }
  | { kind: 'failed'; code: ErrorCode; message: string };

/** The part of a renderer that the command uses. */
export type Renders = Pick<LocalRenderer, 'scenesOf' | 'render' | 'discard'>;

/** The parameters of a host. Plain data: it is passed as the value of {@link HOST_VARIABLE}. */
export interface HostSettings {
  /** The path of its socket. */
  path: string;
  key: string;
  idleMs: number;
  folder: SceneFolder | null;
  config: Partial<Config>;
}

/** Set in the environment of the process that keeps a renderer, to its {@link HostSettings} as JSON. */
export const HOST_VARIABLE = 'SCENEPRESS_WARM_HOST';
const OWN_ONLY = 0o077;
const STICKY = 0o1000;
const OTHERS_WRITE = 0o002;
/** The user of a host's renders when it runs as root: the default of `RendererOptions.uid`, for one worker. */
const RENDERS_UID = 58_000;

/** Identifies renderers that can be used for each other. */
export function warmKey(...parts: unknown[]): string {
  const program = [VERSION, process.execPath, process.argv[1]];
  return createHash('sha256')
    .update(JSON.stringify([program, parts]))
    .digest('hex');
}

/** The path of the socket, in a folder that only this user can enter or replace; undefined if there is none. */
export async function warmSocket(): Promise<string | undefined> {
  const uid = process.getuid?.();
  if (uid === undefined) return undefined;
  const runtime = process.env['XDG_RUNTIME_DIR'];
  const folder = runtime ? join(runtime, 'scenepress') : join(tmpdir(), `scenepress-${uid}`);
  const parent = await stat(dirname(folder)).catch(() => undefined);
  if (!parent || !isKeptFor(uid, parent)) return undefined;
  await mkdir(folder, { mode: 0o700 }).catch(() => {}); // It exists, or is found missing below.
  const status = await lstat(folder).catch(() => undefined);
  const isOurs = status?.isDirectory() && status.uid === uid && (status.mode & OWN_ONLY) === 0;
  return isOurs ? join(folder, 'renderer.sock') : undefined;
}

/** Whether others can't rename the entries that a user has in a folder. */
function isKeptFor(owner: number, { uid, mode }: Stats): boolean {
  return (
    (uid === owner && (mode & OTHERS_WRITE) === 0) || ((uid === owner || uid === 0) && (mode & STICKY) !== 0)
  );
}

/** Whether a path is a regular file, not a link, of this user or its renders. */
async function isOwnFile(path: unknown): Promise<boolean> {
  if (typeof path !== 'string') return false;
  const status = await lstat(path).catch(() => undefined);
  const own = process.getuid?.();
  const isOwn = status?.uid === own || (own === 0 && status?.uid === RENDERS_UID);
  return isOwn && status?.isFile() === true && status.nlink === 1;
}

/** A renderer in a process that stays for later calls of the command. */
export class WarmRenderer implements Renders {
  readonly #host: HostSettings;
  readonly #open = new WeakMap<LocalRender, Socket>();

  constructor(host: HostSettings) {
    this.#host = host;
  }

  async scenesOf(code: string, { signal }: { signal?: AbortSignal } = {}): Promise<string[]> {
    const { answer, socket } = await this.#ask(
      { key: this.#host.key, kind: 'list', code },
      signal ? { signal } : {},
    );
    socket.destroy();
    return answer.kind === 'scenes' ? answer.scenes : [];
  }

  async render(request: LocalRequest, options: LocalRenderOptions = {}): Promise<LocalRender> {
    const { key } = this.#host;
    const { answer, socket } = await this.#ask({ key, kind: 'render', request }, options);
    const own = answer.kind === 'rendered' ? answer.render.files.map(({ path }) => isOwnFile(path)) : [];
    if (answer.kind !== 'rendered' || (await Promise.all(own)).includes(false)) {
      socket.destroy();
      throw gone();
    }
    this.#open.set(answer.render, socket);
    return answer.render;
  }

  async discard(render: LocalRender): Promise<void> {
    this.#open.get(render)?.end();
  }

  /** Asks the host; starts one if there is none, or only one for something else. */
  async #ask(
    request: WarmRequest,
    options: LocalRenderOptions,
  ): Promise<{ answer: Extract<WarmAnswer, { kind: 'scenes' | 'rendered' }>; socket: Socket }> {
    const { path } = this.#host;
    const found = await connect(path);
    const first = found && (await exchange(found, request, options));
    if (first) return first;
    await startHost(this.#host);
    const socket = await connect(path);
    const second = socket && (await exchange(socket, request, options));
    if (!second) throw gone();
    return second;
  }
}

/** Undefined when no process listens on the socket. */
async function connect(path: string): Promise<Socket | undefined> {
  const socket = createConnection(path);
  return new Promise((resolve) => {
    socket.once('connect', () => resolve(socket));
    socket.once('error', () => resolve(undefined));
  });
}

/** Undefined if the host is for something else. */
async function exchange(
  socket: Socket,
  request: WarmRequest,
  { signal, onProgress, onOutput }: LocalRenderOptions,
): Promise<{ answer: Extract<WarmAnswer, { kind: 'scenes' | 'rendered' }>; socket: Socket } | undefined> {
  const interrupt = () => socket.destroy();
  const lines = createInterface({ input: socket });
  socket.once('close', () => lines.close()); // A destroyed socket has no end.
  signal?.addEventListener('abort', interrupt);
  socket.write(`${JSON.stringify(request)}\n`);
  try {
    for await (const line of lines) {
      const answer = JSON.parse(line) as WarmAnswer;
      if (answer.kind === 'progress') onProgress?.(answer.progress);
      else if (answer.kind === 'output') onOutput?.(answer.text);
      else if (answer.kind === 'failed') throw new ScenepressError(answer.code, answer.message);
      else return answer.kind === 'other' ? undefined : { answer, socket };
    }
  } finally {
    signal?.removeEventListener('abort', interrupt);
  }
  signal?.throwIfAborted();
  throw gone();
}

/** Starts a host, and waits until it listens. */
async function startHost(settings: HostSettings): Promise<void> {
  const program = isSea() ? [] : [...process.execArgv, process.argv[1] as string];
  const child: ChildProcess = spawn(process.execPath, [...program, 'render', '-'], {
    env: { ...process.env, [HOST_VARIABLE]: JSON.stringify(settings) },
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    detached: true,
  });
  await new Promise<void>((resolve, reject) => {
    child.once('message', () => resolve());
    child.once('error', reject);
    child.once('exit', () => reject(gone()));
  });
  child.removeAllListeners();
  if (child.connected) child.disconnect();
  child.unref();
}

function gone(): ScenepressError {
  return new ScenepressError(
    'renderer_unavailable',
    'The renderer ended unexpectedly. Try again, or use --keep-warm 0.',
  );
}
