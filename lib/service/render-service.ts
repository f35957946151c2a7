/// <reference lib="esnext.disposable" preserve="true" />

import { type OpenArtifactOptions, type OpenedArtifact, openArtifact } from '../assets/open-artifact.ts';
import { abortable } from '../async/abortable.ts';
import { EmitterBase } from '../async/emitter.ts';
import { ScenepressError } from '../base/errors.ts';
import { known, type Names, SIGNAL } from '../base/known-options.ts';
import { isStorableText } from '../base/storable-text.ts';
import { newJobOf } from '../jobs/accept/new-job.ts';
import { copyOf } from '../jobs/accept/render-again.ts';
import { assertEnded, forgetJob, forgetJobsOf } from '../jobs/end/forget.ts';
import { CHECK_REQUEST, checkManyOfOwner, checkOfOwner } from '../jobs/run/check-scenes.ts';
import {
  INSPECT_REQUEST,
  inspectOfOwner,
  STILL_REQUEST,
  stillOfOwner,
} from '../jobs/run/pictures-of-owner.ts';
import { scenesOfOwner } from '../jobs/run/scenes-of.ts';
import type { OpenedPicture } from '../jobs/snapshots/snapshots.ts';
import type { JobEvent } from '../jobs/watch/job-followers.ts';
import { type ErrorSearch, type ErrorSearchResult, searchErrors } from '../jobs/watch/search-errors.ts';
import { validJobQuery, validOwner } from '../jobs/watch/valid-job-query.ts';
import type { ApiKeys } from '../keys/api-keys.ts';
import type { Balance } from '../ledger/ledger.ts';
import type { ArtifactName } from '../model/artifacts.ts';
import type { CheckedSource, CheckRequest } from '../model/checked-source.ts';
import type { InspectedSource } from '../model/inspected-source.ts';
import { isTerminal, type Job, type JobRecord, type JobStatus, jobOf } from '../model/job.ts';
import type { JobCountQuery, JobListQuery } from '../model/job-list-query.ts';
import type {
  InspectRequest,
  ServiceInspectedScene,
  StillRequest,
  StillResult,
} from '../model/owned-pictures.ts';
import type { Play, RenderProgress } from '../model/render-task.ts';
import type { EnqueueRequest, JobScope, ScenesOptions, WaitOptions } from '../model/requests.ts';
import type { Deliveries } from '../webhooks/deliveries.ts';
import { announce } from './announce.ts';
import { Lifecycle } from './lifecycle.ts';
import type { RenderServiceEvents, RenderServiceOptions } from './render-service-options.ts';
import { makeParts, type ServiceParts } from './service-parts.ts';
import { type ServiceStatus, statusOf } from './service-status.ts';

const SCOPE: Names<JobScope> = { owner: true };
const WAIT: Names<WaitOptions> = { owner: true, signal: true };
const GRACE = { graceMs: true };

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
export class RenderService extends EmitterBase<RenderServiceEvents> {
  readonly #parts: ServiceParts;
  /** Webhook deliveries and their results. */
  readonly deliveries: Deliveries;
  readonly #life: Lifecycle;

  constructor(options: RenderServiceOptions);
  /** @internal */
  constructor(options: RenderServiceOptions, parts: ServiceParts);
  constructor(options: RenderServiceOptions, parts: ServiceParts = makeParts(options)) {
    super();
    this.setMaxListeners(0); // Their number is no sign of a leak.
    this.#parts = parts;
    this.#life = new Lifecycle(parts);
    this.deliveries = parts.deliveries;
    announce(this, parts);
  }

  /**
   * Opens the stores, recovers jobs of an earlier process and starts the workers. Resolves when one worker is warm. Can
   * be called several times: a call during a start waits for it, and one during a stop waits for that first. `signal`
   * aborts the start, unless another call waits for it. Errors: `storage_locked`, `storage_damaged`,
   * `renderer_unavailable`, `not_running` when the service is stopped meanwhile; on error nothing is left running.
   */
  async start(options: { signal?: AbortSignal } = {}): Promise<void> {
    const { signal } = known('start', options, SIGNAL);
    await this.#life.start({ withWorkers: true, signal });
  }

  /**
   * Opens the stores without workers: jobs can be read, enqueued, canceled and rendered again, and the queue can be
   * paused. Queued jobs are rendered, and due webhooks sent, after {@link start}, which also describes overlapping calls
   * and `signal`.
   */
  async startWithoutWorkers(options: { signal?: AbortSignal } = {}): Promise<void> {
    const { signal } = known('startWithoutWorkers', options, SIGNAL);
    await this.#life.start({ withWorkers: false, signal });
  }

