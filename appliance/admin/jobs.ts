import type {
  Accounts,
  CheckedSource,
  CheckRequest,
  Job,
  JobListQuery,
  JobStatus,
  Quality,
  RenderRequest,
  RenderService,
} from '../../lib/index.ts';
import {
  type FoundLabels,
  isScenepressError,
  JOB_FORMATS,
  type JobFormat,
  type JobLabels,
  ScenepressError,
  type Storage,
} from '../../lib/internal.ts';
import { sceneClassesIn } from '../support/scene-classes.ts';
import type { AdministrationParts } from './administration.ts';
import {
  check,
  errorText,
  idempotencyKey,
  jobStatus,
  listLimit,
  MOST_LINES,
  optionalTime,
  quality,
  time,
} from './administration-requests.ts';
import {
  type FoundJobs,
  type JobDetails,
  type JobInfo,
  type JobPage,
  jobInfo,
  type ShownJob,
} from './administration-views.ts';
import { type InspectionInfo, inspectionOf, pictureOf } from './job-pictures.ts';

/** How long a list of scenes may take, with the wait for a worker. */
const LIST_WITHIN_MS = 3_000;
/** How long a check may take, which a person waits for while typing. */
const CHECK_WITHIN_MS = 8_000;

/** Which jobs to list. Times are written in ISO 8601. */
export interface JobFilter {
  account?: string | undefined;
  status?: JobStatus | undefined;
  quality?: Quality | undefined;
  /** True: only canceled jobs; false: only others. */
  canceled?: boolean | undefined;
  /** Created at this time or later. */
  since?: string | undefined;
  /** Created before this time. */
  until?: string | undefined;
  limit?: number | undefined;
  /** The last job of the previous page. */
  before?: string | undefined;
}

/** Which jobs to look for. */
export interface JobFind extends Omit<JobFilter, 'before'> {
  /** Words that begin words of their texts. */
  text?: string | undefined;
  tag?: string | undefined;
  project?: string | undefined;
  starred?: boolean | undefined;
  order?: 'newest' | 'oldest' | undefined;
  /** The `next` of the preceding page. */
  cursor?: string | undefined;
}

type GivenParams = Readonly<Record<string, unknown>>;

/** A source, or one scene of it. */
interface CheckedCode {
  account: string;
  code: string;
  className?: string;
  params?: GivenParams | undefined;
}

/** What was found in a source, and which parameters its scenes declare. */
type Found = Pick<CheckedSource, 'findings' | 'params'>;

const NOTHING_FOUND: Found = { findings: [], params: [] };

/** Jobs of all accounts. Requests and answers are plain data. */
export class JobAdministration {
  readonly #accounts: Accounts;
  readonly #service: RenderService;
  readonly #assetUrl: () => string;
  readonly #storage: Storage;
  /** Accounts with a source whose scenes are being listed. */
  readonly #listing = new Set<string>();
  /** Accounts with a source that is being checked. */
  readonly #checking = new Set<string>();

  constructor({
    accounts,
    service,
    assetUrl,
    place,
  }: Pick<AdministrationParts, 'accounts' | 'service' | 'assetUrl' | 'place'>) {
    this.#storage = place.storage;
    this.#accounts = accounts;
    this.#service = service;
    this.#assetUrl = assetUrl;
  }

