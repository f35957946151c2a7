import type { Accounts, ApiKeys, RenderService } from '../../lib/index.ts';
import {
  type AccountLimits,
  type AccountRole,
  type ClassLinks,
  isoTime,
  ScenepressError,
} from '../../lib/internal.ts';
import type { DataPlace } from '../place/data-place.ts';
import type { AdministrationParts } from './administration.ts';
import {
  accountIdentity,
  accountRole,
  addressText,
  check,
  listLimit,
  placeInList,
} from './administration-requests.ts';
import {
  type AccountInfo,
  type AccountPage,
  accountInfo,
  type DeletedAccount,
  type Invitation,
} from './administration-views.ts';
import { requireFreeAddress } from './first-account.ts';
import { pageOf } from './pages.ts';
import { SetupLink } from './setup-link.ts';

/** Jobs of each status whose cancellations are awaited together. */
const CANCELED_AT_ONCE = 100;

/** Accounts, by their e-mail address or user id. Requests and answers are plain data. */
export class AccountAdministration {
  readonly #accounts: Accounts;
  readonly #classLinks: ClassLinks;
  readonly #keys: ApiKeys;
  readonly #service: RenderService;
  readonly #place: DataPlace;
  readonly #setupLink: SetupLink;

  constructor(
    parts: Pick<
      AdministrationParts,
      'accounts' | 'classLinks' | 'keys' | 'service' | 'place' | 'masterKeys' | 'publicUrl'
    >,
  ) {
    const { accounts, classLinks, keys, service, place } = parts;
    this.#setupLink = new SetupLink(parts);
    this.#accounts = accounts;
    this.#classLinks = classLinks;
    this.#keys = keys;
    this.#service = service;
    this.#place = place;
  }

  async create({ email }: { email: string }): Promise<AccountInfo> {
    requireFreeAddress(String(email));
    return accountInfo(await this.#accounts.create(email));
  }

  async show(request: { account: string }): Promise<AccountInfo> {
    return accountInfo(await this.#accounts.find(request.account));
  }

  /** What the account's jobs take, in bytes, and what they may take; null: unknown, or no limit. */
  async storedBytes(request: {
    account: string;
  }): Promise<{ bytes: number | null; mostBytes: number | null }> {
    const { accountId } = await this.#accounts.find(request.account);
    return this.#service.storedBytes(accountId);
  }

  /** Oldest first. `text`: only those whose address contains it. `after`: the last account of the previous page. */
  async list(
    request: { text?: string | undefined; limit?: number | undefined; after?: string | undefined } = {},
  ): Promise<AccountPage> {
    const text = check(addressText, request.text);
    const limit = check(listLimit, request.limit);
    const after = check(placeInList, request.after);
    const found = await this.#accounts.list({
      ...(text !== undefined && { text }),
      ...(after !== undefined && { after }),
      limit: limit + 1,
    });
    const { rows, next } = pageOf(found, limit, ({ accountId }) => accountId);
    return { accounts: rows.map(accountInfo), next };
  }

  /** Rejects the account's keys from now on, and signs it out. Its jobs continue unless `cancelJobs` is set. */
  async disable(request: {
    account: string;
    cancelJobs?: boolean | undefined;
  }): Promise<AccountInfo & { canceledJobs: number }> {
    const { accountId } = await this.#accounts.find(request.account);
    const disabled = accountInfo(await this.#accounts.disable(accountId));
    await this.#place.sessionStore.removeSessionsOf(accountId);
    return { ...disabled, canceledJobs: request.cancelJobs ? await this.#cancelJobsOf(accountId) : 0 };
  }

  /**
   * Sets the password with which an account signs in to the dashboard, and signs it out everywhere. `role` changes what
   * it may do there.
   */
  async setPassword(request: {
    account: string;
    password: string;
    role?: AccountRole | undefined;
  }): Promise<AccountInfo> {
    const role = check(accountRole, request.role);
    const { accountId } = await this.#accounts.find(request.account);
    const changed = await this.#accounts.setPassword(accountId, {
      password: String(request.password),
      ...(role && { role }),
    });
    await this.#place.sessionStore.removeSessionsOf(accountId);
    return accountInfo(changed);
  }