  /**
   * Rejects new jobs. Running renders may continue for `graceMs` (default 0); those still running are then stopped
   * and retried after the next start. Queued jobs stay queued. Webhook requests get the rest of the grace period;
   * interrupted ones are recorded. Jobs and artifacts can be read until {@link stop}. A start in progress rejects with
   * `not_running`.
   */
  async drain(options: { graceMs?: number } = {}): Promise<void> {
    const { graceMs = 0 } = known('drain', options, GRACE);
    await this.#life.drain(graceMs);
  }

  /**
   * Drains, then closes everything. Resolves when no child process is left. A start in progress rejects with
   * `not_running`. A store that another service of this process uses stays open.
   */
  async stop(options: { graceMs?: number } = {}): Promise<void> {
    const { graceMs = 0 } = known('stop', options, GRACE);
    await this.#life.stop(graceMs);
  }

  /** The same as {@link stop}: `await using service = new RenderService(…)` stops it at the end of the block. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  /**
   * Enqueues a render. When it resolves, the job and its reserve are durable. `signal` prevents a job that is not yet
   * being stored; later it has no effect. Errors: `invalid_request`, `conflict` (idempotency), `not_found` (an
   * `earlierJobId`), `too_many_failures`, `too_many_requests`, `too_much_stored`, `queue_full`, `insufficient_credits`, `owner_refused`, `not_running`,
   * `storage_full`, `storage_failed`.
   */
  async enqueue(enqueued: EnqueueRequest, options: { signal?: AbortSignal } = {}): Promise<Job> {
    const { signal } = known('enqueue', options, SIGNAL);
    const newJob = newJobOf(enqueued);
    this.#assertWorking();
    const { admission, webhooks } = this.#parts;
    if (newJob.earlierJobId !== undefined) await this.#record(newJob.earlierJobId, newJob.owner);
    if (newJob.webhookUrl !== null) await abortable(webhooks.prepare(newJob.webhookSecret), signal);
    signal?.throwIfAborted();
    return jobOf(await admission.accept(newJob));
  }

