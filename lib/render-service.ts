import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import type { AssetStore, ByteRange, OpenedAsset } from './assets/asset-store.ts';
import { KEEP_ALL } from './assets/retention.ts';
import { type Clock, isoTime, systemClock } from './clock.ts';
import { DataFolder } from './data-folder.ts';
import { isScenepressError, ScenepressError } from './errors.ts';
import { DEFAULT_QUEUE, Dispatcher } from './jobs/dispatcher.ts';
import { forgetJob } from './jobs/forget.ts';
import { type ArtifactName, isTerminal, type Job, type JobRecord, jobOf } from './jobs/job.ts';
import { JobBook, type NewJob } from './jobs/job-book.ts';
import { parseRenderRequest } from './jobs/render-request.ts';
import type { ApiKeys } from './keys/api-keys.ts';
import type { MasterKey } from './keys/master-key.ts';
import type { Balance, Ledger } from './ledger/ledger.ts';
import { DEFAULT_PRICING, Pricing } from './ledger/pricing.ts';
import { UnmeteredLedger } from './ledger/unmetered-ledger.ts';
import { type Logger, silentLogger } from './logger.ts';
import { findLauncher, type Launcher, type RendererOptions } from './render/launcher.ts';
import { DEFAULT_LIMITS, type RenderLimits } from './render/limits.ts';
import { RenderPool } from './render/render-pool.ts';
import type { RenderProgress } from './render/render-task.ts';
import { RendererWatch } from './render/renderer-watch.ts';
import { makeStudioParts, type StudioFolder } from './render/studio.ts';
import type { EnqueueRequest, JobScope, RenderServiceOptions } from './render-service-options.ts';
import { problemsOf, type ServiceState, type ServiceStatus } from './service-status.ts';
import { explained } from './storage/folder-check.ts';
import type { JobQuery, Storage } from './storage/storage.ts';
import { Upkeep } from './upkeep.ts';
import { Deliveries, deliveryOf } from './webhooks/deliveries.ts';
import type { Delivery } from './webhooks/delivery.ts';
import { DeliveryBook } from './webhooks/delivery-book.ts';
import { DeliverySender } from './webhooks/delivery-sender.ts';
import { Outbound } from './webhooks/outbound.ts';
import { type WebhookOptions, WebhookSecrets } from './webhooks/webhook-secrets.ts';

interface RenderServiceEvents {
  /** A job was made or changed its status. */
  job: [job: Job];
  /** A running job got further. */
  progress: [jobId: string, progress: RenderProgress];
  /** An attempt at a webhook ended: its delivery as it now is. */
  delivery: [delivery: Delivery];
  /** A small JPEG of the frame being drawn. */
  preview: [jobId: string, jpeg: Buffer];
}

const SIGN_OF_LIFE_AFTER_MS = 10 * 60_000;

/**
 * More than ending one running job writes (its record and its webhook's body, each with 200 KiB of metadata), and the
 * same again for what else is under way.
 */
const SPARE_BYTES_PER_JOB = 1024 * 1024;
const SPARE_BYTES_FOR_THE_REST = 2 * 1024 * 1024;

/**
 * Renders scenes: takes requests, gives them to workers, keeps the books, hands out artifacts.
 *
 * ```ts
 * const service = new RenderService({ folder: './renders' });
 * await service.start();
 * const { jobId } = await service.enqueue({ owner: 'me', className: 'Hello', code });
 * const job = await service.wait(jobId);
 * ```
 */
