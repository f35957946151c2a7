import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import type { AssetStore, ByteRange, OpenedAsset } from './assets/asset-store.ts';
import { KEEP_ALL } from './assets/retention.ts';
import { type Clock, isoTime, systemClock } from './clock.ts';
import { DataFolder } from './data-folder/data-folder.ts';
import { explained } from './data-folder/folder-check.ts';
import { spareBytesFor } from './data-folder/spare-room.ts';
import { ScenepressError } from './errors.ts';
import { Cancellations } from './jobs/cancellations.ts';
import { Discards } from './jobs/discards.ts';
import { Dispatcher } from './jobs/dispatcher.ts';
import { DEFAULT_BUDGETS, FailureBudgets } from './jobs/failure-budgets.ts';
import { forgetJob, forgetJobsOf } from './jobs/forget.ts';
import { Intake } from './jobs/intake.ts';
import { type ArtifactName, isTerminal, type Job, type JobRecord, jobOf } from './jobs/job.ts';
import { fingerprintOf, JobBook } from './jobs/job-book.ts';
import { JobEnds } from './jobs/job-ends.ts';
import { recentEnds } from './jobs/recent-ends.ts';
import { parseRenderRequest } from './jobs/render-request.ts';
import { STANDING_MS, Standing } from './jobs/standing.ts';
import { withSpareRoom } from './jobs/with-spare-room.ts';
import type { ApiKeys } from './keys/api-keys.ts';
import type { Balance, Ledger } from './ledger/ledger.ts';
import { DEFAULT_PRICING, Pricing } from './ledger/pricing.ts';
import { StoredLedger } from './ledger/stored-ledger.ts';
import { UnmeteredLedger } from './ledger/unmetered-ledger.ts';
import { type Logger, silentLogger } from './logger.ts';
import type { Precedence } from './queue/queue.ts';
import { DEFAULT_QUEUE } from './queue/queue-options.ts';
import { Renderer, studioOf } from './render/pool/renderer.ts';
import { DEFAULT_LIMITS } from './render/run/limits.ts';
import type { RenderProgress } from './render/run/render-task.ts';
import {
  type EnqueueRequest,
  type JobScope,
  type RenderServiceEvents,
  type RenderServiceOptions,
  ROLES,
  type Role,
} from './render-service-options.ts';
import { problemsOf, type ServiceState, type ServiceStatus } from './service-status.ts';
import type { SettingsStore } from './settings/settings-store.ts';
import { LocalSignals } from './signals/local-signals.ts';
import type { JobQuery, Storage } from './storage/storage.ts';
import { Upkeep } from './upkeep.ts';
import { Deliveries } from './webhooks/deliveries.ts';
import { Webhooks } from './webhooks/webhooks.ts';

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
  readonly #settings: SettingsStore;
  readonly #assets: AssetStore;
  readonly #ledger: Ledger;
  readonly #pricing: Pricing;
  readonly #book: JobBook;
  readonly #intake: Intake;
  readonly #logger: Logger;
  readonly #dataFolder: DataFolder | undefined;
  readonly #roles: readonly Role[];
  readonly #workers: number;
  readonly #renderer: Renderer;
  readonly #dispatcher: Dispatcher;
  readonly #cancellations: Cancellations;
  readonly #budgets: FailureBudgets;
  readonly #standing: Standing;
  readonly #upkeep: Upkeep;
  readonly #clock: Clock;
  readonly #webhooks: Webhooks;
  /** What was sent to webhooks, and how it went. */
  readonly deliveries: Deliveries;

  #state: ServiceState = 'stopped';
  #queuePausedAtMs: number | null = null;
  /** Ends the start that is under way; resolves when it has rejected. */
  #cancelStart: (() => Promise<void>) | undefined;
  readonly #ends = new JobEnds();

  constructor(options: RenderServiceOptions) {
    super();
    const dataFolder = options.dataFolder ?? (options.folder ? new DataFolder(options.folder) : undefined);
    const storage = options.storage ?? dataFolder?.storage;
    const assets = options.assets ?? dataFolder?.assets;
    const settings = options.settings ?? dataFolder?.settings;
    const workFolder = options.workFolder ?? dataFolder?.workFolder;
    assert(
      storage && settings && assets && workFolder,
      'give `folder`, or all of `storage`, `settings`, `assets` and `workFolder`',
    );
    const clock = options.clock ?? systemClock;
    this.#dataFolder = dataFolder;
    this.#storage = storage;
    this.#settings = settings;
    this.#assets = assets;
    this.#ledger =
      options.ledger ??
      new UnmeteredLedger({ books: dataFolder && new StoredLedger({ store: dataFolder.ledgerStore }) });
    this.#pricing = new Pricing({ ...DEFAULT_PRICING, ...options.pricing });
    this.#logger = options.logger ?? silentLogger;
    this.#roles = options.roles ?? ROLES;
    assert(
      this.#roles.length > 0 && this.#roles.every((role) => ROLES.includes(role)),
      `roles are some of ${ROLES.join(', ')}`,
    );
    this.#workers = options.workers ?? availableParallelism();
    assert(Number.isInteger(this.#workers) && this.#workers >= 1, 'workers is a whole number of at least 1');
    this.#clock = clock;
    const signals = options.signals ?? new LocalSignals();
    this.#webhooks = new Webhooks({
      options: options.webhooks ?? {},
      storage,
      signals,
      dataFolder,
      assetUrl: options.assetUrl,
      clock,
      logger: this.#logger,
      mayBegin: () => !this.#diskFull,
      onAttempt: (delivery) => this.emit('delivery', delivery),
    });
    this.deliveries = new Deliveries({ storage, clock });
    const queue = { ...DEFAULT_QUEUE, ...options.queue };
    const precedenceOf = (owner: string): Precedence => ({
      // What was taken on is rendered, but not while others, who pay, wait.
      yields: this.#budgets.isSpent(owner),
      inGoodStanding: this.#standing.isGood(owner),
    });
    const discards = new Discards({ assets, logger: this.#logger });
    this.#book = new JobBook({
      storage,
      ledger: this.#ledger,
      pricing: this.#pricing,
      clock,
      caps: queue,
      precedenceOf,
      logger: this.#logger,
      onEnd: (tx, job) => this.#webhooks.book.open(tx, job),
      sealSecret: (secret) => this.#webhooks.secrets.seal(secret),
      onStuck: (jobId) => void this.#cancellations.resume(jobId),
      onOrphans: (assetKeys) => discards.add(assetKeys),
    });
    this.#intake = new Intake({
      book: this.#book,
      admitsOwner: options.admitsOwner ?? (() => true),
      assertMayAdd: (owner) => this.#assertMayAdd(owner),
      onNew: (job) => this.#announce(job),
    });
    this.#budgets = new FailureBudgets({ limits: { ...DEFAULT_BUDGETS, ...options.budgets }, clock });
    this.#standing = new Standing(clock);
    const onChange = (job: JobRecord): void => void this.#announce(job);
    this.#cancellations = new Cancellations({
      book: this.#book,
      storage,
      signals,
      logger: this.#logger,
      onChange,
    });
    this.#dispatcher = new Dispatcher({
      book: this.#book,
      signals,
      discards,
      storage,
      assets,
      ledger: this.#ledger,
      pricing: this.#pricing,
      logger: this.#logger,
      queue,
      previewIntervalMs: options.previewIntervalMs ?? 0,
      // Jobs that a broken renderer is given would only use up their attempts.
      mayBegin: () => !this.#diskFull && this.#renderer.mayRender,
      precedenceOf,
      onNoRoom: (missingBytes) => void this.#dataFolder?.room.ranOut({ missingBytes }),
      onChange,
      onProgress: (jobId, progress) => this.emit('progress', jobId, progress),
      onPreview: (jobId, jpeg) => this.emit('preview', jobId, jpeg),
    });
    this.#renderer = new Renderer({
      renderer: options.renderer ?? {},
      studio: studioOf(options.studioFolder, dataFolder),
      workers: this.#workers,
      limits: { ...DEFAULT_LIMITS, ...options.limits },
      workFolder: resolve(workFolder),
      signOfLifeAfterMs: options.signOfLifeAfterMs,
      clock,
      logger: this.#logger,
      hasIdleWorker: () => this.#dispatcher.running < this.#workers,
      mayTry: () => !this.#diskFull,
      onWarm: () => this.#dispatcher.resumeBeginning(),
      onRecovery: () => this.#dispatcher.wake(),
    });
    this.#upkeep = new Upkeep({
      storage,
      assets,
      ledger: this.#ledger,
      book: this.#book,
      retention: { ...KEEP_ALL, ...options.retention },
      onWaitingAgain: onChange,
      worker: () => this.#dispatcher.worker,
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
    const { promise: settled, resolve: settle } = Promise.withResolvers<void>();
    const cancel = new AbortController();
    const { signal } = cancel;
    this.#cancelStart = () => {
      cancel.abort(new ScenepressError('not_running', 'The service was stopped before it had started.'));
      return settled;
    };
    try {
      await this.#openStores();
      await this.#keepRoom();
      // Made here, so that what is wrong with its options stops the start.
      this.#webhooks.open();
      const letThrough = async () => this.#dataFolder?.letThrough();
      const pool = this.#does('worker') ? await this.#renderer.start({ letThrough, signal }) : undefined;
      const paused = this.#queuePausedAtMs !== null;
      if (paused) {
        const { queuePausedAt } = this.status();
        this.#logger.warn({ queuePausedAt }, 'The queue is paused: no render begins until it is resumed.');
      }
      await withSpareRoom(() => this.#book.recover());
      await this.#restoreStanding();
      await this.#dispatcher.start(pool, { paused });
      if (this.#does('sender')) this.#webhooks.start();
    } catch (error) {
      await this.#close();
      throw this.#dataFolder ? explained(error, this.#dataFolder.path) : error;
    } finally {
      this.#cancelStart = undefined;
      settle();
    }
    this.#state = 'running';
    if (this.#does('upkeep')) this.#upkeep.start();
  }

  /**
   * Opens the stores without workers: jobs can be looked at, taken on, cancelled and rendered again, and the queue be
   * paused. What waits is rendered, and what is due to webhooks sent, after {@link start}.
   */
  async open(): Promise<void> {
    if (this.#accepting) return;
    try {
      await this.#openStores();
      await this.#dispatcher.start(undefined, { paused: this.#queuePausedAtMs !== null });
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
    const watchStopped = this.#renderer.stopWatch();
    const until = performance.now() + graceMs;
    await this.#dispatcher.stop(graceMs);
    this.#cancellations.stop();
    await this.#webhooks.stop({ graceMs: Math.max(0, until - performance.now()) });
    await watchStopped;
  }

  /**
   * Drains, then closes everything. Resolves when no process is left. A start that is under way rejects with
   * `not_running`.
   */
  async stop({ graceMs = 0 }: { graceMs?: number } = {}): Promise<void> {
    await this.#cancelStart?.();
    await this.drain({ graceMs });
    await this.#close();
    this.#ends.stop();
  }

  /**
   * Takes a render on. When it resolves, the job and its reserve survive a power cut.
   * Errors: `invalid_request`, `conflict` (idempotency), `too_many_failures`, `queue_full`, `insufficient_credits`,
   * `owner_refused`, `not_running`, `storage_full`, `storage_failed`.
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
    if (newJob.webhookUrl !== null) await this.#webhooks.prepare(webhook?.secret);
    const taken = await this.#intake.take({
      ...newJob,
      ...(webhook?.secret !== undefined && newJob.webhookUrl !== null && { webhookSecret: webhook.secret }),
      idempotency: idempotency
        ? { key: idempotency.key, fingerprint: idempotency.fingerprint ?? fingerprintOf(newJob) }
        : null,
    });
    return jobOf(taken);
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
    const taken = await this.#intake.take({
      owner: earlier.owner,
      request: { code, className, quality, aspectRatio, fps },
      metadataJson,
      webhookUrl,
      keyId,
      ...(sealed !== undefined && { webhookSecret: await this.#webhooks.secrets.open(sealed) }),
    });
    return jobOf(taken);
  }

  /**
   * Seals with the current master key the secrets that are sealed with the one before: those that came with jobs, and those
   * of `keys`. Step by step, while the service goes on; cut off, it can be repeated. This is what
   * {@link replaceMasterKey} calls `reseal`. How many there were of each.
   */
  async resealSecrets({ keys: apiKeys }: { keys?: ApiKeys } = {}): Promise<{ jobs: number; keys: number }> {
    const total = { jobs: 0, keys: 0 };
    for (;;) {
      const keys = (await apiKeys?.reseal()) ?? 0;
      const { jobs, deliveries } = await this.#webhooks.secrets.reseal(this.#storage);
      total.keys += keys;
      total.jobs += jobs;
      // Some may have been sealed just before the master key changed, and written down behind the steps.
      if (keys + jobs + deliveries === 0) return total;
    }
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
    await this.#cancellations.cancel(jobId);
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

  /**
   * The same for all jobs of an owner, those that are being taken on too; those that are not over are cancelled. Answers
   * with their number.
   */
  async forgetAll(owner: string): Promise<number> {
    await this.#intake.settled();
    const count = await forgetJobsOf(owner, this.#stores, (jobId) => this.cancel(jobId));
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
    return this.#ends.wait(jobId, () => this.get(jobId), signal);
  }

  /**
   * The names of the scenes that a source defines, as `manim` would offer them: its code is run, in the sandbox.
   * Errors: `invalid_request` with the error of the code, `renderer_unavailable`.
   */
  async scenesOf(code: string): Promise<string[]> {
    this.#assertAccepting();
    const listed = await this.#renderer.listScenes(code);
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
    const { workers, warmWorkers, deaths, refused, broken, placeless, versions, sandbox } =
      this.#renderer.status;
    const { oldestQueuedMs, queued, running } = this.#dispatcher;
    const { isShortage } = this.#dispatcher;
    const problems = problemsOf({
      state: this.#state,
      refused,
      broken,
      placeless,
      diskFull: this.#diskFull,
      isShortage,
    });
    return {
      ready: problems.length === 0,
      problems,
      workers,
      idleWorkers: workers - running,
      warmWorkers,
      rendererDeaths: deaths,
      queued,
      oldestQueuedAt: oldestQueuedMs === null ? null : isoTime(oldestQueuedMs),
      running,
      queuePausedAt: this.#queuePausedAtMs === null ? null : isoTime(this.#queuePausedAtMs),
      diskFull: this.#diskFull,
      bookProblems: this.#upkeep.bookProblems,
      renderer: versions,
      sandbox,
    };
  }

  /** Takes up how the owners' renders ended in earlier lives. */
  async #restoreStanding(): Promise<void> {
    this.#budgets.clear();
    this.#standing.clear();
    const sinceMs = this.#clock.now() - STANDING_MS;
    for await (const job of recentEnds(this.#storage, sinceMs)) this.#noteEnd(job);
  }

  #noteEnd(job: JobRecord): void {
    this.#budgets.note(job);
    this.#standing.note(job);
  }

  #assertMayAdd(owner: string): void {
    this.#assertDisk();
    this.#budgets.assertWithin(owner);
  }

  #does(role: Role): boolean {
    return this.#roles.includes(role);
  }

  async #setQueuePaused(queuePausedAtMs: number | null): Promise<void> {
    await this.#settings.changeSettings((settings) => ({ ...settings, queuePausedAtMs }));
    this.#queuePausedAtMs = queuePausedAtMs;
  }

  get #diskFull(): boolean {
    return this.#dataFolder?.room.isShort ?? false;
  }

  async #keepRoom(): Promise<void> {
    await this.#dataFolder?.room.start({
      sizeBytes: spareBytesFor(this.#workers),
      logger: this.#logger,
      onRoom: () => {
        this.#dispatcher.resumeBeginning();
        this.#webhooks.wake();
      },
    });
  }

  get #accepting(): boolean {
    return this.#state === 'running' || this.#state === 'open';
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
    if (record.phase === 'queued') this.#dispatcher.added();
    if (!isTerminal(record.phase)) return job;
    this.#noteEnd(record);
    this.#dispatcher.ended(record.owner);
    this.#ends.tell(record.jobId);
    if (job.webhookUrl !== null) this.#webhooks.tell();
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
    this.#queuePausedAtMs = (await this.#settings.getSettings()).queuePausedAtMs;
  }

  #assertDisk(): void {
    if (!this.#diskFull) return;
    throw new ScenepressError(
      'storage_full',
      'The disk of the service is full: it takes no jobs until there is room. Try again later.',
    );
  }

  async #close(): Promise<void> {
    await this.#renderer.stop();
    await this.#dataFolder?.room.stop();
    await this.#ledger.stop?.();
    await this.#assets.stop?.();
    await this.#dataFolder?.stop();
    await this.#storage.stop();
    this.#state = 'stopped';
  }
}
