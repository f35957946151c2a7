import { known, type Names, SIGNAL } from '../base/known-options.ts';
import { type Clock, delay, systemClock } from '../time/clock.ts';
import { ApiError } from './api-error.ts';
import { ClientAssignments } from './assignments.ts';
import { ClientFiles } from './files.ts';
import { type HttpOptions, send } from './http.ts';
import { randomKey } from './random-key.ts';
import { ClientScenes } from './scenes.ts';
import { JOBS_QUERY, pathOf, sentRequest } from './sent-request.ts';
import { type ServerSentEvent, serverSentEvents } from './server-sent-events.ts';
import { ClientShares } from './shares.ts';
import type {
  AccountEvent,
  ApiAccount,
  ApiKey,
  ApiUsage,
  BatchRequest,
  ChangedLabels,
  CheckedSource,
  CheckOptions,
  ClientEvent,
  EndedJob,
  Enqueued,
  InspectedByUrl,
  InspectOptions,
  JobPage,
  JobsQuery,
  RenderJob,
  RenderResult,
  StillByUrl,
  StillOptions,
  ToolJob,
  ToolRequest,
  WholeJob,
  WithFiles,
} from './wire.ts';

/** How long one request waits for the end of a job; less than `timeoutMs` by default. */
const WAIT_SECONDS = 20;
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 10_000;
const PAUSE_GROWTH = 1.5;

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
const INSPECT: Names<InspectOptions & WithFiles & RequestOptions> = {
  className: true,
  quality: true,
  aspectRatio: true,
  fps: true,
  files: true,
  params: true,
  signal: true,
};
const CHECK: Names<CheckOptions & WithFiles & RequestOptions> = { ...INSPECT, audio: true, dryRun: true };
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
  readonly files: ClientFiles;
  /** Links under which others watch videos. */
  readonly shares: ClientShares;
  readonly scenes: ClientScenes;
  readonly assignments: ClientAssignments;
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
    this.files = new ClientFiles((path, signal, init) => this.#tool(path, signal, init));
    this.shares = new ClientShares((path, signal, init) => this.#tool(path, signal, init));
    this.scenes = new ClientScenes((path, signal, init) => this.#tool(path, signal, init));
    this.assignments = new ClientAssignments((path, signal, init) => this.#tool(path, signal, init));
  }

  /** Enqueues a render. `metadata` is sent with `JSON.stringify`. */
  async enqueue(request: ToolRequest, options: EnqueueOptions = {}): Promise<Enqueued> {
    const { idempotencyKey = randomKey(), signal } = known('enqueue', options, ENQUEUE);
    const sent = sentRequest(request, { 'idempotency-key': idempotencyKey });
    const response = await this.#send(pathOf(request), signal, sent);
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

  /** Resolves when the job has ended. Error: status 404 when it does not exist or belongs to another account. */
  async wait(jobId: string, options: RequestOptions = {}): Promise<EndedJob> {
    const { signal } = known('wait', options, SIGNAL);
    for await (const job of this.#states(jobId, signal)) if (isEnded(job)) return job;
    throw new Error('unreachable');
  }

  /** Enqueues a render and waits until it has ended. */
  async render(request: ToolRequest, options: EnqueueOptions = {}): Promise<EndedJob> {
    const { jobId } = await this.enqueue(request, options);
    const { signal } = options;
    return this.wait(jobId, signal ? { signal } : {});
  }

  /** The events of a job, until it has ended. A lost connection is opened again. */
  async *follow(jobId: string, options: RequestOptions = {}): AsyncGenerator<ClientEvent, void> {
    const { signal } = known('follow', options, SIGNAL);
    try {
      for await (const sent of this.#events(`/jobs/${encodeURIComponent(jobId)}/events`, signal)) {
        const event = clientEventOf(sent);
        if (event) yield event;
        if (event?.type === 'job' && isEnded(event.job)) return;
      }
    } catch (error) {
      if (!isMissing(error)) throw error;
      let status: string | undefined;
      for await (const job of this.#states(jobId, signal)) {
        if (job.status !== status) yield { type: 'job', job };
        if (isEnded(job)) return;
        status = job.status;
      }
    }
  }

  /** Changes of all jobs of the account, until `signal` is aborted. A lost connection is opened again. */
  async *followAll(options: RequestOptions = {}): AsyncGenerator<AccountEvent, void> {
    const { signal } = known('followAll', options, SIGNAL);
    for await (const { event, data } of this.#events('/events', signal)) {
      if (event === 'job') yield { type: 'job', job: JSON.parse(data) as ToolJob };
      if (event === 'gap') yield { type: 'gap' };
    }
  }

  /**
   * Cancels a job, and resolves once it has ended: as `failed` with the error "Canceled", unless it was already
   * complete. Error: status 404 when the job does not exist or belongs to another account.
   */
  async cancel(jobId: string, options: RequestOptions = {}): Promise<EndedJob> {
    const { signal } = known('cancel', options, SIGNAL);
    const path = `/jobs/${encodeURIComponent(jobId)}/cancel`;
    return (await (await this.#tool(path, signal, { method: 'POST' })).json()) as EndedJob;
  }

  /** Tells what is wrong with the scenes of a source, without drawing them. */
  async check(code: string, options: CheckOptions & WithFiles & RequestOptions = {}): Promise<CheckedSource> {
    const { signal, ...asked } = known('check', options, CHECK);
    return (await (await this.#post('/check', { code, ...asked }, signal)).json()) as CheckedSource;
  }

  /** Checks several sources, at most 50. One that could not be read in time has a finding `limit:time`. */
  async checkMany(
    codes: readonly string[],
    options: CheckOptions & WithFiles & RequestOptions = {},
  ): Promise<CheckedSource[]> {
    const { signal, ...asked } = known('checkMany', options, CHECK);
    const response = await this.#post('/check', { codes, ...asked }, signal);
    return ((await response.json()) as { results: CheckedSource[] }).results;
  }

  /** Draws pictures of scenes, and tells what cannot be read or seen. */
  async inspect(
    code: string,
    options: InspectOptions & WithFiles & RequestOptions = {},
  ): Promise<InspectedByUrl> {
    const { signal, ...asked } = known('inspect', options, INSPECT);
    return (await (await this.#post('/inspect', { code, ...asked }, signal)).json()) as InspectedByUrl;
  }

  /** Draws one frame. */
  async still(code: string, options: StillOptions & RequestOptions = {}): Promise<StillByUrl> {
    const { signal, ...asked } = known('still', options, { ...INSPECT, at: true });
    return (await (await this.#post('/still', { code, ...asked }, signal)).json()) as StillByUrl;
  }

  /** Enqueues several renders, at most 100, all or none. */
  async enqueueMany(requests: readonly BatchRequest[], options: EnqueueOptions = {}): Promise<ToolJob[]> {
    const { idempotencyKey = randomKey(), signal } = known('enqueueMany', options, ENQUEUE);
    const headers = { 'idempotency-key': idempotencyKey };
    const response = await this.#post('/jobs/batch', { jobs: requests }, signal, headers);
    return ((await response.json()) as { jobs: ToolJob[] }).jobs;
  }

  /** Enqueues a copy of a job with changes. */
  async renderAgain(
    jobId: string,
    changes: Partial<ToolRequest> = {},
    options: EnqueueOptions = {},
  ): Promise<ToolJob> {
    const { idempotencyKey = randomKey(), signal } = known('renderAgain', options, ENQUEUE);
    const path = `/jobs/${encodeURIComponent(jobId)}/again`;
    const response = await this.#post(path, changes, signal, { 'idempotency-key': idempotencyKey });
    return (await response.json()) as ToolJob;
  }

  /** A page of the account's jobs, newest first. */
  async list(query: JobsQuery = {}, options: RequestOptions = {}): Promise<JobPage> {
    const { signal } = known('list', options, SIGNAL);
    const given = new URLSearchParams({ ...known('list', query, JOBS_QUERY) } as Record<string, string>);
    const path = `/jobs?${given}`;
    return (await (await this.#tool(path, signal)).json()) as JobPage;
  }

  /** A job with its diagnosis, plays, output and progress. */
  async details(jobId: string, options: RequestOptions = {}): Promise<WholeJob> {
    const { signal } = known('details', options, SIGNAL);
    return (await (await this.#tool(`/jobs/${encodeURIComponent(jobId)}`, signal)).json()) as WholeJob;
  }

  /** Changes title, tags, star or project of a job, which may have ended. */
  async relabel(jobId: string, labels: ChangedLabels, options: RequestOptions = {}): Promise<ToolJob> {
    const { signal } = known('relabel', options, SIGNAL);
    const response = await this.#post(`/jobs/${encodeURIComponent(jobId)}/labels`, labels, signal);
    return (await response.json()) as ToolJob;
  }

  /** Erases the content of a job that has ended. */
  async forget(jobId: string, options: RequestOptions = {}): Promise<void> {
    const { signal } = known('forget', options, SIGNAL);
    await this.#tool(`/jobs/${encodeURIComponent(jobId)}`, signal, { method: 'DELETE' });
  }

  /** The key of the requests, and what it may be used for. */
  async describeKey(options: RequestOptions = {}): Promise<ApiKey> {
    const { signal } = known('describeKey', options, SIGNAL);
    return (await (await this.#tool('/key', signal)).json()) as ApiKey;
  }

  /** What ended renders have used, by day and key, since a time (ISO 8601; default: 30 days ago). */
  async usage(options: RequestOptions & { since?: string } = {}): Promise<ApiUsage[]> {
    const { signal, since } = known('usage', options, { signal: true, since: true });
    const path = since === undefined ? '/usage' : `/usage?${new URLSearchParams({ since })}`;
    return ((await (await this.#tool(path, signal)).json()) as { days: ApiUsage[] }).days;
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

  /** A job as it is, again and again: after waits, or by polling where there is no tools API. */
  async *#states(jobId: string, signal: AbortSignal | undefined): AsyncGenerator<RenderJob, void> {
    const path = `/jobs/${encodeURIComponent(jobId)}/wait?seconds=${WAIT_SECONDS}`;
    try {
      for (;;) yield (await (await this.#tool(path, signal)).json()) as RenderJob;
    } catch (error) {
      if (!isMissing(error)) throw error;
    }
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * PAUSE_GROWTH, LONGEST_PAUSE_MS)) {
      yield await this.get(jobId, signal ? { signal } : {});
      await delay(this.#http.clock, pauseMs, signal);
    }
  }

  /** The events of a stream; it is opened again after a lost connection, from the last event. */
  async *#events(path: string, signal: AbortSignal | undefined): AsyncGenerator<ServerSentEvent, void> {
    let lastId: string | undefined;
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * PAUSE_GROWTH, LONGEST_PAUSE_MS)) {
      const headers = {
        accept: 'text/event-stream',
        ...(lastId !== undefined && { 'last-event-id': lastId }),
      };
      const response = await this.#tool(path, signal, { headers });
      if (!response.headers.get('content-type')?.startsWith('text/event-stream'))
        throw new TypeError('The server did not answer with events.');
      for await (const event of eventsOf(response)) {
        lastId = event.id ?? lastId;
        pauseMs = FIRST_PAUSE_MS;
        yield event;
      }
      await delay(this.#http.clock, pauseMs, signal);
    }
  }

  /** Sends JSON to the tools API, with contents of files if it has any. */
  #post(path: string, body: object, signal: AbortSignal | undefined, headers?: Record<string, string>) {
    return this.#tool(path, signal, sentRequest(body, headers));
  }

  #tool(path: string, signal: AbortSignal | undefined, init: RequestInit = {}): Promise<Response> {
    return this.#send(`/api/tools/v1${path}`, signal, init);
  }

  async #send(path: string, signal: AbortSignal | undefined, init: RequestInit = {}): Promise<Response> {
    const key = typeof this.#key === 'string' ? this.#key : await this.#key();
    const headers = { ...(init.headers as Record<string, string>), authorization: `Bearer ${key}` };
    return send(this.#url + path, { ...init, headers }, this.#http, signal);
  }
}

function isEnded(job: RenderJob): job is EndedJob {
  return job.status === 'completed' || job.status === 'failed';
}

/** The events of a response; they end without an error when the connection is lost. */
async function* eventsOf(response: Response): AsyncGenerator<ServerSentEvent, void> {
  if (!response.body) return;
  const events = serverSentEvents(response.body);
  try {
    for (;;) {
      const { value, done } = await events.next().catch(() => ({ value: undefined, done: true }) as const);
      if (done || !value) return;
      yield value;
    }
  } finally {
    await events.return();
  }
}

/** Of a server without a tools API, or of a job that does not exist. */
function isMissing(error: unknown): boolean {
  return error instanceof ApiError && error.status === 404;
}
function clientEventOf({ event, data }: ServerSentEvent): ClientEvent | undefined {
  if (event === 'job') return { type: 'job', job: JSON.parse(data) as RenderJob };
  if (event === 'progress') return { type: 'progress', progress: JSON.parse(data) };
  if (event !== 'preview') return undefined;
  return { type: 'preview', jpeg: Uint8Array.from(atob(data), (byte) => byte.charCodeAt(0)) };
}