export class RenderService extends EventEmitter<RenderServiceEvents> {
  readonly #storage: Storage;
  readonly #assets: AssetStore;
  readonly #ledger: Ledger;
  readonly #pricing: Pricing;
  readonly #limits: RenderLimits;
  readonly #book: JobBook;
  readonly #logger: Logger;
  readonly #workFolder: string;
  readonly #dataFolder: DataFolder | undefined;
  readonly #rendererOptions: RendererOptions;
  readonly #studio: StudioFolder | undefined;
  readonly #workers: number;
  readonly #signOfLifeAfterMs: number;
  readonly #dispatcher: Dispatcher;
  readonly #upkeep: Upkeep;
  readonly #clock: Clock;
  readonly #assetUrl: string | (() => string) | undefined;
  readonly #webhookOptions: WebhookOptions;
  readonly #webhookSecrets: WebhookSecrets;
  readonly #deliveryBook: DeliveryBook;
  /** What was sent to webhooks, and how it went. */
  readonly deliveries: Deliveries;

  #sender: DeliverySender | undefined;
  #pool: RenderPool | undefined;
  #watch: RendererWatch | undefined;
  #state: ServiceState = 'stopped';
  #queuePausedAtMs: number | null = null;
  /** Aborted when the service has stopped, and made anew. */
  #stopped = new AbortController();
  /** Emits the id of a job that became terminal. */
  readonly #ends = new EventEmitter().setMaxListeners(0);

