import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { lstat } from 'node:fs/promises';
import { createConnection, type Socket } from 'node:net';
import { join } from 'node:path';
import { isSea } from 'node:sea';
import type {
  CheckedSource,
  ErrorCode,
  InspectedSource,
  LocalRender,
  LocalRenderer,
  LocalRequest,
  RenderProgress,
} from '../../lib/index.ts';
import { type LocalRenderOptions, type SceneFolder, ScenepressError } from '../../lib/internal.ts';
import type { Config } from '../config/config.ts';
import { VERSION } from '../support/version.ts';
import { receivedInspection, type SentInspection } from './sent-inspection.ts';
import { socketLines } from './socket-lines.ts';
import { warmFolder } from './warm-folder.ts';

/** Options of checks and inspections. */
export type CheckOptions = NonNullable<Parameters<LocalRenderer['inspect']>[1]>;
type SentOptions = Omit<NonNullable<Parameters<LocalRenderer['check']>[1]>, 'signal'>;

/** Caller to host, one for each connection. `code`: in base64. Hosts with another key are replaced. */
export type WarmRequest = { key: string; code: string } & (
  | { kind: 'list'; file?: string }
  | { kind: 'check'; options: SentOptions }
  | { kind: 'inspect'; options: Omit<SentOptions, 'dryRun'> }
  | { kind: 'render'; request: Omit<LocalRequest, 'code'> }
);

/** Host to caller. The files of a render are removed when the caller disconnects. */
export type WarmAnswer =
  | { kind: 'other' }
  | { kind: 'progress'; progress: RenderProgress }
  | { kind: 'output'; text: string }
  | { kind: 'scenes'; scenes: string[] }
  | { kind: 'checked'; checked: CheckedSource }
  | { kind: 'inspected'; inspected: SentInspection }
  | { kind: 'rendered'; render: LocalRender }
  | { kind: 'failed'; code: ErrorCode; message: string };

/** The part of a renderer that the command uses. */
export type Renders = Pick<LocalRenderer, 'scenesOf' | 'render' | 'discard'>;
/** A renderer of this machine. */
export type OwnRenders = Renders & Pick<LocalRenderer, 'check' | 'inspect'>;

type LastAnswer = Extract<WarmAnswer, { kind: 'scenes' | 'checked' | 'inspected' | 'rendered' }>;

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
/** The user of a host's renders when it runs as root: the default of `RendererOptions.uid`, for one worker. */
const RENDERS_UID = 58_000;

/** Identifies renderers that can be used for each other. */
export function warmKey(...parts: unknown[]): string {
  const program = [VERSION, process.execPath, process.argv[1]];
  return createHash('sha256')
    .update(JSON.stringify([program, parts]))
    .digest('hex');
}

/** The path of a renderer's socket; undefined if there is no safe folder for it. */
export async function warmSocket(): Promise<string | undefined> {
  const folder = await warmFolder();
  return folder && join(folder, 'renderer.sock');
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
export class WarmRenderer implements OwnRenders {
  readonly #host: HostSettings;
  readonly #open = new WeakMap<LocalRender, Socket>();

  constructor(host: HostSettings) {
    this.#host = host;
  }

  async scenesOf(
    code: LocalRequest['code'],
    { signal, ...source }: { signal?: AbortSignal; file?: string } = {},
  ): Promise<string[]> {
    const { answer, socket } = await this.#ask(
      { key: this.#host.key, kind: 'list', code: base64(code), ...source },
      signal ? { signal } : {},
    );
    socket.destroy();
    return answer.kind === 'scenes' ? answer.scenes : [];
  }

  async check(
    code: LocalRequest['code'],
    { signal, ...options }: SentOptions & { signal?: AbortSignal } = {},
  ): Promise<CheckedSource> {
    const answer = await this.#answer({ kind: 'check', code: base64(code), options }, signal);
    if (answer.kind !== 'checked') throw gone();
    return answer.checked;
  }

  async inspect(
    code: LocalRequest['code'],
    { signal, ...options }: CheckOptions = {},
  ): Promise<InspectedSource> {
    const answer = await this.#answer({ kind: 'inspect', code: base64(code), options }, signal);
    if (answer.kind !== 'inspected') throw gone();
    return receivedInspection(answer.inspected);
  }

  async #answer(
    request: { kind: 'check' | 'inspect'; code: string; options: SentOptions },
    signal: AbortSignal | undefined,
  ): Promise<LastAnswer> {
    const asked = { ...request, key: this.#host.key };
    const { answer, socket } = await this.#ask(asked, signal ? { signal } : {});
    socket.destroy();
    return answer;
  }

  async render({ code, ...request }: LocalRequest, options: LocalRenderOptions = {}): Promise<LocalRender> {
    const { key } = this.#host;
    const { answer, socket } = await this.#ask({ key, kind: 'render', code: base64(code), request }, options);
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

  /** Asks the host; starts one if there is none, or if it has other settings. */
  async #ask(
    request: WarmRequest,
    options: LocalRenderOptions,
  ): Promise<{ answer: LastAnswer; socket: Socket }> {
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
): Promise<{ answer: LastAnswer; socket: Socket } | undefined> {
  const interrupt = () => socket.destroy();
  signal?.addEventListener('abort', interrupt);
  let isAnswered = false;
  socket.write(`${JSON.stringify(request)}\n`);
  try {
    for await (const line of socketLines(socket)) {
      const answer = JSON.parse(line) as WarmAnswer;
      if (answer.kind === 'progress') onProgress?.(answer.progress);
      else if (answer.kind === 'output') onOutput?.(answer.text);
      else if (answer.kind === 'failed') throw new ScenepressError(answer.code, answer.message);
      else if (answer.kind === 'other') return undefined;
      else {
        isAnswered = true;
        return { answer, socket };
      }
    }
  } finally {
    signal?.removeEventListener('abort', interrupt);
    // An open one keeps this process running, and the host, which waits for its callers to leave.
    if (!isAnswered) socket.destroy();
  }
  signal?.throwIfAborted();
  throw gone();
}

/** Starts a host, and waits until it listens. */
async function startHost(settings: HostSettings): Promise<void> {
  const child = startOwn({ [HOST_VARIABLE]: JSON.stringify(settings) });
  await new Promise<void>((resolve, reject) => {
    child.once('message', () => resolve());
    child.once('error', reject);
    child.once('exit', () => reject(gone()));
  });
  child.removeAllListeners();
  if (child.connected) child.disconnect();
  child.unref();
}

/** Starts a background process of this program, with a channel for messages. */
export function startOwn(variables: Record<string, string>): ChildProcess {
  const program = isSea() ? [] : [...process.execArgv, process.argv[1] as string];
  return spawn(process.execPath, [...program, 'render', '-'], {
    env: { ...process.env, ...variables },
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    detached: true,
  });
}

function base64(code: LocalRequest['code']): string {
  return Buffer.from(code as Uint8Array).toString('base64');
}

function gone(): ScenepressError {
  return new ScenepressError(
    'renderer_unavailable',
    'The renderer ended unexpectedly. Try again, or use --keep-warm 0.',
  );
}
