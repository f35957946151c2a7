import { ApiError, ScenepressClient } from '../../lib/client/index.ts';
import { UserError } from '../support/user-error.ts';
import { guardedFetch } from './guarded-fetch.ts';
import type { Server } from './server-flags.ts';

/** What a call of a service has. */
export interface Remote {
  client: ScenepressClient;
  /** Aborted by the caller, or when the service sends its files from elsewhere. */
  signal: AbortSignal;
  /** Fetches a picture by the URL that an inspection has told. */
  picture: (url: string) => Promise<Uint8Array>;
}

export interface RemoteServiceOptions {
  /** Of each file. */
  mostBytes: number;
  /** How long it may take to answer; default: that of the client. */
  timeoutMs?: number;
  /** How often a request is made before it fails; default: that of the client. */
  attempts?: number;
}

/** A service elsewhere, whose answers may be anything: files come only from the addresses that were named. */
export class RemoteService {
  readonly url: string;
  readonly #server: Server;
  readonly #options: RemoteServiceOptions;

  constructor(server: Server, options: RemoteServiceOptions) {
    this.url = server.url;
    this.#server = server;
    this.#options = options;
  }

  /** Calls the service. Error: `UserError` that says what to do; the reason of `interrupted`. */
  async call<T>(work: (remote: Remote) => Promise<T>, interrupted?: AbortSignal): Promise<T> {
    const { url, key, artifacts } = this.#server;
    const { mostBytes, ...http } = this.#options;
    const refused = new AbortController();
    const fetch = guardedFetch({
      origins: new Set([url, ...artifacts].map((address) => new URL(address).origin)),
      mostBytes,
      onRefusal: (reason) => refused.abort(reason),
    });
    const client = new ScenepressClient({ url, key, fetch, ...http });
    const signal = interrupted ? AbortSignal.any([interrupted, refused.signal]) : refused.signal;
    const picture = (address: string) => pictureAt(address, (of) => fetch(of, { signal }));
    try {
      return await work({ client, signal, picture });
    } catch (cause) {
      interrupted?.throwIfAborted();
      if (cause instanceof UserError) throw cause;
      throw new UserError(`${url}: ${messageOf(cause)}`, { cause });
    }
  }
}

/** Whether the same call may succeed later. */
export function willPass(error: unknown): boolean {
  if (!(error instanceof UserError)) return false;
  const { cause } = error;
  if (cause instanceof ApiError) return cause.isTransient;
  return cause instanceof TypeError || (cause instanceof DOMException && cause.name === 'TimeoutError');
}

async function pictureAt(url: string, fetch: (url: string) => Promise<Response>): Promise<Uint8Array> {
  if (!URL.canParse(url)) throw new Error('it names a picture without an address');
  const response = await fetch(url);
  if (!response.ok) {
    await response.body?.cancel();
    throw new Error(`a picture can't be fetched: ${url} answers ${response.status}. Try again`);
  }
  return new Uint8Array(await response.arrayBuffer());
}

function messageOf(error: unknown): string {
  if (error instanceof ApiError) return `${error.status}: ${withAdvice(error)}`;
  if (error instanceof SyntaxError)
    return 'it does not answer with JSON. Is it the address of a service? Name that with --server.';
  const { message, cause } = error as Error & { cause?: unknown };
  if (error instanceof TypeError && cause instanceof Error)
    return `it can't be reached: ${cause.message || (cause as NodeJS.ErrnoException).code}. Is it the address of a service that runs?`;
  return cause instanceof Error ? `${message} (${cause.message})` : message;
}

function withAdvice({ status, message }: ApiError): string {
  if (status === 401)
    return `${message} Name a live key of it that may do this: --key KEY, or SCENEPRESS_KEY.`;
  return message;
}

/**
 * Makes a request of the tools API. Error: says so if the service has none. Only for requests that name no job: a
 * missing job is answered in the same way.
 */
export async function ofTools<T>(request: Promise<T>): Promise<T> {
  try {
    return await request;
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 404) throw error;
    const message =
      'it has no tools API: it is an older version, which only renders, or another program. Update it, or leave out --server.';
    throw new Error(message);
  }
}
