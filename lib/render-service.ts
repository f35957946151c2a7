import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import type { ArtifactName } from './artifacts.ts';
import type { ByteRange, OpenedAsset } from './assets/asset-store.ts';
import { spareBytesFor } from './data-folder/spare-space.ts';
import { ScenepressError } from './errors.ts';
import { explained } from './folder-faults.ts';
import { firstIdAt } from './ids.ts';
import { forgetJob, forgetJobsOf } from './jobs/forget.ts';
import { isTerminal, type Job, type JobRecord, type JobStatus, jobOf } from './jobs/job.ts';
import { fingerprintOf } from './jobs/job-book.ts';
import { type JobListQuery, jobQueryOf } from './jobs/job-list-query.ts';
import { parseRenderRequest } from './jobs/render-request.ts';
import { type ErrorSearch, type ErrorSearchResult, searchErrors } from './jobs/search-errors.ts';
import { withSpareSpace } from './jobs/with-spare-space.ts';
import type { ApiKeys } from './keys/api-keys.ts';
import type { Balance } from './ledger/ledger.ts';
import type { RenderProgress } from './render/run/render-task.ts';
import type {
  EnqueueRequest,
  JobScope,
  RenderServiceEvents,
  RenderServiceOptions,
  Role,
} from './render-service-options.ts';
import { makeParts, type ServiceParts } from './service-parts.ts';
import { type ServiceState, type ServiceStatus, statusOf } from './service-status.ts';
import type { Deliveries } from './webhooks/deliveries.ts';

/**
 * Renders scenes: accepts requests, dispatches them to workers, keeps the ledger and serves artifacts.
 *
 * ```ts
 * const service = new RenderService({ folder: './renders' });
 * await service.start();
 * const { jobId } = await service.enqueue({ owner: 'me', className: 'Hello', code });
 * const job = await service.wait(jobId);
 * ```
 */
export class RenderService extends EventEmitter<RenderServiceEvents> {
  readonly #parts: ServiceParts;
  /** Webhook deliveries and their results. */
  readonly deliveries: Deliveries;

  #state: ServiceState = 'stopped';
  /** Aborts a start in progress; resolves when it has rejected. */
  #cancelStart: (() => Promise<void>) | undefined;