  /**
   * Replaces its password, given the current one, and signs it out everywhere. Errors: `invalid_request`; `conflict` when
   * it was replaced meanwhile, as by an administrator.
   */
  async changePassword(request: {
    account: string;
    current: string;
    password: string;
  }): Promise<AccountInfo> {
    const { email } = await this.#accounts.find(request.account);
    const verified = await this.#accounts.verifyPassword(email, String(request.current));
    if (!verified) throw new ScenepressError('invalid_request', 'The current password is wrong.');
    const { accountId, passwordHash = null } = verified;
    const password = String(request.password);
    const changed = await this.#accounts.setPassword(accountId, { password, replaces: passwordHash });
    await this.#place.sessionStore.removeSessionsOf(accountId);
    return accountInfo(changed);
  }

  /** The link with which the account of the first start is claimed; null once an account has a password. */
  async showSetupLink(): Promise<{ url: string | null }> {
    return { url: (await this.#setupLink.url()) ?? null };
  }

  /** A link for setting the account's password; valid until it expires or the password changes. */
  async invite(request: { account: string }): Promise<Invitation> {
    const { url, expiresAtMs } = this.#setupLink.invitationTo(await this.#accounts.find(request.account));
    return { url, expiresAt: isoTime(expiresAtMs) };
  }

  /** Changes what an account may do in the dashboard. */
  async setRole(request: { account: string; role: AccountRole }): Promise<AccountInfo> {
    const role = check(accountRole.required(), request.role) as AccountRole;
    const { accountId } = await this.#accounts.find(request.account);
    return accountInfo(await this.#accounts.setRole(accountId, role));
  }

  /** Changes how many of its jobs may wait, how large its files may be, and how many scenes it may have; null: as any account. */
  async setLimits({ account, ...limits }: { account: string } & AccountLimits): Promise<AccountInfo> {
    const { accountId } = await this.#accounts.find(account);
    return accountInfo(await this.#accounts.setLimits(accountId, limits));
  }

  /** Links an account to a person, whose access tokens act for it; null removes the link. */
  async setIdentity(request: {
    account: string;
    identity: { issuer: string; subject: string } | null;
  }): Promise<AccountInfo> {
    const { accountId } = await this.#accounts.find(request.account);
    const identity = check(accountIdentity, request.identity);
    return accountInfo(await this.#accounts.setIdentity(accountId, identity));
  }

  async enable(request: { account: string }): Promise<AccountInfo> {
    const { accountId } = await this.#accounts.find(request.account);
    return accountInfo(await this.#accounts.enable(accountId));
  }

  /**
   * Deletes an account: rejects its keys, signs it out, cancels its renders and forgets its jobs, keys, e-mail address,
   * password and the addresses in the record of its acts. Its payments and acts stay recorded under its user id. An interrupted deletion can be repeated to complete it.
   */
  async delete(request: { account: string }): Promise<DeletedAccount> {
    const { accountId } = await this.#accounts.find(request.account, { deleted: true });
    await this.#accounts.beginDeletion(accountId);
    await this.#place.sessionStore.removeSessionsOf(accountId);
    await this.#place.actStore.forgetAddressesOf(accountId);
    await this.#classLinks.forget(accountId);
    const forgottenJobs = await this.#service.forgetAll(accountId);
    const keys = await Array.fromAsync(this.#keys.all({ accountId }));
    for (const { keyId } of keys) await this.#keys.forget(keyId);
    // The address is removed last, so that an interrupted deletion can still be repeated by it.
    await this.#accounts.completeDeletion(accountId);
    return { userId: accountId, revokedKeys: keys.length, forgottenJobs };
  }

  async #cancelJobsOf(accountId: string): Promise<number> {
    const statuses = ['queued', 'running'] as const;
    for (let canceled = 0; ; ) {
      // Repeated, because a running job may be queued again meanwhile.
      const pages = await Promise.all(
        statuses.map((status) =>
          this.#service.list({ owner: accountId, status, limit: CANCELED_AT_ONCE, metadata: false }),
        ),
      );
      const jobs = new Set(pages.flat().map(({ jobId }) => jobId));
      if (jobs.size === 0) return canceled;
      await Promise.all([...jobs].map((jobId) => this.#service.cancel(jobId)));
      canceled += jobs.size;
    }
  }
}
