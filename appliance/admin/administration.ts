import {
  type Accounts,
  type ApiKeys,
  type AuditReport,
  type BackupReport,
  type Balance,
  backUp,
  completeReplacement,
  type DataFolder,
  type Delivery,
  type DeliveryDetails,
  isoTime,
  type Job,
  type JobStatus,
  type RenderService,
  replaceMasterKey,
  ScenepressError,
  StoredLedger,
  type UnmeteredLedger,
} from '../../lib/index.ts';
import type { Metrics } from '../metrics/metrics.ts';
import {
  amount,
  check,
  idempotencyKey,
  jobStatus,
  keyRequest,
  listLimit,
  MOST_LINES,
  webhookUrl,
} from './administration-requests.ts';
import {
  type AccountInfo,
  accountInfo,
  type Counts,
  type DeletedAccount,
  type Examination,
  type JobInfo,
  jobInfo,
  type KeyInfo,
  keyInfo,
  type NewKey,
  type QueueInfo,
  type StatementLine,
} from './administration-views.ts';

const STATEMENT_LINES = 1000;

/** What an operator does with accounts, keys, credits and jobs. Requests and answers are plain data. */
export class Administration {
  readonly #accounts: Accounts;
  readonly #keys: ApiKeys;
  readonly #ledger: StoredLedger | UnmeteredLedger;
  readonly #folder: DataFolder;
  readonly #service: RenderService;
  readonly #assetUrl: () => string;
  readonly #metrics: Metrics;

  constructor(options: {
    accounts: Accounts;
    keys: ApiKeys;
    ledger: StoredLedger | UnmeteredLedger;
    service: RenderService;
    folder: DataFolder;
    /** What links to artifacts begin with. */
    assetUrl: () => string;
    metrics: Metrics;
  }) {
    this.#metrics = options.metrics;
    this.#service = options.service;
    this.#assetUrl = options.assetUrl;
    this.#folder = options.folder;
    this.#accounts = options.accounts;
    this.#keys = options.keys;
    this.#ledger = options.ledger;
  }

