import { known, type Names, SIGNAL } from '../base/known-options.ts';
import { type Clock, delay, systemClock } from '../time/clock.ts';
import { ApiError } from './api-error.ts';
import { type HttpOptions, send } from './http.ts';
import { serverSentEvents } from './server-sent-events.ts';
import type {
  ApiAccount,
  ClientEvent,
  EndedJob,
  Enqueued,
  RenderJob,
  RenderRequest,
  RenderResult,
} from './wire.ts';

const FIRST_POLL_MS = 500;
const LONGEST_POLL_MS = 10_000;
const POLL_GROWTH = 1.5;

/** Options of {@link ScenepressClient}. */
export interface ClientOptions {
  /** Where the API is served, such as `https://renders.example.org`; a path such as `/renders` in a browser. */
  url: string;
  /** The API key, or a function that returns it. Pages should get keys or tokens of their users, never your own. */
  key: string | (() => Promise<string> | string);
  /** How often a request is made before it fails, all in all. Default 5 (contract §7). */
  attempts?: number;
  /** How long the server may take to answer. Default 30 seconds. */
  timeoutMs?: number;
  /** Default: the global one. */
  fetch?: typeof globalThis.fetch;
  /** Default: the system's. */
  clock?: Clock;
}

/** Options of all requests. */
export interface RequestOptions {
  /** Aborts the request, its repetitions and waits. The job is not affected. */
  signal?: AbortSignal;
}

/** Options of `enqueue` and `render`. */
export interface EnqueueOptions extends RequestOptions {
  /**
   * Identifies the request: repeating it within a day returns the first job. Default: a random one for each call, so
   * that repetitions after network errors make one job.
   */
  idempotencyKey?: string;
}

const OPTIONS: Names<ClientOptions> = {
  url: true,
  key: true,
  attempts: true,
  timeoutMs: true,
  fetch: true,
  clock: true,
};
const ENQUEUE: Names<EnqueueOptions> = { idempotencyKey: true, signal: true };

/**
 * A client of the HTTP API, for browsers, workers and Node.
 *
 * ```ts
 * const client = new ScenepressClient({ url: 'https://renders.example.org', key: 'svc_live_…' });
 * const job = await client.render({ className: 'Hello', code });
 * if (job.status === 'failed') throw new Error(job.error);
 * const video = await (await client.download(job, 'video')).blob();
 * ```
 *
 * All methods reject with {@link ApiError} for responses other than 2xx. Network errors, 429 and 5xx are first repeated
 * with growing delays.
 */
export class ScenepressClient {
  readonly #url: string;
  readonly #key: ClientOptions['key'];
  readonly #http: HttpOptions;

  constructor(options: ClientOptions) {
    const {
      url,
      key,
      attempts = 5,
      timeoutMs = 30_000,
      fetch = globalThis.fetch,
      clock = systemClock,
    } = known('ScenepressClient', options, OPTIONS);
    this.#url = url.replace(/\/+$/, '');
    this.#key = key;
    // Browsers refuse a `fetch` that is called as a method of another object.
    this.#http = { fetch: (...of) => fetch(...of), clock, attempts, timeoutMs };
  }

