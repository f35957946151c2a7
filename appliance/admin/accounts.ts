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

  /** Rejects the account's keys from now on. Its jobs continue unless `cancelJobs` is set. */
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
   * Deletes an account: rejects its keys, cancels its renders and forgets its jobs, keys and e-mail address. Its
   * payments stay recorded under its user id. An interrupted deletion can be repeated to complete it.
   */
  async delete(request: { account: string }): Promise<DeletedAccount> {
    const { accountId } = await this.#accounts.find(request.account, { deleted: true });
    await this.#accounts.beginDeletion(accountId);
    const forgottenJobs = await this.#service.forgetAll(accountId);
    const keys = await Array.fromAsync(this.#keys.all({ accountId }));
    for (const { keyId } of keys) await this.#keys.forget(keyId);
    // The address is removed last, so that an interrupted deletion can still be repeated by it.
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