  /**
   * Enqueues a copy of an earlier job: same request, owner, key, metadata and webhook. Errors: those of {@link
   * enqueue}; `not_found` also when the source of the earlier job has been removed.
   */
  async renderAgain(jobId: string, scope: JobScope = {}): Promise<Job> {
    const { owner } = known('renderAgain', scope, SCOPE);
    this.#assertWorking();
    const copy = await copyOf(await this.#record(jobId, owner), this.#parts);
    return jobOf(await this.#parts.admission.accept(copy));
  }

  /**
   * Re-encrypts secrets that are sealed with the previous master key: those of jobs, and those of `keys`. Works in steps
   * while the service runs; can be repeated. `signal` ends it between two steps. For {@link replaceMasterKey}.
   */
  async resealSecrets(
    options: { keys?: ApiKeys; signal?: AbortSignal } = {},
  ): Promise<{ jobs: number; keys: number }> {
    const { keys: apiKeys, signal } = known('resealSecrets', options, { keys: true, signal: true });
    const { storage, webhooks } = this.#parts;
    return webhooks.secrets.resealAll(storage, apiKeys, signal);
  }

  /** Error: `not_found` when the job does not exist or has another owner. */
  async get(jobId: string, scope: JobScope = {}): Promise<Job> {
    const { owner } = known('get', scope, SCOPE);
    return jobOf(await this.#record(jobId, owner));
  }

  /** The plays and waits of a completed scene, at most 1,000; none once it is forgotten. Error: `not_found`. */
  async plays(jobId: string, scope: JobScope = {}): Promise<Play[]> {
    const { owner } = known('plays', scope, SCOPE);
    await this.#record(jobId, owner);
    return (await this.#parts.storage.readTrace(jobId)).plays;
  }

  /** Output of an ended scene, and warnings, at most 33,000 characters; empty once forgotten. Error: `not_found`. */
  async output(jobId: string, scope: JobScope = {}): Promise<string> {
    const { owner } = known('output', scope, SCOPE);
    await this.#record(jobId, owner);
    return (await this.#parts.storage.readTrace(jobId)).output;
  }

  /** Jobs, newest first; for many, leave out the `metadata`. Error: `invalid_request`. */
  async list(query: JobListQuery = {}): Promise<Job[]> {
    return (await this.#parts.storage.listJobs(validJobQuery(query))).map(jobOf);
  }

  /**
   * Failed jobs whose error contains a text, in any case, newest first. Errors are stored encrypted, so it reads one
   * job after the other: at most `mostExamined` (default 1000), from where another call continues.
   */
  searchErrors(query: ErrorSearch): Promise<ErrorSearchResult> {
    return searchErrors(this.#parts.storage, query);
  }

  /** The number of jobs with each status, up to `limit`, created at `sinceMs` (epoch milliseconds) or later. */
  async count(
    query: Omit<JobCountQuery, 'after'> & { sinceMs?: number } = {},
  ): Promise<Record<JobStatus, number>> {
    known('count', query, { owner: true, canceled: true, limit: true, sinceMs: true });
    return this.#parts.storage.countJobs({ after: '', ...validJobQuery(query) });
  }

  /** Cancels an unfinished job: it fails with "Canceled". Returns others unchanged. `signal` aborts the wait only. */
  async cancel(jobId: string, options: WaitOptions = {}): Promise<Job> {
    const { owner, signal } = known('cancel', options, WAIT);
    const ended = await abortable(this.#cancel(jobId, owner), signal);
    return ended ?? this.wait(jobId, signal ? { signal } : {});
  }

  /**
   * Erases a job's content, from the disk too (with Postgres within an hour, by a process with the role `upkeep`): code,
   * metadata, error, artifacts and webhook bodies. Its cost, times and owner are kept. Can be repeated after an error. Errors: `not_found`; `conflict` while the job is not
   * terminal.
   */
  async forget(jobId: string, scope: JobScope = {}): Promise<Job> {
    const { owner } = known('forget', scope, SCOPE);
    const job = await this.#record(jobId, owner);
    assertEnded(job);
    const forgotten = await forgetJob(this.#parts, job);
    await this.#parts.storage.purge();
    return jobOf(forgotten);
  }

  /**
   * Erases all jobs of an owner, including those being enqueued, in other processes, too; unfinished jobs are canceled
   * first. Jobs added later are not: `admitsOwner` must refuse the owner before. Returns the number of jobs. Can be
   * repeated after an error. Also removes the owner's pictures. `signal` ends it between two jobs.
   */
  async forgetAll(owner: string, options: { signal?: AbortSignal } = {}): Promise<number> {
    const { signal } = known('forgetAll', options, SIGNAL);
    await this.#parts.admission.settled();
    const count = await forgetJobsOf(validOwner(owner), this.#parts, (jobId) => this.cancel(jobId), signal);
    await this.#parts.snapshots.forget(owner);
    await this.#parts.storage.purge();
    return count;
  }

  /**
   * Resolves with the job when it is terminal. `signal` aborts the wait. Errors: `not_found`; `not_running` when the
   * service stops first; the job is kept.
   */
  async wait(jobId: string, options: WaitOptions = {}): Promise<Job> {
    const { owner, signal } = known('wait', options, WAIT);
    return this.#parts.ends.wait(jobId, async () => jobOf(await this.#record(jobId, owner)), signal);
  }

  /**
   * The events of a job, until it is terminal: first the job as it is, then its changes, progress and previews. A
   * slow reader gets only the last progress and preview. `signal` aborts it. Errors: those of {@link wait}.
   *
   * ```ts
   * for await (const event of service.follow(jobId)) {
   *   if (event.type === 'progress') console.log(`${event.progress.seconds} s of video`);
   * }
   * ```
   */
  follow(jobId: string, options: WaitOptions = {}): AsyncGenerator<JobEvent, void> {
    const { owner, signal } = known('follow', options, WAIT);
    this.#parts.remoteJobs.watch(jobId);
    return this.#parts.followers.follow(jobId, async () => jobOf(await this.#record(jobId, owner)), signal);
  }

  /**
   * What the jobs of an owner take in the storage and the asset store, in bytes, at most a minute ago, and what they may
   * take (`budgets.storedBytes`). `bytes` is null if the storage does not tell, `mostBytes` if there is no limit.
   */
  async storedBytes(owner: string): Promise<{ bytes: number | null; mostBytes: number | null }> {
    this.#assertWorking();
    const { storedBytes } = this.#parts;
    return { bytes: await storedBytes.of(owner), mostBytes: storedBytes.most };
  }

  /**
   * Lists the scene classes that a source defines, as `manim` lists them. Runs the code, in the sandbox, when a worker is
   * free: listings take turns with jobs and count towards the limit of the owner's concurrent renders. Errors:
   * `invalid_request` with the code's error, `renderer_unavailable`, `too_many_failures` (see `owner`).
   */
  async scenesOf(code: string, options: ScenesOptions = {}): Promise<string[]> {
    known('scenesOf', options, WAIT);
    this.#assertWorking();
    return scenesOfOwner(this.#parts, code, options);
  }

  /**
   * Runs the scenes of a source without drawing them, and tells what is wrong, where, and what to write instead. Waits for a
   * worker, unless `dryRun` is false; costs no credits, but counts towards `budgets.checkSecondsPerHour`. Errors: `invalid_request` for options that
   * no render can have, `renderer_unavailable`, `too_many_requests`, `queue_full`.
   */
  async check(code: string, options: CheckRequest = {}): Promise<CheckedSource> {
    known('check', options, CHECK_REQUEST);
    this.#assertWorking();
    return checkOfOwner(this.#parts, code, options);
  }

  /** Checks several sources, in their order. Rejects with the first error, as {@link check}; a finding is none. */
  async checkMany(codes: readonly string[], options: CheckRequest = {}): Promise<CheckedSource[]> {
    known('checkMany', options, CHECK_REQUEST);
    this.#assertWorking();
    return checkManyOfOwner(this.#parts, codes, options);
  }

  /**
   * Draws pictures of the scenes of a source, without a video, and tells what is wrong with the code and what they show that
   * can't be read or seen. Each scene is charged as a render of low quality. Errors: those of {@link check},
   * `insufficient_credits`, `too_much_stored`, `owner_refused`, `storage_full`, `storage_failed`.
   */
  async inspect(code: string, options: InspectRequest = {}): Promise<InspectedSource<ServiceInspectedScene>> {
    known('inspect', options, INSPECT_REQUEST);
    this.#assertWorking();
    return inspectOfOwner(this.#parts, code, options);
  }

  /** Draws one frame as a render shows it, without those before. Charges and errors: those of {@link inspect}. */
  async still(code: string, options: StillRequest = {}): Promise<StillResult> {
    known('still', options, STILL_REQUEST);
    this.#assertWorking();
    return stillOfOwner(this.#parts, code, options);
  }

  /** Reads a picture of {@link inspect} or {@link still}, within an hour. Error: `not_found`. */
  async openPicture(snapshotId: string, name: string, scope: JobScope = {}): Promise<OpenedPicture> {
    return this.#parts.snapshots.open(snapshotId, name, known('openPicture', scope, SCOPE));
  }

  /**
   * The progress of a running job; undefined while it is not known. For a job of another process it becomes known
   * shortly after the first call, and stays known for half a minute after the last.
   */
  progress(jobId: string): RenderProgress | undefined {
    return this.#parts.dispatcher.progress(jobId) ?? this.#parts.remoteJobs.progress(jobId);
  }

  /**
   * Reads an artifact. Errors: `not_found` when the job has no such artifact, `artifact_gone` when it has been
   * removed, `invalid_request` for a range outside it.
   */
  async openArtifact(
    jobId: string,
    name: ArtifactName,
    options: OpenArtifactOptions = {},
  ): Promise<OpenedArtifact> {
    const { owner, ...reading } = known('openArtifact', options, { owner: true, range: true, signal: true });
    const { artifacts } = await this.#record(jobId, owner);
    return openArtifact(this.#parts.assets, artifacts, name, reading);
  }

  /** Starts no more renders until {@link resumeQueue}, also after restarts. Running ones continue; jobs are accepted. */
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
  async balance(owner: string): Promise<Balance> {
    return this.#parts.ledger.balance(validOwner(owner));
  }

  status(): ServiceStatus {
    return statusOf(this.#parts, this.#life.state);
  }

  async #record(jobId: string, owner?: string): Promise<JobRecord> {
    const job = isStorableText(jobId) ? await this.#parts.storage.getJob(jobId) : undefined;
    if (!job || job.phase === 'reserving' || (owner !== undefined && job.owner !== owner)) {
      throw new ScenepressError('not_found', 'There is no such job.');
    }
    return job;
  }

  /** Returns the job if it has ended already. */
  async #cancel(jobId: string, owner?: string): Promise<Job | undefined> {
    const job = await this.#record(jobId, owner);
    if (isTerminal(job.phase)) return jobOf(job);
    this.#assertAccepting();
    await this.#parts.cancellations.cancel(jobId);
    return undefined;
  }

  #assertWorking(): void {
    this.#assertAccepting();
    this.#parts.gate.assertNotHeldBack();
  }

  #assertAccepting(): void {
    if (!this.#life.isAccepting)
      throw new ScenepressError('not_running', 'The service is not running. Try again later.');
  }
}