  /** Newest first, optionally of an account or status. `before`: the last job of the previous page. */
  async list(request: JobFilter): Promise<JobInfo[]> {
    const jobs = await this.#service.list(await this.#queryOf(request));
    return Promise.all(jobs.map((job) => this.#jobInfo(job)));
  }

  /**
   * A page of jobs, newest first. `error`: only failed jobs whose error contains this text, in any case; of these a
   * page is found in at most 1000 failed jobs.
   */
  async search(request: JobFilter & { error?: string | undefined }): Promise<JobPage> {
    const text = check(errorText, request.error);
    const query = await this.#queryOf(request);
    const { limit } = query;
    if (text === undefined) {
      // One more shows whether there is another page.
      const found = await this.#service.list({ ...query, limit: limit + 1 });
      const jobs = await Promise.all(found.slice(0, limit).map((job) => this.#jobInfo(job)));
      return { jobs, examined: null, next: found.length > limit ? (jobs.at(-1)?.jobId ?? null) : null };
    }
    if (query.status !== undefined && query.status !== 'failed') return { jobs: [], examined: 0, next: null };
    const { jobs, examined, next } = await this.#service.searchErrors({ ...query, text });
    return { jobs: await Promise.all(jobs.map((job) => this.#jobInfo(job))), examined, next };
  }

  /** Jobs by words of their texts, and by labels. Forgotten ones are not found. */
  async find({ text, tag, project, starred, order, cursor, ...filter }: JobFind): Promise<FoundJobs> {
    const { metadata: _, before: __, after: ___, ...query } = await this.#queryOf(filter);
    const labels = { text, tag, project, starred, order, cursor };
    const given = Object.fromEntries(Object.entries(labels).filter(([, value]) => value !== undefined));
    const found = await this.#service.search({ ...query, ...given });
    return { ...found, jobs: await Promise.all(found.jobs.map((job) => this.#jobInfo(job))) };
  }

  /** The projects and tags of the jobs, those that were read for {@link find}. */
  async labels({ account }: { account?: string | undefined }): Promise<FoundLabels> {
    const { owner } = await this.#queryOf({ account });
    return this.#service.labels(owner === undefined ? {} : { owner });
  }

  /** The newest jobs that use a file. Error: `not_found`. */
  async listUsing(request: { fileId: string; limit?: number | undefined }): Promise<JobInfo[]> {
    const limit = check(listLimit, request.limit);
    const { fileId } = await this.#service.files.get(String(request.fileId));
    const jobIds = await this.#storage.files.jobsUsing(fileId, limit);
    return Promise.all(jobIds.map(async (jobId) => this.#jobInfo(await this.#service.get(jobId))));
  }

  /** The number of jobs with each status, up to `limit`, that were created at a time (ISO 8601) or later. */
  async count(request: {
    account?: string | undefined;
    since: string;
    canceled?: boolean | undefined;
    limit?: number | undefined;
  }): Promise<Record<JobStatus, number>> {
    const { account, since, canceled } = request;
    const query = {
      sinceMs: check(time, since),
      limit: check(listLimit, request.limit ?? MOST_LINES),
      ...(canceled !== undefined && { canceled }),
    };
    if (account === undefined) return this.#service.count(query);
    const { accountId } = await this.#accounts.find(account, { deleted: true });
    return this.#service.count({ ...query, owner: accountId });
  }

  async show({ jobId }: { jobId: string }): Promise<ShownJob> {
    const job = await this.#service.get(jobId);
    const { usage, diagnosis } = job;
    return { ...(await this.#jobInfo(job)), usage, diagnosis, output: await this.#service.output(jobId) };
  }

  /** The job with its code and metadata. */
  async showDetails({ jobId }: { jobId: string }): Promise<JobDetails> {
    const job = await this.#service.get(jobId);
    const { startedAt, metadataJson, formats, fromPlay, toPlay } = job;
    const code = (await this.#storage.readSource(jobId)) ?? null;
    const plays = await this.#service.plays(jobId);
    const shown = await this.show({ jobId });
    return { ...shown, startedAt, code, metadataJson, plays, formats, fromPlay, toPlay, params: job.params };
  }

  /** Cancels a queued or running job: it fails with "Canceled" and costs nothing. */
  async cancel({ jobId }: { jobId: string }): Promise<JobInfo> {
    const { status } = await this.#service.get(jobId);
    if (status === 'completed' || status === 'failed') {
      throw new ScenepressError('conflict', `Job ${jobId} has already ended: it ${status}.`);
    }
    return this.#jobInfo(await this.#service.cancel(jobId));
  }

  /** Removes the job's source, metadata, error, webhook and artifacts; its cost stays recorded. */
  async forget({ jobId }: { jobId: string }): Promise<JobInfo> {
    return this.#jobInfo(await this.#service.forget(jobId));
  }

  /** Changes title, tags, star or project of a job; what is absent stays. Error: `conflict` once it is forgotten. */
  async relabel({ jobId, ...labels }: { jobId: string } & JobLabels): Promise<JobInfo> {
    return this.#jobInfo(await this.#service.relabel(jobId, labels));
  }

  /**
   * Creates a new job with the same request. It reserves credits like any other. `formats`: those that it makes besides
   * the ones of the request.
   */
  async renderAgain(request: { jobId: string; formats?: JobFormat[] | undefined }): Promise<JobInfo> {
    const { jobId, formats } = request;
    const { owner, formats: before } = await this.#service.get(jobId);
    if (!(await this.#accounts.isEnabled(owner))) {
      throw new ScenepressError(
        'conflict',
        'The account of this job is disabled, so the job cannot be rendered again.',
      );
    }
    const named = before.filter((format) => JOB_FORMATS.includes(format));
    const changes = formats && { formats: [...new Set([...named, ...formats])] };
    return this.#jobInfo(await this.#service.renderAgain(jobId, changes && { changes }));
  }

  /**
   * Creates a job of an account, without a webhook; only one for the same `idempotencyKey`. Errors: those of {@link
   * RenderService.enqueue}.
   */
  async render(
    request: { account: string; idempotencyKey?: string | undefined; params?: GivenParams } & RenderRequest,
  ): Promise<JobInfo> {
    const { account, idempotencyKey: key, ...fields } = request;
    const { accountId } = await this.#accounts.find(account);
    const idempotency =
      key === undefined ? {} : { idempotency: { key: check(idempotencyKey, key) as string } };
    return this.#jobInfo(await this.#service.enqueue({ ...fields, ...idempotency, owner: accountId }));
  }

  /**
   * The scenes that a source defines. Runs it, for at most one source of an account at a time; without workers, or if that
   * takes longer than three seconds because the workers are busy, reads its text instead. Errors: `invalid_request` with
   * the code's error; `conflict` while an earlier source of the account runs; `too_many_requests`.
   */
  async listScenes({ account, code }: { account: string; code: string }): Promise<{ scenes: string[] }> {
    const { accountId } = await this.#accounts.find(account);
    if (this.#listing.has(accountId)) {
      throw new ScenepressError(
        'conflict',
        'The scenes of another source are being looked for. Try again later.',
      );
    }
    this.#listing.add(accountId);
    try {
      const signal = AbortSignal.timeout(LIST_WITHIN_MS);
      return { scenes: await this.#service.scenesOf(code, { owner: accountId, signal }) };
    } catch (error) {
      const isLate = error instanceof DOMException && error.name === 'TimeoutError';
      if (!isLate && !isScenepressError(error, 'not_running', 'renderer_unavailable')) throw error;
      return { scenes: sceneClassesIn(code) };
    } finally {
      this.#listing.delete(accountId);
    }
  }

  /**
   * What is wrong with a source, or with one scene of it. Without workers, while an earlier source of the account is
   * checked, or if it takes longer than eight seconds, nothing is found. Errors: `invalid_request`, `too_many_requests`.
   */
  async check({ account, code, className, params }: CheckedCode): Promise<Found> {
    const { accountId } = await this.#accounts.find(account);
    if (this.#checking.has(accountId)) return NOTHING_FOUND;
    this.#checking.add(accountId);
    const request = { ...(className !== undefined && { className }), ...(params && { params }) };
    return this.#findIn(code, { ...request, owner: accountId, quality: 'low' }).finally(() =>
      this.#checking.delete(accountId),
    );
  }

  /** Draws pictures of a scene of a source, which is charged to the account. Errors: those of {@link RenderService.inspect}. */
  async inspect({
    account,
    code,
    fps,
    ...request
  }: Required<Pick<RenderRequest, 'code' | 'className' | 'quality' | 'aspectRatio'>> & {
    account: string;
    fps?: number | undefined;
    params?: GivenParams;
  }): Promise<InspectionInfo> {
    const { accountId } = await this.#accounts.find(account);
    const owned = { ...request, owner: accountId, ...(fps !== undefined && { fps }) };
    return inspectionOf(this.#service, code, owned);
  }

  /** A picture of an inspection of the account, within an hour. Error: `not_found`. */
  async showPicture({
    account,
    snapshotId,
    name,
  }: {
    account: string;
    snapshotId: string;
    name: string;
  }): Promise<{ contentType: string; base64: string }> {
    const { accountId } = await this.#accounts.find(account);
    return pictureOf(this.#service, snapshotId, name, accountId);
  }

  /** What is certainly wrong in a source, which is not run; nothing where that is switched off. Error: `invalid_request`. */
  async read({ account, code, className, params }: CheckedCode): Promise<Found> {
    const { accountId: owner } = await this.#accounts.find(account);
    const request = { ...(className !== undefined && { className }), ...(params && { params }) };
    return this.#findIn(code, { ...request, owner, dryRun: false });
  }

  /** Nothing is found without workers, or if it takes longer than eight seconds. */
  async #findIn(code: string, request: CheckRequest): Promise<Found> {
    try {
      const signal = AbortSignal.timeout(CHECK_WITHIN_MS);
      const { findings, params } = await this.#service.check(code, { ...request, signal });
      return { findings, params };
    } catch (error) {
      const isLate = error instanceof DOMException && error.name === 'TimeoutError';
      if (!isLate && !isScenepressError(error, 'not_running', 'renderer_unavailable', 'queue_full'))
        throw error;
      return NOTHING_FOUND;
    }
  }

  async #queryOf({ account, before, ...request }: JobFilter): Promise<JobListQuery & { limit: number }> {
    const [sinceMs, untilMs] = [check(optionalTime, request.since), check(optionalTime, request.until)];
    return {
      ...(account !== undefined && {
        owner: (await this.#accounts.find(account, { deleted: true })).accountId,
      }),
      ...(request.status !== undefined && { status: check(jobStatus, request.status) }),
      ...(request.quality !== undefined && { quality: check(quality, request.quality) }),
      ...(request.canceled !== undefined && { canceled: request.canceled }),
      ...(sinceMs !== undefined && { sinceMs }),
      ...(untilMs !== undefined && { untilMs }),
      ...(before !== undefined && { before }),
      metadata: false,
      limit: check(listLimit, request.limit),
    };
  }

  async #jobInfo(job: Job): Promise<JobInfo> {
    const account = await this.#accounts.find(job.owner).catch(() => undefined);
    const progress = job.status === 'running' ? this.#service.progress(job.jobId) : undefined;
    return jobInfo(job, account?.email ?? job.owner, { assetUrl: this.#assetUrl(), progress });
  }
}
