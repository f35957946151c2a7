import type { Accounts, ApiKeys, RenderService } from '../../lib/index.ts';
import type { AdministrationParts } from './administration.ts';
import { MOST_LINES } from './administration-requests.ts';
import { type AccountInfo, accountInfo, type DeletedAccount } from './administration-views.ts';

/** Accounts, by their e-mail address or user id. Requests and answers are plain data. */
export class AccountAdministration {
  readonly #accounts: Accounts;
  readonly #keys: ApiKeys;
  readonly #service: RenderService;

  constructor({ accounts, keys, service }: Pick<AdministrationParts, 'accounts' | 'keys' | 'service'>) {
    this.#accounts = accounts;
    this.#keys = keys;
    this.#service = service;
  }

  async create({ email }: { email: string }): Promise<AccountInfo> {
    return accountInfo(await this.#accounts.create(email));
  }

  async list(): Promise<AccountInfo[]> {
    return (await Array.fromAsync(this.#accounts.all())).map(accountInfo);
  }

  /** Its keys are rejected from now on. Its jobs go on, unless they are to be cancelled. */
  async disable(request: {
    account: string;
    cancelJobs?: boolean | undefined;
  }): Promise<AccountInfo & { canceledJobs: number }> {
    const { accountId } = await this.#accounts.find(request.account);
    const disabled = accountInfo(await this.#accounts.disable(accountId));
    return { ...disabled, canceledJobs: request.cancelJobs ? await this.#cancelJobsOf(accountId) : 0 };
  }

  async enable(request: { account: string }): Promise<AccountInfo> {
    const { accountId } = await this.#accounts.find(request.account);
    return accountInfo(await this.#accounts.enable(accountId));
  }

  /**
   * Ends an account: its keys are rejected, what is rendered is cancelled, its jobs and keys are forgotten, and so is its
   * address. What it paid stays under its user id. When it was cut off, repeat it: it completes what is left.
   */
  async delete(request: { account: string }): Promise<DeletedAccount> {
    const { accountId } = await this.#accounts.find(request.account, { deleted: true });
    await this.#accounts.beginDeletion(accountId);
    const forgottenJobs = await this.#service.forgetAll(accountId);
    const keys = await Array.fromAsync(this.#keys.all({ accountId }));
    for (const { keyId } of keys) await this.#keys.forget(keyId);
    // The address at the end: until then it names what is to be completed.
    await this.#accounts.completeDeletion(accountId);
    return { userId: accountId, revokedKeys: keys.length, forgottenJobs };
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
}