  /** `parts`: made of these options otherwise, for simulations. */
  constructor(options: RenderServiceOptions, parts: ServiceParts = makeParts(options)) {
    super();
    this.#parts = parts;
    const { deliveries, events, webhooks } = this.#parts;
    this.deliveries = deliveries;
    events.on('change', (job) => this.#announce(job));
    events.on('progress', (jobId, progress) => this.emit('progress', jobId, progress));
    events.on('preview', (jobId, jpeg) => this.emit('preview', jobId, jpeg));
    webhooks.on('delivery', (delivery) => this.emit('delivery', delivery));
  }

  /**
   * Opens the stores, recovers jobs of an earlier process and starts the workers. Resolves when one worker is warm.
   * Errors: `storage_locked`, `storage_damaged`, `renderer_unavailable`; on error nothing is left running.
   */
  async start(): Promise<void> {
    if (this.#state === 'running') return;
    this.#state = 'starting';
    const { promise: settled, resolve: settle } = Promise.withResolvers<void>();
    const cancel = new AbortController();
    const { signal } = cancel;
    const { dataFolder, dispatcher, logger, owners, renderer, upkeep, webhooks, workers } = this.#parts;
    this.#cancelStart = () => {
      cancel.abort(new ScenepressError('not_running', 'The service was stopped before it had started.'));
      return settled;
    };
    try {
      await this.#openStores();
      await dataFolder?.spareSpace.start({ sizeBytes: spareBytesFor(workers), logger });
      // Before the workers, because it rejects invalid options.
      webhooks.open();
      const allowTraversal = async () => dataFolder?.allowTraversal();
      const isWorker = this.#does('worker');
      if (isWorker) await renderer.start({ allowTraversal, signal });
      const { queuePausedAt } = this.status();
      if (queuePausedAt !== null)
        logger.warn({ queuePausedAt }, 'The queue is paused: no render starts until it is resumed.');
      await this.#recover();
      await owners.restore();
      await dispatcher.start(isWorker ? renderer : undefined);
      if (this.#does('sender')) webhooks.start();
    } catch (error) {
      await this.#close();
      throw dataFolder ? explained(error, dataFolder.path) : error;
    } finally {
      this.#cancelStart = undefined;
      settle();
    }
    this.#state = 'running';
    if (this.#does('upkeep')) upkeep.start();
  }

  /**
   * Opens the stores without workers: jobs can be read, enqueued, canceled and rendered again, and the queue can be
   * paused. Queued jobs are rendered, and due webhooks sent, after {@link start}.
   */
  async open(): Promise<void> {
    if (this.#accepting) return;
    try {
      await this.#openStores();
      await this.#parts.dispatcher.start(undefined);
    } catch (error) {
      await this.#close();
      throw error;
    }
    this.#state = 'open';
  }

  /**
   * Rejects new jobs. Running renders may continue for `graceMs` (default 0); those still running are then stopped
   * and retried after the next start. Queued jobs stay queued. Webhook requests get the rest of the grace period;
   * interrupted ones are recorded. Jobs and artifacts can be read until {@link stop}.
   */
  async drain({ graceMs = 0 }: { graceMs?: number } = {}): Promise<void> {
    if (this.#accepting) this.#state = 'stopping';
    const { cancellations, clock, dispatcher, renderer, upkeep, webhooks } = this.#parts;
    await upkeep.stop();
    const watchStopped = renderer.stopWatch();
    const until = clock.uptimeMs() + graceMs;
    await dispatcher.stop(graceMs);
    cancellations.stop();
    await webhooks.stop({ graceMs: Math.max(0, until - clock.uptimeMs()) });
    await watchStopped;
  }

  /**
   * Drains, then closes everything. Resolves when no child process is left. A start in progress rejects with
   * `not_running`.
   */
  async stop({ graceMs = 0 }: { graceMs?: number } = {}): Promise<void> {
    await this.#cancelStart?.();
    await this.drain({ graceMs });
    await this.#close();
    this.#parts.ends.stop();
  }

  /**
   * Enqueues a render. When it resolves, the job and its reserve are durable. Errors: `invalid_request`, `conflict`
   * (idempotency), `too_many_failures`, `queue_full`, `insufficient_credits`, `owner_refused`, `not_running`,
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
    if (newJob.webhookUrl !== null) await this.#parts.webhooks.prepare(webhook?.secret);
    const taken = await this.#parts.intake.take({
      ...newJob,
      ...(webhook?.secret !== undefined && newJob.webhookUrl !== null && { webhookSecret: webhook.secret }),
      idempotency: idempotency
        ? { key: idempotency.key, fingerprint: idempotency.fingerprint ?? fingerprintOf(newJob) }
        : null,
    });
    return jobOf(taken);
  }

  /**
   * Enqueues a copy of an earlier job: same request, owner, key, metadata and webhook. Errors: those of {@link
   * enqueue}; `not_found` also when the source of the earlier job has been removed.
   */
  async renderAgain(jobId: string, { owner }: JobScope = {}): Promise<Job> {
    this.#assertAccepting();
    const { className, quality, aspectRatio, fps, ...earlier } = await this.#record(jobId, owner);
    const code = await this.#parts.storage.readSource(jobId);
    if (code === undefined) {
      throw new ScenepressError('not_found', 'The source of this job has been removed.');
    }
    const { metadataJson, webhookUrl, keyId, webhookSecretSealed: sealed } = earlier;
    const taken = await this.#parts.intake.take({
      owner: earlier.owner,
      request: { code, className, quality, aspectRatio, fps },
      metadataJson,
      webhookUrl,
      keyId,
      ...(sealed !== undefined && { webhookSecret: await this.#parts.webhooks.secrets.open(sealed) }),
    });
    return jobOf(taken);
  }

  /**
   * Re-encrypts secrets that are sealed with the previous master key: those of jobs, and those of `keys`. Works in
   * steps while the service runs; can be repeated after an interruption. Pass it to {@link replaceMasterKey} as
   * `reseal`. Returns the number of secrets re-encrypted.
   */
  async resealSecrets({ keys: apiKeys }: { keys?: ApiKeys } = {}): Promise<{ jobs: number; keys: number }> {
    return this.#parts.webhooks.secrets.resealAll(this.#parts.storage, apiKeys);
  }

  /** Error: `not_found` when the job does not exist or has another owner. */
  async get(jobId: string, { owner }: JobScope = {}): Promise<Job> {
    return jobOf(await this.#record(jobId, owner));
  }

  /** Jobs, newest first. */
  async list(query: JobListQuery = {}): Promise<Job[]> {
    return (await this.#parts.storage.listJobs(jobQueryOf(query))).map(jobOf);
  }

  /**
   * Failed jobs whose error contains a text, in any case, newest first. Errors are stored encrypted, so it reads one
   * job after the other: at most `mostExamined` (default 1000), from where another call continues.
   */
  searchErrors(query: ErrorSearch): Promise<ErrorSearchResult> {
    return searchErrors(this.#parts.storage, query);
  }

  /** The number of jobs with each status, up to `limit`, created at `sinceMs` (epoch milliseconds) or later. */
  count({
    sinceMs = 0,
    ...query
  }: JobScope & { sinceMs?: number; limit?: number } = {}): Promise<Record<JobStatus, number>> {
    return this.#parts.storage.countJobs({ ...query, after: firstIdAt(sinceMs) });
  }

  /** Cancels an unfinished job: it fails with "Canceled". A terminal job is returned unchanged. */
  async cancel(jobId: string, { owner }: JobScope = {}): Promise<Job> {
    const job = await this.#record(jobId, owner);
    if (isTerminal(job.phase)) return jobOf(job);
    this.#assertAccepting();
    await this.#parts.cancellations.cancel(jobId);
    return this.wait(jobId);
  }

  /**
   * Erases a job's content, from the disk too: code, metadata, error, artifacts and webhook bodies. Its cost, times
   * and owner are kept. Can be repeated after an error. Errors: `not_found`; `conflict` while the job is not
   * terminal.
   */
  async forget(jobId: string, { owner }: JobScope = {}): Promise<Job> {
    const job = await this.#record(jobId, owner);
    if (!isTerminal(job.phase)) {
      throw new ScenepressError(
        'conflict',
        `Job ${jobId} has not ended. Cancel it first, or wait until it ends.`,
      );
    }
    const forgotten = await forgetJob(this.#parts, job);
    await this.#parts.storage.purge();
    return jobOf(forgotten);
  }

  /**
   * Erases all jobs of an owner, including those being enqueued; unfinished jobs are canceled first. Returns the
   * number of jobs.
   */
  async forgetAll(owner: string): Promise<number> {
    await this.#parts.intake.settled();
    const count = await forgetJobsOf(owner, this.#parts, (jobId) => this.cancel(jobId));
    await this.#parts.storage.purge();
    return count;
  }

  /**
   * Resolves with the job when it is terminal. `signal` aborts the wait. Error: `not_running` when the service stops
   * first; the job is kept.
   */
  async wait(jobId: string, { signal }: { signal?: AbortSignal } = {}): Promise<Job> {
    return this.#parts.ends.wait(jobId, () => this.get(jobId), signal);
  }

  /**
   * Lists the scene classes that a source defines, as `manim` lists them. Runs the code, in the sandbox. Errors:
   * `invalid_request` with the code's error, `renderer_unavailable`.
   */
  async scenesOf(code: string): Promise<string[]> {
    this.#assertAccepting();
    const listed = await this.#parts.renderer.listScenes(code);
    if (listed.kind === 'listed') return listed.scenes;
    if (listed.kind === 'failed') throw new ScenepressError('invalid_request', listed.error);
    throw new ScenepressError('renderer_unavailable', `The renderer failed: ${listed.message}.`);
  }

  /** The progress of a running job; undefined when this process is not rendering it. */
  progress(jobId: string): RenderProgress | undefined {
    return this.#parts.dispatcher.progress(jobId);
  }

  /**
   * Reads an artifact. Errors: `not_found` when the job has no such artifact, `artifact_gone` when it has been
   * removed.
   */
  async openArtifact(jobId: string, name: ArtifactName, range?: ByteRange): Promise<OpenedAsset> {
    const artifact = (await this.#record(jobId)).artifacts.find((artifact) => artifact.name === name);
    if (!artifact) throw new ScenepressError('not_found', `The job has no ${name}.`);
    const opened = await this.#parts.assets.open(artifact.assetKey, range);
    if (!opened)
      throw new ScenepressError('artifact_gone', `${name} of this job has been removed. Render it again.`);
    return opened;
  }

  /**
   * Starts no more renders until {@link resumeQueue}, also after restarts. Running renders continue; jobs are still
   * accepted.
   */
  async pauseQueue(): Promise<void> {
    this.#assertAccepting();
    await this.#parts.gate.pause();
  }

  /** Starts renders again. */
  async resumeQueue(): Promise<void> {
    this.#assertAccepting();
    await this.#parts.gate.resume();
  }

  /** The credits that an owner can spend now. */
  balance(owner: string): Promise<Balance> {
    return this.#parts.ledger.balance(owner);
  }

  status(): ServiceStatus {
    return statusOf(this.#parts, this.#state);
  }

  /** Completes the transitions that an earlier process left unfinished. */
  async #recover(): Promise<void> {
    const { book, cancellations, discards } = this.#parts;
    const { orphans, stuck } = await withSpareSpace(() => book.recover());
    discards.add(orphans);
    for (const jobId of stuck) void cancellations.resume(jobId);
  }

  #does(role: Role): boolean {
    return this.#parts.roles.includes(role);
  }

  get #accepting(): boolean {
    return this.#state === 'running' || this.#state === 'open';
  }

  async #record(jobId: string, owner?: string): Promise<JobRecord> {
    const job = await this.#parts.storage.getJob(jobId);
    if (!job || job.phase === 'reserving' || (owner !== undefined && job.owner !== owner)) {
      throw new ScenepressError('not_found', 'There is no such job.');
    }
    return job;
  }

  #announce(record: JobRecord): void {
    const { dispatcher, ends, owners, webhooks } = this.#parts;
    try {
      this.emit('job', jobOf(record));
    } catch (error) {
      // An error of a listener must not skip the steps below.
      process.nextTick(() => {
        throw error;
      });
    }
    if (record.phase === 'queued') dispatcher.added();
    if (!isTerminal(record.phase)) return;
    owners.note(record);
    dispatcher.ended(record.owner);
    ends.notify(record.jobId);
    if (record.webhookUrl !== null) webhooks.notifyDue();
  }

  #assertAccepting(): void {
    if (!this.#accepting)
      throw new ScenepressError('not_running', 'The service is not running. Try again later.');
  }

  async #openStores(): Promise<void> {
    const { assets, dataFolder, gate, ledger, storage } = this.#parts;
    await dataFolder?.start();
    await storage.start();
    await assets.start?.();
    await ledger.start?.();
    await gate.start();
  }

  async #close(): Promise<void> {
    const { assets, dataFolder, gate, ledger, renderer, storage } = this.#parts;
    await renderer.stop();
    gate.stop();
    await dataFolder?.spareSpace.stop();
    await ledger.stop?.();
    await assets.stop?.();
    await dataFolder?.stop();
    await storage.stop();
    this.#state = 'stopped';
  }
}
