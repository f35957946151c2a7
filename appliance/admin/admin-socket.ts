import { constants } from 'node:fs';
import { chmod, type FileHandle, lstat, open, rm } from 'node:fs/promises';
import { request as httpRequest } from 'node:http';
import { text } from 'node:stream/consumers';
import type { Server } from '@hapi/hapi';
import type { ErrorCode } from '../../lib/index.ts';
import { DATA_FILES, isScenepressError, ScenepressError } from '../../lib/internal.ts';
import { createListener, guardListener } from '../edge/listener.ts';
import type { Logger } from '../support/log.ts';
import { UserError } from '../support/user-error.ts';
import type { Administration } from './administration.ts';
import { OPERATIONS, type Operation as Rules } from './operations.ts';

/** How long to wait for an answer. A server answers sooner, even while its database is down. */
const MOST_SILENT_MS = 15_000;
const OTHER_VERSION =
  'The server of this data folder runs another version of Scenepress. Restart it with this version.';

const LOOK_MS = 1_000;

/** All commands count as one client. */
const CAPS = { total: 128, perAddress: 128 };

interface Reply {
  answer?: unknown;
  error?: { code?: ErrorCode; message: string };
}

type Operation = (request: unknown) => Promise<unknown>;

/** `await` reads this member of any object. */
const NOT_AN_OPERATION = 'then';

/**
 * Lets the command line administrate while the server owns the data folder: `POST /<noun>/<operation>`, as
 * `/jobs/cancel`, over a Unix socket in the folder. Only the user that the server runs as can connect.
 */
export class AdminSocket {
  readonly #folder: string;
  readonly #administration: RemoteAdministration;
  readonly #logger: Logger;
  #hapi: Server | undefined;
  #directory: FileHandle | undefined;
  /** The inode of the socket. */
  #inode: number | undefined;
  #timer: NodeJS.Timeout | undefined;
  #restoring: Promise<void> | undefined;

  constructor(options: { folder: string; administration: RemoteAdministration; logger: Logger }) {
    this.#folder = options.folder;
    this.#administration = options.administration;
    this.#logger = options.logger;
  }

  async start(): Promise<void> {
    this.#directory = await openDirectory(this.#folder);
    await this.#listen(this.#directory);
    this.#timer = setInterval(() => this.#look(), LOOK_MS).unref();
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#restoring;
    await this.#hapi?.stop({ timeout: 5_000 });
    await this.#directory?.close();
    this.#hapi = undefined;
    this.#directory = undefined;
  }

  async #listen(directory: FileHandle): Promise<void> {
    const path = shortPath(directory);
    // A killed server leaves its socket behind. This process owns the folder, so no other one listens on it.
    await rm(path, { force: true });
    // Loaded here, because most commands only connect.
    const { server: createHapi } = await import('@hapi/hapi');
    const { listener } = createListener();
    const hapi = createHapi({ port: path, listener, debug: false });
    // Only the server's own user can connect, but its programs may hang or fail too.
    guardListener(listener, { caps: CAPS, logger: this.#logger });
    hapi.route({
      method: 'POST',
      path: '/{noun}/{operation}',
      options: { payload: { protoAction: 'ignore' }, response: { emptyStatusCode: 200 } },
      handler: ({ params, payload }) =>
        this.#handle(String(params['noun']), String(params['operation']), payload),
    });
    await hapi.start();
    this.#hapi = hapi;
    await chmod(path, 0o600);
    this.#inode = (await lstat(path)).ino;
  }

  /** Without its socket, commands would take a healthy server for one that hangs. */
  #look(): void {
    const directory = this.#directory;
    if (!directory || this.#restoring !== undefined) return;
    this.#restoring = this.#restore(directory)
      .catch((err: unknown) =>
        this.#logger.debug({ err }, 'The socket of the administration cannot be made again.'),
      )
      .finally(() => {
        this.#restoring = undefined;
      });
  }

  /** Addresses the folder by its descriptor: another one may be at its path. */
  async #restore(directory: FileHandle): Promise<void> {
    const found = await lstat(shortPath(directory)).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error;
    });
    if (found?.ino === this.#inode) return;
    // The folder itself was removed.
    if ((await directory.stat()).nlink === 0) return;
    await this.#hapi?.stop({ timeout: 0 });
    await this.#listen(directory);
    const { adminSocket } = DATA_FILES;
    this.#logger.warn(
      { folder: this.#folder },
      `The socket ${adminSocket} was removed or replaced. It is made again.`,
    );
  }

  async #handle(noun: string, name: string, request: unknown): Promise<object> {
    const call = operationOf(this.#administration, noun, name);
    if (!call) return { error: { message: OTHER_VERSION } };
    const operation = `${noun}.${name}`;
    try {
      const answer = await call(request);
      // `job watch` polls several times a second.
      this.#logger[/^(show|list)/.test(name) ? 'debug' : 'info']({ operation }, 'administration');
      return { answer };
    } catch (error) {
      if (isScenepressError(error)) return { error: { code: error.code, message: error.message } };
      this.#logger.error({ operation, err: error }, 'administration failed');
      return { error: { message: 'The server failed. Its log has the cause.' } };
    }
  }
}