  async createAccount({ email }: { email: string }): Promise<AccountInfo> {
    return accountInfo(await this.#accounts.create(email));
  }

  async listAccounts(): Promise<AccountInfo[]> {
    return (await Array.fromAsync(this.#accounts.all())).map(accountInfo);
  }

  /** Its keys are rejected from now on. Its jobs go on, unless they are to be cancelled. */
  async disableAccount(request: {
    account: string;
    cancelJobs?: boolean | undefined;
  }): Promise<AccountInfo & { canceledJobs: number }> {
    const { accountId } = await this.#accounts.find(request.account);
    const disabled = accountInfo(await this.#accounts.disable(accountId));
    return { ...disabled, canceledJobs: request.cancelJobs ? await this.#cancelJobsOf(accountId) : 0 };
  }

  async enableAccount(request: { account: string }): Promise<AccountInfo> {
    const { accountId } = await this.#accounts.find(request.account);
    return accountInfo(await this.#accounts.enable(accountId));
  }

  /**
   * Ends an account: its keys are rejected, what is rendered is cancelled, its jobs and keys are forgotten, and so is its
   * address. What it paid stays under its user id. When it was cut off, repeat it: it completes what is left.
   */
  async deleteAccount(request: { account: string }): Promise<DeletedAccount> {
    const { accountId } = await this.#accounts.find(request.account, { deleted: true });
    await this.#accounts.beginDeletion(accountId);
    const forgottenJobs = await this.#service.forgetAll(accountId);
    const keys = await Array.fromAsync(this.#keys.all({ accountId }));
    for (const { keyId } of keys) await this.#keys.forget(keyId);
    // The address at the end: until then it names what is to be completed.
    await this.#accounts.completeDeletion(accountId);
    return { userId: accountId, revokedKeys: keys.length, forgottenJobs };
  }

  async createKey(request: {
    account: string;
    name: string;
    webhookUrl?: string | undefined;
  }): Promise<NewKey> {
    const { name, webhookUrl } = check(keyRequest, { name: request.name, webhookUrl: request.webhookUrl });
    const account = await this.#accounts.find(request.account);
    const { record, key, webhookSecret } = await this.#keys.mint({
      accountId: account.accountId,
      name,
      webhookUrl,
    });
    return { ...keyInfo(record, account.email), key, webhookSecret };
  }

  async listKeys(request: { account?: string | undefined }): Promise<KeyInfo[]> {
    const one = request.account === undefined ? undefined : await this.#accounts.find(request.account);
    const accounts = one ? [one] : await Array.fromAsync(this.#accounts.all());
    const emails = new Map(accounts.map(({ accountId, email }) => [accountId, email]));
    const keys = await Array.fromAsync(this.#keys.all(one ? { accountId: one.accountId } : {}));
    return keys.flatMap((key) => {
      const email = emails.get(key.accountId);
      return email === undefined ? [] : [keyInfo(key, email)];
    });
  }

  async revokeKey({ keyId }: { keyId: string }): Promise<{ keyId: string; revokedAt: string }> {
    const { revokedAtMs } = await this.#keys.revoke(keyId);
    return { keyId, revokedAt: isoTime(revokedAtMs ?? 0) };
  }

  /** A new webhook secret for a key, shown once; the old one signs nothing any more. */
  async rotateSecret({ keyId }: { keyId: string }): Promise<{ keyId: string; webhookSecret: string }> {
    const { webhookSecret } = await this.#keys.rotateSecret(keyId);
    return { keyId, webhookSecret };
  }

  /** Where outcomes of the key's jobs to come go when a request doesn't say; null: nowhere. */
  async setWebhook(request: {
    keyId: string;
    webhookUrl: string | null;
  }): Promise<{ keyId: string; webhookUrl: string | null }> {
    const url = check(webhookUrl, request.webhookUrl) as string | null;
    const record = await this.#keys.setWebhookUrl(request.keyId, url);
    return { keyId: record.keyId, webhookUrl: record.webhookUrl };
  }

  /** Newest first; of an account, of a job, or all. */
  async listDeliveries(request: {
    account?: string | undefined;
    jobId?: string | undefined;
    limit?: number | undefined;
  }): Promise<Delivery[]> {
    const { account, jobId } = request;
    const limit = check(listLimit, request.limit);
    return this.#service.deliveries.list({
      ...(account !== undefined && { owner: (await this.#accounts.find(account)).accountId }),
      ...(jobId !== undefined && { jobId }),
      limit,
    });
  }

  async showDelivery({ deliveryId }: { deliveryId: string }): Promise<DeliveryDetails> {
    return this.#service.deliveries.get(deliveryId);
  }

  /** Makes a delivery of its own; a running server sends it within a second. */
  async sendAgain({ deliveryId }: { deliveryId: string }): Promise<Delivery> {
    return this.#service.deliveries.sendAgain(deliveryId);
  }

  /** How much there is of everything, and the state of the service: nothing that names anyone. */
  async showCounts(): Promise<Counts> {
    const accounts = await Array.fromAsync(this.#accounts.all());
    const keys = await Array.fromAsync(this.#keys.all());
    return {
      accounts: accounts.length,
      disabledAccounts: accounts.filter(({ disabledAtMs }) => disabledAtMs !== undefined).length,
      keys: keys.length,
      revokedKeys: keys.filter(({ revokedAtMs }) => revokedAtMs !== null).length,
      data: await this.#folder.statistics(),
      service: this.#service.status(),
    };
  }

  async showQueue(): Promise<QueueInfo> {
    const { queuePausedAt: pausedAt, queued, running, workers, ready } = this.#service.status();
    return { pausedAt, queued, running, workers, ready };
  }

  /** Begins no more renders, through restarts too. Those that run go on; jobs are taken on. */
  async pauseQueue(): Promise<QueueInfo> {
    await this.#service.pauseQueue();
    return this.showQueue();
  }

  async resumeQueue(): Promise<QueueInfo> {
    await this.#service.resumeQueue();
    return this.showQueue();
  }

  /** Newest first; of an account, of a status, or all. `before`: the last job of the page before. */
  async listJobs(request: {
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

  async showJob({ jobId }: { jobId: string }): Promise<JobInfo> {
    return this.#jobInfo(await this.#service.get(jobId));
  }

  /** Ends a job that isn't over: it fails with "Canceled" and costs nothing. */
  async cancelJob({ jobId }: { jobId: string }): Promise<JobInfo> {
    const { status } = await this.#service.get(jobId);
    if (status === 'completed' || status === 'failed') {
      throw new ScenepressError('conflict', `Job ${jobId} is over: it ${status}.`);
    }
    return this.#jobInfo(await this.#service.cancel(jobId));
  }

  /** Removes what the job's owner wrote and what came of it; what it cost stays. */
  async forgetJob({ jobId }: { jobId: string }): Promise<JobInfo> {
    return this.#jobInfo(await this.#service.forget(jobId));
  }

  /** A new job that asks for the same. It reserves credits as any other. */
  async renderAgain({ jobId }: { jobId: string }): Promise<JobInfo> {
    const { owner } = await this.#service.get(jobId);
    if (!(await this.#accounts.isEnabled(owner))) {
      throw new ScenepressError(
        'conflict',
        'The account of this job is disabled: nothing is rendered for it.',
      );
    }
    return this.#jobInfo(await this.#service.renderAgain(jobId));
  }

  /** Adds credits; repeated with the same `idempotencyKey`, it adds them once. */
  async grantCredits(request: {
    account: string;
    paid: number;
    idempotencyKey?: string | undefined;
  }): Promise<Balance> {
    if (!(this.#ledger instanceof StoredLedger)) {
      throw new ScenepressError('invalid_request', 'Renders cost nothing here (credits mode "unmetered").');
    }
    const paid = check(amount, request.paid);
    const key = check(idempotencyKey, request.idempotencyKey);
    const { accountId } = await this.#accounts.find(request.account);
    return this.#ledger.grantPaid(accountId, paid, key === undefined ? {} : { idempotencyKey: key });
  }

  /** Copies everything into a new folder of this machine. */
  async backUp({ folder, withMasterKey }: { folder: string; withMasterKey: boolean }): Promise<BackupReport> {
    await this.completeRotation();
    return backUp(this.#folder, folder, { withMasterKey });
  }

  /**
   * Seals all webhook secrets with a new master key: one that is made, or, where it comes from outside, `newKey`. Cut off,
   * it can be repeated; until it is done, both keys are valid.
   */
  async rotateMasterKey({
    newKey: given,
  }: {
    newKey?: string | undefined;
  }): Promise<{ keys: number; jobs: number; formerKeyFile: string | null }> {
    const total = { keys: 0, jobs: 0 };
    const reseal = async () => {
      const { keys, jobs } = await this.#service.resealSecrets({ keys: this.#keys });
      total.keys += keys;
      total.jobs += jobs;
    };
    const formerKeyFile = await replaceMasterKey(this.#folder, { given, reseal });
    await this.#purge();
    return { ...total, formerKeyFile };
  }

  /** Completes a rotation of the master key that was cut off, if there is one. */
  async completeRotation(): Promise<void> {
    const reseal = () => this.#service.resealSecrets({ keys: this.#keys });
    if (await completeReplacement(this.#folder, { reseal })) await this.#purge();
  }

  /** What the old master key opens leaves the disk. Where that fails now, it goes with later changes. */
  async #purge(): Promise<void> {
    await this.#folder.storage.purge().catch(() => {});
  }

  /** Recomputes every balance; where renders cost nothing there are no books. */
  async auditCredits(): Promise<AuditReport> {
    if (this.#ledger instanceof StoredLedger) return this.#ledger.audit();
    throw new ScenepressError('invalid_request', 'Renders cost nothing here (credits mode "unmetered").');
  }

  /** The account's history, newest first. */
  async creditStatement(request: { account: string }): Promise<StatementLine[]> {
    const { accountId } = await this.#accounts.find(request.account, { deleted: true });
    if (!(this.#ledger instanceof StoredLedger)) return [];
    const entries = await this.#ledger.statement(accountId, { limit: STATEMENT_LINES });
    return entries.map(({ kind, amountCredits, jobId, note, atMs }) => ({
      at: isoTime(atMs),
      kind,
      amountCredits,
      jobId,
      note,
    }));
  }

  /** Recomputes every balance, and looks how things are. */
  async examine(): Promise<Examination> {
    const [newest] = await this.#service.list({ limit: 1 });
    return {
      status: this.#service.status(),
      audit: this.#ledger instanceof StoredLedger ? await this.#ledger.audit() : null,
      data: await this.#folder.statistics(),
      halfDeletedAccounts: await this.#halfDeleted(),
      isRotating: await this.#folder.masterKeyFiles.isRotating(),
      newestMs: newest ? Date.parse(newest.createdAt) : null,
    };
  }

  /** What `/metrics` answers, without its token. */
  async showMetrics(): Promise<{ text: string }> {
    return { text: await this.#metrics.text() };
  }

  async creditBalance(request: { account: string }): Promise<Balance> {
    const { accountId } = await this.#accounts.find(request.account, { deleted: true });
    return this.#ledger.balance(accountId);
  }

  /** User ids of accounts whose deletion is under way, or was cut off. */
  async #halfDeleted(): Promise<string[]> {
    const ids: string[] = [];
    for await (const { accountId, deletedAtMs } of this.#accounts.all()) {
      if (deletedAtMs !== undefined) ids.push(accountId);
    }
    return ids;
  }

  async #cancelJobsOf(accountId: string): Promise<number> {
    let canceled = 0;
    for (const status of ['queued', 'running'] as const) {
      const jobs = await this.#service.list({ owner: accountId, status, limit: MOST_LINES });
      canceled += jobs.length;
      await Promise.all(jobs.map(({ jobId }) => this.#service.cancel(jobId)));
    }
    return canceled;
  }

  async #jobInfo(job: Job): Promise<JobInfo> {
    const account = await this.#accounts.find(job.owner).catch(() => undefined);
    const progress = this.#service.progress(job.jobId);
    return jobInfo(job, account?.email ?? job.owner, { assetUrl: this.#assetUrl(), progress });
  }
}

/** What can be asked over the socket as well as directly. */
export const OPERATIONS: (keyof Administration)[] = [
  'createAccount',
  'listAccounts',
  'disableAccount',
  'enableAccount',
  'deleteAccount',
  'createKey',
  'listKeys',
  'revokeKey',
  'rotateSecret',
  'setWebhook',
  'listDeliveries',
  'showDelivery',
  'sendAgain',
  'showCounts',
  'showQueue',
  'pauseQueue',
  'resumeQueue',
  'listJobs',
  'showJob',
  'cancelJob',
  'forgetJob',
  'renderAgain',
  'grantCredits',
  'creditBalance',
  'creditStatement',
  'auditCredits',
  'backUp',
  'rotateMasterKey',
  'showMetrics',
  'examine',
];
