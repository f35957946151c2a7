import {
  type Accounts,
  type Job,
  type JobStatus,
  type RenderService,
  ScenepressError,
  type Storage,
} from '../../lib/index.ts';
import type { AdministrationParts } from './administration.ts';
import { check, jobStatus, listLimit, MOST_LINES, time } from './administration-requests.ts';
import { type JobDetails, type JobInfo, jobInfo } from './administration-views.ts';

/** Jobs of all accounts. Requests and answers are plain data. */
export class JobAdministration {
  readonly #accounts: Accounts;
  readonly #service: RenderService;
  readonly #assetUrl: () => string;
  readonly #storage: Storage;

  constructor({
    accounts,
    service,
    assetUrl,
    folder,
  }: Pick<AdministrationParts, 'accounts' | 'service' | 'assetUrl' | 'folder'>) {
    this.#storage = folder.storage;
    this.#accounts = accounts;
    this.#service = service;
    this.#assetUrl = assetUrl;
  }

  /** Newest first, optionally of an account or status. `before`: the last job of the previous page. */
  async list(request: {
    account?: string | undefined;
    status?: JobStatus | undefined;
    limit?: number | undefined;
    before?: string | undefined;
  }): Promise<JobInfo[]> {
    const { account, status, before } = request;
    const jobs = await this.#service.list({
      ...(account !== undefined && {
        owner: (await this.#accounts.find(account, { deleted: true })).accountId,
      }),
      ...(status !== undefined && { status: check(jobStatus, status) }),
      ...(before !== undefined && { before }),
      limit: check(listLimit, request.limit),
    });
    return Promise.all(jobs.map((job) => this.#jobInfo(job)));
  }

  /** The number of jobs with each status, up to `limit`, that were created at a time (ISO 8601) or later. */
  async count(request: {
    account?: string | undefined;
    since: string;
    limit?: number | undefined;
  }): Promise<Record<JobStatus, number>> {
    const { account, since } = request;
    const query = { sinceMs: check(time, since), limit: check(listLimit, request.limit ?? MOST_LINES) };
    if (account === undefined) return this.#service.count(query);
    const { accountId } = await this.#accounts.find(account, { deleted: true });
    return this.#service.count({ ...query, owner: accountId });
  }

  async show({ jobId }: { jobId: string }): Promise<JobInfo> {
    return this.#jobInfo(await this.#service.get(jobId));
  }

  /** The job with its code and metadata. */
  async showDetails({ jobId }: { jobId: string }): Promise<JobDetails> {
    const job = await this.#service.get(jobId);
    const { startedAt, metadataJson, forgottenAt = null } = job;
    const code = (await this.#storage.readSource(jobId)) ?? null;
    return { ...(await this.#jobInfo(job)), startedAt, code, metadataJson, forgottenAt };
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

  /** Creates a new job with the same request. It reserves credits like any other. */
  async renderAgain({ jobId }: { jobId: string }): Promise<JobInfo> {
    const { owner } = await this.#service.get(jobId);
    if (!(await this.#accounts.isEnabled(owner))) {
      throw new ScenepressError(
        'conflict',
        'The account of this job is disabled, so the job cannot be rendered again.',
      );
    }
    return this.#jobInfo(await this.#service.renderAgain(jobId));
  }

  async #jobInfo(job: Job): Promise<JobInfo> {
    const account = await this.#accounts.find(job.owner).catch(() => undefined);
    const progress = this.#service.progress(job.jobId);
    return jobInfo(job, account?.email ?? job.owner, { assetUrl: this.#assetUrl(), progress });
  }
}
