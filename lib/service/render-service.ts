/// <reference lib="esnext.disposable" preserve="true" />

import { abortable } from '../async/abortable.ts';
import { ScenepressError } from '../base/errors.ts';
import { known, type Names, SIGNAL } from '../base/known-options.ts';
import { Assignments } from '../classroom/assignments.ts';
import { enqueueAgain, enqueueAll, enqueueOne } from '../jobs/accept/enqueue.ts';
import { changedLabels } from '../jobs/accept/labels.ts';
import { newJobOf } from '../jobs/accept/new-job.ts';
import { newJobsOf } from '../jobs/accept/new-jobs.ts';
import { RENDER_AGAIN } from '../jobs/accept/render-again.ts';
import { assertEnded, forgetJob, forgetJobsOf } from '../jobs/end/forget.ts';
import { relabelJob } from '../jobs/end/relabel.ts';
import { CHECK_REQUEST, checkManyOfOwner, checkOfOwner } from '../jobs/run/check-scenes.ts';
import {
  INSPECT_REQUEST,
  inspectOfOwner,
  STILL_REQUEST,
  stillOfOwner,
} from '../jobs/run/pictures-of-owner.ts';
import { withReceived } from '../jobs/run/runs-of-owner.ts';
import { scenesOfOwner } from '../jobs/run/scenes-of.ts';
import { validOwner } from '../jobs/watch/valid-job-query.ts';
import type { ApiKeys } from '../keys/api-keys.ts';
import type { CheckedSource, CheckRequest } from '../model/checked-source.ts';
import type { InspectedSource } from '../model/inspected-source.ts';
import { isTerminal, type Job, type JobRecord, jobOf } from '../model/job.ts';
import type {
  InspectRequest,
  ServiceInspectedScene,
  StillRequest,
  StillResult,
} from '../model/owned-pictures.ts';
import type {
  EnqueueManyOptions,
  EnqueueRequest,
  JobLabels,
  JobScope,
  RenderAgainOptions,
  ScenesOptions,
  WaitOptions,
} from '../model/requests.ts';
import type { OwnerFiles } from '../owner-files/owner-files.ts';
import { Scenes } from '../scenes/scenes.ts';
import type { Shares } from '../shares/shares.ts';
import { findJob } from '../storage/find-job.ts';
import type { Deliveries } from '../webhooks/deliveries.ts';
import { announce } from './announce.ts';
import { Lifecycle } from './lifecycle.ts';
import type { RenderServiceOptions } from './render-service-options.ts';
import { makeParts, type ServiceParts } from './service-parts.ts';
import { ServiceReads } from './service-reads.ts';
import { type ServiceStatus, statusOf } from './service-status.ts';

const SCOPE: Names<JobScope> = { owner: true };
const WAIT: Names<WaitOptions> = { owner: true, signal: true };
const SCENES: Names<ScenesOptions> = { ...WAIT, files: true };

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
export class RenderService extends ServiceReads {
  readonly #parts: ServiceParts;
  /** Webhook deliveries and their results. */
  readonly deliveries: Deliveries;
  /** Files of owners, which their scenes read. */
  readonly files: OwnerFiles;
  /** Links under which others watch videos. */
  readonly shares: Shares;
  /** Scenes of owners, with their drafts and versions. */
  readonly scenes: Scenes;
  /** Links under which others get code as scenes of their own. */
  readonly assignments: Assignments;
  readonly #life: Lifecycle;