  constructor(options: RenderServiceOptions) {
    super();
    const dataFolder = options.dataFolder ?? (options.folder ? new DataFolder(options.folder) : undefined);
    const storage = options.storage ?? dataFolder?.storage;
    const assets = options.assets ?? dataFolder?.assets;
    const workFolder = options.workFolder ?? dataFolder?.workFolder;
    assert(storage && assets && workFolder, 'give `folder`, or all of `storage`, `assets` and `workFolder`');
    const clock = options.clock ?? systemClock;
    this.#dataFolder = dataFolder;
    this.#storage = storage;
    this.#assets = assets;
    this.#workFolder = resolve(workFolder);
    this.#ledger = options.ledger ?? new UnmeteredLedger();
    this.#pricing = new Pricing({ ...DEFAULT_PRICING, ...options.pricing });
    this.#limits = { ...DEFAULT_LIMITS, ...options.limits };
    this.#logger = options.logger ?? silentLogger;
    this.#rendererOptions = options.renderer ?? {};
    this.#studio = studioOf(options.studioFolder, dataFolder);
    this.#workers = options.workers ?? availableParallelism();
    assert(Number.isInteger(this.#workers) && this.#workers >= 1, 'workers is a whole number of at least 1');
    this.#signOfLifeAfterMs = options.signOfLifeAfterMs ?? SIGN_OF_LIFE_AFTER_MS;
    this.#clock = clock;
    this.#assetUrl = options.assetUrl;
    this.#webhookOptions = options.webhooks ?? {};
    this.#webhookSecrets = new WebhookSecrets(this.#webhookOptions, dataFolder);
    this.#deliveryBook = new DeliveryBook({ storage, clock, assetUrl: () => this.#linkStart() });
    this.deliveries = new Deliveries({ storage, clock });
    this.#book = new JobBook({
      storage,
      ledger: this.#ledger,
      pricing: this.#pricing,
      clock,
      onEnd: (tx, job) => this.#deliveryBook.open(tx, job),
      sealSecret: (secret) => this.#webhookSecrets.seal(secret),
      onStuck: (jobId) => void this.#dispatcher.resume(jobId),
      onOrphans: (assetKeys) => this.#dispatcher.discardLater(assetKeys),
    });
    this.#dispatcher = new Dispatcher({
      book: this.#book,
      storage,
      assets,
      ledger: this.#ledger,
      pricing: this.#pricing,
      logger: this.#logger,
      queue: { ...DEFAULT_QUEUE, ...options.queue },
      previewIntervalMs: options.previewIntervalMs ?? 0,
      // Jobs that a broken renderer is given would only use up their attempts.
      mayBegin: () => !this.#diskFull && !this.#pool?.refusal && !this.#watch?.problem,
      onNoRoom: (missingBytes) => void this.#dataFolder?.room.ranOut({ missingBytes }),
      onChange: (job) => this.#announce(job),
      onProgress: (jobId, progress) => this.emit('progress', jobId, progress),
      onPreview: (jobId, jpeg) => this.emit('preview', jobId, jpeg),
    });
    this.#upkeep = new Upkeep({
      storage,
      assets,
      ledger: this.#ledger,
      book: this.#book,
      retention: { ...KEEP_ALL, ...options.retention },
      clock,
      logger: this.#logger,
    });
  }

  /**
   * Opens the stores, takes up what an earlier life left and starts the workers. Resolves when one is warm.
   * Errors: `storage_locked`, `storage_damaged`, `renderer_unavailable`; then nothing is left running.
   */
  async start(): Promise<void> {
    if (this.#state === 'running') return;
    this.#state = 'starting';
    try {
      await this.#openStores();
      await this.#keepRoom();
      // Made here, so that what is wrong with its options stops the start.
      const outbound = new Outbound(this.#webhookOptions);
      this.#openStudio();
      const launcher = await findLauncher(this.#rendererOptions, this.#studio);
      if (launcher.isolation === 'none' && launcher.firstUid !== undefined)
        await this.#dataFolder?.letThrough();
      this.#pool = new RenderPool({
        size: this.#workers,
        launcher,
        limits: this.#limits,
        workFolder: this.#workFolder,
        logger: this.#logger,
      });
      await this.#pool.start();
      this.#pool.onWarm = () => this.#dispatcher.resumeBeginning();
      this.#logSandbox();
      const paused = this.#queuePausedAtMs !== null;
      if (paused) {
        const { queuePausedAt } = this.status();
        this.#logger.warn({ queuePausedAt }, 'The queue is paused: no render begins until it is resumed.');
      }
      this.#watch = this.#createWatch(this.#pool, launcher);
      this.#watch.start();
      this.#dispatcher.start(this.#pool, await this.#recover(), { paused });
      this.#sender = this.#createSender(outbound);
      this.#sender.start();
    } catch (error) {
      await this.#close();
      throw this.#dataFolder ? explained(error, this.#dataFolder.path) : error;
    }
    this.#state = 'running';
    this.#upkeep.start();
  }

  /**
   * Opens the stores without workers: jobs can be looked at, taken on, cancelled and rendered again, and the queue be
   * paused. What waits is rendered, and what is due to webhooks sent, after {@link start}.
   */
  async open(): Promise<void> {
    if (this.#accepting) return;
    try {
      await this.#openStores();
      const unfinished = await this.#storage.unfinishedJobs();
      const waiting = unfinished.filter(({ phase }) => phase === 'queued' || phase === 'running');
      this.#dispatcher.start(undefined, waiting, { paused: this.#queuePausedAtMs !== null });
    } catch (error) {
      await this.#close();
      throw error;
    }
    this.#state = 'open';
  }

  /**
   * Takes no more jobs; running renders may go on for `graceMs` (default 0), then they are ended and attempted again
   * after the next start. Queued jobs stay queued. Requests to webhooks get what is left of that time, and those that
   * are then cut off are recorded. Until {@link stop}, jobs and artifacts can still be looked at.
   */
  async drain({ graceMs = 0 }: { graceMs?: number } = {}): Promise<void> {
    if (this.#accepting) this.#state = 'stopping';
    await this.#upkeep.stop();
    const watchStopped = this.#watch?.stop();
    const until = performance.now() + graceMs;
    await this.#dispatcher.stop(graceMs);
    await this.#sender?.stop({ graceMs: Math.max(0, until - performance.now()) });
    this.#sender = undefined;
    await watchStopped;
  }

  /** Drains, then closes everything. Resolves when no process is left. */
  async stop({ graceMs = 0 }: { graceMs?: number } = {}): Promise<void> {
    await this.drain({ graceMs });
    await this.#close();
    this.#stopped.abort();
    this.#stopped = new AbortController();
  }

  /**
   * Takes a render on. When it resolves, the job and its reserve survive a power cut.
   * Errors: `invalid_request`, `conflict` (idempotency), `queue_full`, `insufficient_credits`, `not_running`,
   * `storage_full`, `storage_failed`.
   */
  async enqueue(enqueued: EnqueueRequest): Promise<Job> {
    const { owner, keyId, metadataJson, metadata, idempotency, webhook, ...fields } = enqueued;
    assert(typeof owner === 'string' && owner.length > 0, 'owner is a non-empty string');
    this.#assertAccepting();
    const request = parseRenderRequest(webhook ? { ...fields, webhookUrl: webhook.url } : fields);
    const newJob = {
      owner,
      request,
      metadataJson: metadataJson ?? JSON.stringify(metadata) ?? null,
      webhookUrl: request.webhookUrl ?? null,
      keyId: keyId ?? null,
    };
    if (newJob.webhookUrl !== null) await this.#prepareSecret(webhook?.secret);
    return await this.#takeOn({
      ...newJob,
      ...(webhook?.secret !== undefined && newJob.webhookUrl !== null && { webhookSecret: webhook.secret }),
      idempotency: idempotency
        ? { key: idempotency.key, fingerprint: idempotency.fingerprint ?? fingerprintOf(newJob) }
        : null,
    });
  }

  /**
   * Takes on a new job that asks for the same as an earlier one, with its owner, key, metadata and webhook.
   * Errors: as of {@link enqueue}; `not_found` also when the source of that job isn't kept any more.
   */
  async renderAgain(jobId: string, { owner }: JobScope = {}): Promise<Job> {
    this.#assertAccepting();
    const { className, quality, aspectRatio, fps, ...earlier } = await this.#record(jobId, owner);
    const code = await this.#storage.readSource(jobId);
    if (code === undefined) {
      throw new ScenepressError('not_found', 'The source of this job is not kept any more.');
    }
    const { metadataJson, webhookUrl, keyId, webhookSecretSealed: sealed } = earlier;
    return await this.#takeOn({
      owner: earlier.owner,
      request: { code, className, quality, aspectRatio, fps },
      metadataJson,
      webhookUrl,
      keyId,
      ...(sealed !== undefined && { webhookSecret: await this.#webhookSecrets.open(sealed) }),
    });
  }

  /**
   * Seals the secrets that came with jobs, and those of `keys` in the same storage, with another master key: all or none,
   * also while the service runs. This is what {@link replaceMasterKey} calls `reseal`. How many there are of each.
   */
  async resealSecrets(
    masterKey: MasterKey,
    { keys: apiKeys }: { keys?: ApiKeys } = {},
  ): Promise<{ jobs: number; keys: number }> {
    let keys = 0;
    const jobs = await this.#webhookSecrets.reseal(this.#storage, masterKey, async (work) => {
      if (apiKeys) keys = await apiKeys.reseal(masterKey, { also: work });
      else await this.#storage.transaction(work);
    });
    return { jobs, keys };
  }

  /** The job; `not_found` when there is none, or none of that owner. */
  async get(jobId: string, { owner }: JobScope = {}): Promise<Job> {
    return jobOf(await this.#record(jobId, owner));
  }

  /** Jobs, newest first. */
  async list(query: JobQuery = {}): Promise<Job[]> {
    return (await this.#storage.listJobs(query)).map(jobOf);
  }

  /** Ends a job that isn't over: it fails with "Canceled". A terminal job stays as it is. */
  async cancel(jobId: string, { owner }: JobScope = {}): Promise<Job> {
    const job = await this.#record(jobId, owner);
    if (isTerminal(job.phase)) return jobOf(job);
    this.#assertAccepting();
    await this.#dispatcher.cancel(job);
    return this.wait(jobId);
  }

  /**
   * Removes what a job's owner wrote and what came of it, from the medium too: code, metadata, error, artifacts, what
   * was sent to its webhook. What it cost, when and whom stays. Repeat it when it fails. Errors: `not_found`;
   * `conflict` while the job isn't over.
   */
  async forget(jobId: string, { owner }: JobScope = {}): Promise<Job> {
    const job = await this.#record(jobId, owner);
    if (!isTerminal(job.phase)) {
      throw new ScenepressError(
        'conflict',
        `Job ${jobId} is not over. Cancel it first, or wait for its end.`,
      );
    }
    const forgotten = await forgetJob(this.#stores, job);
    await this.#storage.purge();
    return jobOf(forgotten);
  }

  /** The same for all jobs of an owner; those that are not over are cancelled. Answers with their number. */
  async forgetAll(owner: string): Promise<number> {
    let count = 0;
    for (let before: string | undefined; ; ) {
      const page = await this.#storage.listJobs({
        owner,
        limit: 1000,
        ...(before !== undefined && { before }),
      });
      for (const { jobId, phase } of page) {
        if (!isTerminal(phase)) await this.cancel(jobId, { owner });
        await forgetJob(this.#stores, await this.#record(jobId, owner));
      }
      count += page.length;
      before = page.at(-1)?.jobId;
      if (before === undefined) break;
    }
    await this.#storage.purge();
    return count;
  }

  get #stores(): { storage: Storage; assets: AssetStore; clock: Clock } {
    return { storage: this.#storage, assets: this.#assets, clock: this.#clock };
  }

  /**
   * Resolves with the job when it is terminal. `signal` gives up waiting. Errors: `not_running` when the service stops
   * before; the job isn't lost by that.
   */
  async wait(jobId: string, { signal }: { signal?: AbortSignal } = {}): Promise<Job> {
    const giveUp = new AbortController();
    const stopped = this.#stopped.signal;
    const signals = AbortSignal.any([giveUp.signal, stopped, ...(signal ? [signal] : [])]);
    const end = once(this.#ends, jobId, { signal: signals });
    end.catch(() => {});
    try {
      const job = await this.get(jobId);
      if (job.status === 'completed' || job.status === 'failed') return job;
      await end;
      return await this.get(jobId);
    } catch (error) {
      if (!stopped.aborted || signal?.aborted) throw error;
      const message =
        'The service stopped before the job was over. It goes on after the next start: wait for it then.';
      throw new ScenepressError('not_running', message, { cause: error });
    } finally {
      giveUp.abort();
    }
  }

  /**
   * The names of the scenes that a source defines, as `manim` would offer them: its code is run, in the sandbox.
   * Errors: `invalid_request` with the error of the code, `renderer_unavailable`.
   */
  async scenesOf(code: string): Promise<string[]> {
    this.#assertAccepting();
    if (!this.#pool) throw new ScenepressError('not_running', 'The service has no workers. Start it.');
    const listed = await this.#pool.listScenes(code);
    if (listed.kind === 'listed') return listed.scenes;
    if (listed.kind === 'failed') throw new ScenepressError('invalid_request', listed.error);
    throw new ScenepressError('renderer_unavailable', `The renderer failed: ${listed.message}.`);
  }

  /** How far a running job is; undefined when it isn't being rendered. */
  progress(jobId: string): RenderProgress | undefined {
    return this.#dispatcher.progress(jobId);
  }

  /** An artifact's bytes. `not_found`: the job has no such artifact; `artifact_gone`: not any more. */
  async openArtifact(jobId: string, name: ArtifactName, range?: ByteRange): Promise<OpenedAsset> {
    const artifact = (await this.#record(jobId)).artifacts.find((artifact) => artifact.name === name);
    if (!artifact) throw new ScenepressError('not_found', `The job has no ${name}.`);
    const opened = await this.#assets.open(artifact.assetKey, range);
    if (!opened)
      throw new ScenepressError('artifact_gone', `${name} of this job has been removed. Render it again.`);
    return opened;
  }

  /** Begins no more renders, through restarts too, until {@link resumeQueue}. Those that run go on; jobs are taken on. */
  async pauseQueue(): Promise<void> {
    this.#assertAccepting();
    if (this.#queuePausedAtMs !== null) return;
    await this.#setQueuePaused(this.#clock.now());
    this.#dispatcher.pause();
  }

  /** Begins renders again. */
  async resumeQueue(): Promise<void> {
    this.#assertAccepting();
    await this.#setQueuePaused(null);
    this.#dispatcher.unpause();
  }

  /** What an owner can spend now. */
  balance(owner: string): Promise<Balance> {
    return this.#ledger.balance(owner);
  }

  status(): ServiceStatus {
    const workers = this.#pool?.size ?? 0;
    const { oldestQueuedMs, queued, running } = this.#dispatcher;
    const problems = problemsOf({
      state: this.#state,
      refused: Boolean(this.#pool?.refusal),
      broken: Boolean(this.#watch?.problem),
      diskFull: this.#diskFull,
    });
    return {
      ready: problems.length === 0,
      problems,
      workers,
      idleWorkers: workers - running,
      warmWorkers: this.#pool?.warmWorkers ?? 0,
      rendererDeaths: this.#pool?.rendererDeaths ?? 0,
      queued,
      oldestQueuedAt: oldestQueuedMs === null ? null : isoTime(oldestQueuedMs),
      running,
      queuePausedAt: this.#queuePausedAtMs === null ? null : isoTime(this.#queuePausedAtMs),
      diskFull: this.#diskFull,
      bookProblems: this.#upkeep.bookProblems,
      renderer: this.#pool?.versions ?? null,
      sandbox: this.#pool?.sandbox ?? null,
    };
  }

  async #takeOn(newJob: NewJob): Promise<Job> {
    const mayEnter = () => {
      this.#assertDisk();
      this.#dispatcher.assertRoom(newJob.owner);
    };
    const { job: record, repeated } = await this.#book.open(newJob, mayEnter);
    if (repeated) return jobOf(record);
    const job = this.#announce(record);
    this.#dispatcher.add(record);
    return job;
  }

  async #setQueuePaused(atMs: number | null): Promise<void> {
    await this.#storage.transaction((tx) => this.#storage.setQueuePausedAtMs(tx, atMs));
    this.#queuePausedAtMs = atMs;
  }

  get #diskFull(): boolean {
    return this.#dataFolder?.room.isShort ?? false;
  }

  async #keepRoom(): Promise<void> {
    await this.#dataFolder?.room.start({
      sizeBytes: this.#workers * SPARE_BYTES_PER_JOB + SPARE_BYTES_FOR_THE_REST,
      logger: this.#logger,
      onRoom: () => {
        this.#dispatcher.dispatch();
        this.#sender?.wake();
      },
    });
  }

  async #recover(): Promise<JobRecord[]> {
    try {
      return await this.#book.recover();
    } catch (error) {
      if (!isScenepressError(error, 'storage_full')) throw error;
      return this.#book.recover(); // Now with the spare room.
    }
  }

  get #accepting(): boolean {
    return this.#state === 'running' || this.#state === 'open';
  }

  #createWatch(pool: RenderPool, launcher: Launcher): RendererWatch {
    return new RendererWatch({
      pool,
      launcher,
      clock: this.#clock,
      logger: this.#logger,
      idleMs: this.#signOfLifeAfterMs || Number.POSITIVE_INFINITY,
      hasIdleWorker: () => this.#dispatcher.running < pool.size,
      mayTry: () => !this.#diskFull,
      onRecovery: () => this.#dispatcher.dispatch(),
    });
  }

  #openStudio(): void {
    if (!this.#studio) return;
    const { path, closed } = this.#studio;
    if (closed) makeStudioParts(path);
    if (existsSync(path)) return;
    throw new ScenepressError(
      'renderer_unavailable',
      `There is no folder ${path}, which was named as the studio's own. Make it, or name another.`,
    );
  }

  #logSandbox(): void {
    const sandbox = this.#pool?.sandbox;
    if (sandbox?.level === 'full') this.#logger.info({ sandbox }, 'Scenes are rendered in the full sandbox.');
    else if (sandbox?.level === 'reduced')
      this.#logger.warn({ sandbox }, 'Scenes are rendered in a reduced sandbox.');
    else this.#logger.warn({ sandbox }, 'Scenes are rendered in no sandbox: their code must be trusted.');
  }

  #createSender(outbound: Outbound): DeliverySender {
    const { concurrency = 256, concurrencyPerHost = 8 } = this.#webhookOptions;
    return new DeliverySender({
      store: this.#storage.deliveries,
      book: this.#deliveryBook,
      outbound,
      secretOf: (delivery) => this.#webhookSecrets.of(delivery),
      mayBegin: () => !this.#diskFull,
      clock: this.#clock,
      logger: this.#logger,
      concurrency,
      concurrencyPerHost,
      onAttempt: (delivery) => this.emit('delivery', deliveryOf(delivery)),
    });
  }

  /** Sees to it that what is promised to a webhook can be kept; `secret`: the job's own. */
  async #prepareSecret(secret: string | undefined): Promise<void> {
    if (this.#assetUrl === undefined) {
      throw new ScenepressError(
        'invalid_request',
        'Webhooks are not set up here: RenderService was given no `assetUrl`.',
      );
    }
    await this.#webhookSecrets.prepare(secret);
  }

  #linkStart(): string {
    const assetUrl = this.#assetUrl ?? '';
    return typeof assetUrl === 'string' ? assetUrl : assetUrl();
  }

  async #record(jobId: string, owner?: string): Promise<JobRecord> {
    const job = await this.#storage.getJob(jobId);
    if (!job || job.phase === 'reserving' || (owner !== undefined && job.owner !== owner)) {
      throw new ScenepressError('not_found', 'There is no such job.');
    }
    return job;
  }

  #announce(record: JobRecord): Job {
    const job = jobOf(record);
    try {
      this.emit('job', job);
    } catch (error) {
      // As if nobody had called the listener: what follows a change of a job must not be left undone for it.
      process.nextTick(() => {
        throw error;
      });
    }
    if (!isTerminal(record.phase)) return job;
    this.#ends.emit(record.jobId);
    if (job.webhookUrl !== null) this.#sender?.wake();
    return job;
  }

  #assertAccepting(): void {
    if (!this.#accepting)
      throw new ScenepressError('not_running', 'The service is not running. Try again later.');
  }

  async #openStores(): Promise<void> {
    await this.#dataFolder?.start();
    await this.#storage.start();
    await this.#assets.start?.();
    await this.#ledger.start?.();
    this.#queuePausedAtMs = await this.#storage.queuePausedAtMs();
  }

  #assertDisk(): void {
    if (!this.#diskFull) return;
    throw new ScenepressError(
      'storage_full',
      'The disk of the service is full: it takes no jobs until there is room. Try again later.',
    );
  }

  async #close(): Promise<void> {
    await this.#watch?.stop();
    this.#watch = undefined;
    await this.#pool?.stop();
    this.#pool = undefined;
    await this.#dataFolder?.room.stop();
    await this.#ledger.stop?.();
    await this.#assets.stop?.();
    await this.#storage.stop();
    await this.#dataFolder?.stop();
    this.#state = 'stopped';
  }
}

/** The same for two requests that ask for the same. */
function fingerprintOf(newJob: object): string {
  return createHash('sha256').update(JSON.stringify(newJob)).digest('hex');
}

/** The data folder is closed to other users of the machine; whether another folder is, nobody knows. */
function studioOf(folder: string | undefined, dataFolder: DataFolder | undefined): StudioFolder | undefined {
  if (folder !== undefined) return { path: resolve(folder), closed: false };
  return dataFolder && { path: dataFolder.path, closed: true };
}