/** Undefined if it doesn't exist, or has a stream. */
function operationOf(
  administration: RemoteAdministration,
  noun: string,
  name: string,
): Operation | undefined {
  if (!Object.hasOwn(administration, noun)) return undefined;
  const part = administration[noun as keyof RemoteAdministration] as unknown as Record<string, Operation>;
  const rules: Record<string, Rules> = OPERATIONS[noun as keyof Administration];
  return Object.hasOwn(part, name) && !rules[name]?.hasStream ? part[name] : undefined;
}

/**
 * The administration of the server that owns the folder; undefined when none listens there. Error: a {@link UserError} when
 * it does not answer.
 */
export async function connectAdministration(folder: string): Promise<RemoteAdministration | undefined> {
  if (!(await isListening(folder))) return undefined;
  return membersOf((noun) =>
    membersOf((name) => (request: unknown) => call(folder, `${noun}/${name}`, request ?? {})),
  ) as RemoteAdministration;
}

/** An object whose members are created on access. */
function membersOf(make: (name: string) => unknown): object {
  return new Proxy(
    {},
    { get: (_, name) => (name === NOT_AN_OPERATION || typeof name !== 'string' ? undefined : make(name)) },
  );
}

/** The operations of {@link Administration}, local or remote. */
export type RemoteAdministration = {
  [Noun in keyof Administration]: Pick<Administration[Noun], keyof Administration[Noun]>;
};

async function isListening(folder: string): Promise<boolean> {
  const signal = AbortSignal.timeout(MOST_SILENT_MS);
  try {
    await exchange(folder, 'queue/show', {}, signal);
    return true;
  } catch (cause) {
    if (!signal.aborted) return false; // Opening the folder reports errors more precisely.
    throw new UserError(
      `The server of the data folder ${folder} has not answered for ${MOST_SILENT_MS / 1000} s. Its log may say why. ` +
        'If it does not recover, and /health/live does not answer either, kill it and start it again.',
      { cause },
    );
  }
}

async function call(folder: string, operation: string, request: unknown): Promise<unknown> {
  const { answer, error } = await exchange(folder, operation, request).catch((cause: Error) => {
    throw new UserError(`The connection to the server of the data folder was lost (${cause.message}).`, {
      cause,
    });
  });
  if (error?.code) throw new ScenepressError(error.code, error.message);
  if (error) throw new UserError(error.message);
  return answer;
}

async function exchange(
  folder: string,
  operation: string,
  request: unknown,
  signal?: AbortSignal,
): Promise<Reply> {
  const directory = await openDirectory(folder);
  try {
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    const message = httpRequest({
      socketPath: shortPath(directory),
      method: 'POST',
      path: `/${operation}`,
      headers: { 'content-type': 'application/json' },
      ...(signal && { signal }),
    });
    message.once('error', reject);
    message.once('response', (response) => text(response).then(resolve, reject));
    message.end(JSON.stringify(request));
    return JSON.parse(await promise) as Reply;
  } finally {
    await directory.close();
  }
}

function openDirectory(folder: string): Promise<FileHandle> {
  return open(folder, constants.O_RDONLY | constants.O_DIRECTORY);
}

/** Unix socket addresses are limited to 107 bytes, so the folder is addressed by its descriptor. */
function shortPath(directory: FileHandle): string {
  return `/proc/self/fd/${directory.fd}/${DATA_FILES.adminSocket}`;
}