  constructor(options: RenderServiceOptions);
  /** @internal */
  constructor(options: RenderServiceOptions, parts: ServiceParts);
  constructor(options: RenderServiceOptions, parts: ServiceParts = makeParts(options)) {
    super(parts);
    this.setMaxListeners(0); // Their number is no sign of a leak.
    this.#parts = parts;
    this.#life = new Lifecycle(parts);
    this.deliveries = parts.deliveries;
    this.files = parts.files;
    this.shares = parts.shares;
    this.scenes = new Scenes(parts, () => this.#assertWorking());
    this.assignments = new Assignments(parts);
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
    const { graceMs = 0 } = known('drain', options, { graceMs: true });
    await this.#life.drain(graceMs);
  }

  /**
   * Drains, then closes everything. Resolves when no child process is left. A start in progress rejects with
   * `not_running`. A store that another service of this process uses stays open.
   */
  async stop(options: { graceMs?: number } = {}): Promise<void> {
    const { graceMs = 0 } = known('stop', options, { graceMs: true });
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
    return enqueueOne(this.#parts, newJob, signal);
  }

  /**
   * Enqueues renders of one owner, at most 100, all or none. `idempotency` covers them together, so requests have none.
   * Errors: those of {@link enqueue}.
   */
  async enqueueMany(requests: readonly EnqueueRequest[], options: EnqueueManyOptions = {}): Promise<Job[]> {
    const newJobs = newJobsOf(requests, options);
    this.#assertWorking();
    return enqueueAll(this.#parts, newJobs, options.signal);
  }

  /**
   * Enqueues a copy of an earlier job: same request, owner, key, metadata and webhook, except for `changes`. Errors: those
   * of {@link enqueue}; `not_found` also when the source of the earlier job has been removed.
   */
  async renderAgain(jobId: string, options: RenderAgainOptions = {}): Promise<Job> {
    known('renderAgain', options, RENDER_AGAIN);
    this.#assertWorking();
    return enqueueAgain(this.#parts, jobId, options);
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

  /** Cancels an unfinished job: it fails with "Canceled". Returns others unchanged. `signal` aborts the wait only. */
  async cancel(jobId: string, options: WaitOptions = {}): Promise<Job> {
    const { owner, signal } = known('cancel', options, WAIT);
    const ended = await abortable(this.#cancel(jobId, owner), signal);
    return ended ?? this.wait(jobId, signal ? { signal } : {});
  }

  /**
   * Changes title, tags, star or project of a job, which may have ended; what `labels` leaves out stays. Errors:
   * `invalid_request`, `not_found`; `conflict` once it is forgotten.
   */
  async relabel(jobId: string, labels: JobLabels, scope: JobScope = {}): Promise<Job> {
    const { owner } = known('relabel', scope, SCOPE);
    const changed = changedLabels(labels);
    this.#assertAccepting();
    return jobOf(await relabelJob(this.#parts, jobId, { labels: changed, owner }));
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
    this.#parts.searches.forget(jobId);
    await this.#parts.storage.purge();
    return jobOf(forgotten);
  }

  /**
   * Erases all jobs of an owner, including those being enqueued, in other processes, too; unfinished jobs are canceled
   * first. Jobs added later are not: `admitsOwner` must refuse the owner before. Returns the number of jobs. Can be
   * repeated after an error. Also removes the owner's pictures, files, shares,
   * scenes and assignments. `signal` ends it between two jobs.
   */
  async forgetAll(owner: string, options: { signal?: AbortSignal } = {}): Promise<number> {
    const { signal } = known('forgetAll', options, SIGNAL);
    await this.#parts.acceptance.settled();
    const count = await forgetJobsOf(validOwner(owner), this.#parts, (jobId) => this.cancel(jobId), signal);
    await this.#parts.shares.forget(owner);
    this.#parts.searches.forgetAll(owner);
    await this.#parts.snapshots.forget(owner);
    await this.#parts.fileRemoval.forget(owner);
    await this.scenes.forgetAll(owner);
    await this.assignments.forget(owner);
    await this.#parts.storage.purge();
    return count;
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
    known('scenesOf', options, SCENES);
    this.#assertWorking();
    return withReceived(this.#parts, options, (asked) => scenesOfOwner(this.#parts, code, asked));
  }

  /**
   * Runs the scenes of a source without drawing them, and tells what is wrong, where, and what to write instead. Waits for a
   * worker, unless `dryRun` is false; costs no credits, but counts towards `budgets.checkSecondsPerHour`. Errors: `invalid_request` for options that
   * no render can have, `renderer_unavailable`, `too_many_requests`, `queue_full`.
   */
  async check(code: string, options: CheckRequest = {}): Promise<CheckedSource> {
    known('check', options, CHECK_REQUEST);
    this.#assertWorking();
    return withReceived(this.#parts, options, (asked) => checkOfOwner(this.#parts, code, asked));
  }

  /**
   * Checks several sources, in their order. Rejects with the first error, as {@link check}; a finding is none. Without a dry
   * run, one that could not be read in time has a finding `limit:time`, unless none could be.
   */
  async checkMany(codes: readonly string[], options: CheckRequest = {}): Promise<CheckedSource[]> {
    known('checkMany', options, CHECK_REQUEST);
    this.#assertWorking();
    return withReceived(this.#parts, options, (asked) => checkManyOfOwner(this.#parts, codes, asked));
  }

  /**
   * Draws pictures of the scenes of a source, without a video, and tells what is wrong with the code and what they show that
   * can't be read or seen. Each scene is charged as a render of low quality. Errors: those of {@link check},
   * `insufficient_credits`, `too_much_stored`, `owner_refused`, `storage_full`, `storage_failed`.
   */
  async inspect(code: string, options: InspectRequest = {}): Promise<InspectedSource<ServiceInspectedScene>> {
    known('inspect', options, INSPECT_REQUEST);
    this.#assertWorking();
    return withReceived(this.#parts, options, (asked) => inspectOfOwner(this.#parts, code, asked));
  }

  /** Draws one frame as a render shows it, without those before. Charges and errors: those of {@link inspect}. */
  async still(code: string, options: StillRequest = {}): Promise<StillResult> {
    known('still', options, STILL_REQUEST);
    this.#assertWorking();
    return withReceived(this.#parts, options, (asked) => stillOfOwner(this.#parts, code, asked));
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

  status(): ServiceStatus {
    return statusOf(this.#parts, this.#life.state);
  }

  #record(jobId: string, owner?: string): Promise<JobRecord> {
    return findJob(this.#parts.storage, jobId, owner);
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