  /** Enqueues a render. `metadata` is sent with `JSON.stringify`. */
  async enqueue(request: RenderRequest, options: EnqueueOptions = {}): Promise<Enqueued> {
    const { idempotencyKey = randomKey(), signal } = known('enqueue', options, ENQUEUE);
    const response = await this.#send('/api/v2/render', signal, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'idempotency-key': idempotencyKey },
      body: JSON.stringify(request),
    });
    return (await response.json()) as Enqueued;
  }

  /** Error: status 404 when the job does not exist or belongs to another account. */
  async get(jobId: string, options: RequestOptions = {}): Promise<RenderJob> {
    const { signal } = known('get', options, SIGNAL);
    const response = await this.#send(`/api/v2/render/${encodeURIComponent(jobId)}`, signal);
    return (await response.json()) as RenderJob;
  }

  /** The account behind the key, and its credits. */
  async account(options: RequestOptions = {}): Promise<ApiAccount> {
    const { signal } = known('account', options, SIGNAL);
    return (await (await this.#send('/api/v2/me', signal)).json()) as ApiAccount;
  }

  /** Polls until the job has ended, first after half a second, at last every ten. */
  async wait(jobId: string, options: RequestOptions = {}): Promise<EndedJob> {
    const { signal } = known('wait', options, SIGNAL);
    for await (const job of this.#poll(jobId, signal)) if (isEnded(job)) return job;
    throw new Error('unreachable');
  }

  /** Enqueues a render and waits until it has ended. */
  async render(request: RenderRequest, options: EnqueueOptions = {}): Promise<EndedJob> {
    const { jobId } = await this.enqueue(request, options);
    const { signal } = options;
    return this.wait(jobId, signal ? { signal } : {});
  }

  /**
   * The events of a job, until it has ended: by server-sent events where the server has them (`scenepress/web`), else
   * by polling.
   */
  async *follow(jobId: string, options: RequestOptions = {}): AsyncGenerator<ClientEvent, void> {
    const { signal } = known('follow', options, SIGNAL);
    const { clock } = this.#http;
    for (let pauseMs = FIRST_POLL_MS; ; pauseMs = Math.min(pauseMs * POLL_GROWTH, LONGEST_POLL_MS)) {
      let events: Response;
      try {
        const headers = { accept: 'text/event-stream' };
        events = await this.#send(`/events/${encodeURIComponent(jobId)}`, signal, { headers });
      } catch (error) {
        if (!(error instanceof ApiError && error.status === 404)) throw error;
        yield* this.#followByPolling(jobId, signal);
        return;
      }
      for await (const event of eventsOf(events)) {
        yield event;
        if (event.type === 'job' && isEnded(event.job)) return;
      }
      // The connection was lost.
      await delay(clock, pauseMs, signal);
    }
  }

  /**
   * Cancels a job, and resolves once it has ended: as `failed` with the error "Canceled", unless it was already
   * complete. Error: status 404 when the job does not exist or belongs to another account, and from servers that have no
   * request for it, such as the appliance.
   */
  async cancel(jobId: string, options: RequestOptions = {}): Promise<EndedJob> {
    const { signal } = known('cancel', options, SIGNAL);
    const path = `/cancel/${encodeURIComponent(jobId)}`;
    return (await (await this.#send(path, signal, { method: 'POST' })).json()) as EndedJob;
  }

  /**
   * Fetches an artifact of a completed job; the response has its bytes as a stream, `blob()` or `bytes()`. `range`:
   * inclusive ends. The key is not sent. Error: status 410 when the artifact has been removed.
   */
  async download(
    job: { result: RenderResult | null },
    artifact: keyof RenderResult,
    options: RequestOptions & { range?: { start: number; end?: number } } = {},
  ): Promise<Response> {
    const { range, signal } = known('download', options, { range: true, signal: true });
    if (range) known('range', range, { start: true, end: true });
    const link = job.result?.[artifact];
    if (link === undefined) throw new TypeError(`The job has no ${artifact}`);
    const headers: Record<string, string> = range ? { range: `bytes=${range.start}-${range.end ?? ''}` } : {};
    return send(link, { headers }, this.#http, signal);
  }

  async *#followByPolling(jobId: string, signal: AbortSignal | undefined): AsyncGenerator<ClientEvent, void> {
    let status: string | undefined;
    for await (const job of this.#poll(jobId, signal)) {
      if (job.status !== status) yield { type: 'job', job };
      if (isEnded(job)) return;
      status = job.status;
    }
  }

  async *#poll(jobId: string, signal: AbortSignal | undefined): AsyncGenerator<RenderJob, void> {
    for (let pauseMs = FIRST_POLL_MS; ; pauseMs = Math.min(pauseMs * POLL_GROWTH, LONGEST_POLL_MS)) {
      yield await this.get(jobId, signal ? { signal } : {});
      await delay(this.#http.clock, pauseMs, signal);
    }
  }

  async #send(path: string, signal: AbortSignal | undefined, init: RequestInit = {}): Promise<Response> {
    const key = typeof this.#key === 'string' ? this.#key : await this.#key();
    const headers = { ...(init.headers as Record<string, string>), authorization: `Bearer ${key}` };
    return send(this.#url + path, { ...init, headers }, this.#http, signal);
  }
}

/** A key that no other request has. Unlike `randomUUID`, `getRandomValues` also exists in pages without TLS. */
function randomKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

function isEnded(job: RenderJob): job is EndedJob {
  return job.status === 'completed' || job.status === 'failed';
}

/** The events of a response; they end without an error when the connection is lost. */
async function* eventsOf(response: Response): AsyncGenerator<ClientEvent, void> {
  if (!response.body) return;
  const events = serverSentEvents(response.body);
  try {
    for (;;) {
      const { value, done } = await events.next().catch(() => ({ value: undefined, done: true }) as const);
      if (done || !value) return;
      if (value.event === 'job') yield { type: 'job', job: JSON.parse(value.data) as RenderJob };
      if (value.event === 'progress') yield { type: 'progress', progress: JSON.parse(value.data) };
      if (value.event === 'preview')
        yield { type: 'preview', jpeg: Uint8Array.from(atob(value.data), (byte) => byte.charCodeAt(0)) };
    }
  } finally {
    await events.return();
  }
}
