import { type OpenArtifactOptions, type OpenedArtifact, openArtifact } from '../assets/open-artifact.ts';
import { EmitterBase } from '../async/emitter.ts';
import { isScenepressError } from '../base/errors.ts';
import { known, type Names } from '../base/known-options.ts';
import type { OpenedPicture } from '../jobs/snapshots/snapshots.ts';
import type { JobEvent } from '../jobs/watch/job-followers.ts';
import { type ErrorSearch, type ErrorSearchResult, searchErrors } from '../jobs/watch/search-errors.ts';
import { validJobQuery, validOwner, validUsageQuery } from '../jobs/watch/valid-job-query.ts';
import type { Balance } from '../ledger/ledger.ts';
import type { ArtifactName } from '../model/artifacts.ts';
import { firstIdAt } from '../model/ids.ts';
import { type Job, type JobStatus, jobOf } from '../model/job.ts';
import type { JobCountQuery, JobListQuery } from '../model/job-list-query.ts';
import type { FoundLabels, JobSearch, JobSearchResult } from '../model/job-search.ts';
import type { Play, RenderProgress } from '../model/render-task.ts';
import type { JobScope, WaitOptions } from '../model/requests.ts';
import { type UsageOfDay, type UsageQuery, usageOf } from '../model/usage.ts';
import { isLeftOut, LEFT_OUT } from '../owner-files/file-sets.ts';
import { findJob } from '../storage/find-job.ts';
import type { RenderServiceEvents } from './render-service-options.ts';
import type { ServiceParts } from './service-parts.ts';

/** The days of usage that are told by default. */
const USAGE_MS = 30 * 86_400_000;
const SCOPE: Names<JobScope> = { owner: true };
const WAIT: Names<WaitOptions> = { owner: true, signal: true };

/** The methods of a service that only read. */
export abstract class ServiceReads extends EmitterBase<RenderServiceEvents> {
  readonly #parts: ServiceParts;

  /** @internal */
  constructor(parts: ServiceParts) {
    super();
    this.#parts = parts;
  }

  /** Error: `not_found` when the job does not exist or has another owner. */
  async get(jobId: string, scope: JobScope = {}): Promise<Job> {
    const { owner } = known('get', scope, SCOPE);
    return jobOf(await findJob(this.#parts.storage, jobId, owner));
  }

  /** The plays and waits of a completed scene, at most 1,000; none once it is forgotten. Error: `not_found`. */
  async plays(jobId: string, scope: JobScope = {}): Promise<Play[]> {
    const { owner } = known('plays', scope, SCOPE);
    await findJob(this.#parts.storage, jobId, owner);
    return (await this.#parts.storage.readTrace(jobId)).plays;
  }

  /** Output of an ended scene, and warnings, at most 33,000 characters; empty once forgotten. Error: `not_found`. */
  async output(jobId: string, scope: JobScope = {}): Promise<string> {
    const { owner } = known('output', scope, SCOPE);
    await findJob(this.#parts.storage, jobId, owner);
    return (await this.#parts.storage.readTrace(jobId)).output;
  }

  /**
   * The files that a job uses, by name; none once it is forgotten. `note`: why there are none, if the owner had more than a job
   * comes with, or their record was lost. Error: `not_found`.
   */
  async filesOf(
    jobId: string,
    scope: JobScope = {},
  ): Promise<{ files: { name: string; fileId: string }[]; note: string | null }> {
    const { owner } = known('filesOf', scope, SCOPE);
    const { storage } = this.#parts;
    await findJob(storage, jobId, owner);
    try {
      const set = await storage.files.usedBy(jobId);
      return { files: set?.entries ?? [], note: isLeftOut(set) ? LEFT_OUT : null };
    } catch (error) {
      if (!isScenepressError(error, 'not_found')) throw error;
      return { files: [], note: error.message };
    }
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

  /**
   * Searches jobs by words of their texts and by labels. The first search of an owner after a while reads its jobs, the newest
   * first, into an index in memory; what is found until then has `isComplete: false`. Error: `invalid_request`.
   */
  search(search: JobSearch = {}): Promise<JobSearchResult> {
    return this.#parts.searches.search(search);
  }

  /** The projects and tags of an owner's jobs, or of all: those that are read for {@link search} already. */
  labels(query: JobScope = {}): Promise<FoundLabels> {
    const { owner } = known('labels', query, SCOPE);
    return this.#parts.searches.labels(owner);
  }

  /** The number of jobs with each status, up to `limit`, created at `sinceMs` (epoch milliseconds) or later. */
  async count(
    query: Omit<JobCountQuery, 'after'> & { sinceMs?: number } = {},
  ): Promise<Record<JobStatus, number>> {
    known('count', query, { owner: true, canceled: true, limit: true, sinceMs: true });
    return this.#parts.storage.countJobs({ after: '', ...validJobQuery(query) });
  }

  /**
   * Resolves with the job when it is terminal. `signal` aborts the wait. Errors: `not_found`; `not_running` when the
   * service stops first; the job is kept.
   */
  async wait(jobId: string, options: WaitOptions = {}): Promise<Job> {
    const { owner, signal } = known('wait', options, WAIT);
    return this.#parts.ends.wait(
      jobId,
      async () => jobOf(await findJob(this.#parts.storage, jobId, owner)),
      signal,
    );
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
    return this.#parts.followers.follow(
      jobId,
      async () => jobOf(await findJob(this.#parts.storage, jobId, owner)),
      signal,
    );
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
    const { artifacts } = await findJob(this.#parts.storage, jobId, owner);
    return openArtifact(this.#parts.assets, artifacts, name, reading);
  }

  /** What ended renders of an owner have used, by day and API key, oldest first. Error: `invalid_request`. */
  async usage(query: UsageQuery): Promise<UsageOfDay[]> {
    const { storage, clock } = this.#parts;
    const { owner, sinceMs = clock.now() - USAGE_MS } = validUsageQuery(query);
    return usageOf(await storage.endedSums(owner, firstIdAt(sinceMs)));
  }

  /** The credits that an owner can spend now. */
  async balance(owner: string): Promise<Balance> {
    return this.#parts.ledger.balance(validOwner(owner));
  }
}
