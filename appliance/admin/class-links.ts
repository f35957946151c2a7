import type { Accounts } from '../../lib/index.ts';
import type { ClassLink, ClassLinks } from '../../lib/internal.ts';
import type { AdministrationParts } from './administration.ts';
import { check, listLimit, placeInList } from './administration-requests.ts';
import type { ClassLinkDetails, ClassLinkInfo, ClassLinkPage } from './assignment-views.ts';
import { pageOf } from './pages.ts';

/** Names a class link. */
interface Named {
  classLinkId: string;
}

/** Links under which people make accounts. Only administrators make them. */
export class ClassLinkAdministration {
  readonly #accounts: Accounts;
  readonly #classLinks: ClassLinks;

  constructor({ accounts, classLinks }: Pick<AdministrationParts, 'accounts' | 'classLinks'>) {
    this.#accounts = accounts;
    this.#classLinks = classLinks;
  }

  /** Makes a class link for an account, such as a teacher's. Errors: those of {@link ClassLinks.create}. */
  async create({
    account,
    ...settings
  }: {
    account: string;
    name: string;
    seats: number;
    creditsPerSeat?: number;
    expiresAt?: string | null;
  }): Promise<ClassLinkInfo> {
    const { accountId } = await this.#accounts.find(account);
    return this.#info(await this.#classLinks.create({ ...settings, owner: accountId }));
  }

  /** Newest first. `before`: the last class link of the previous page. */
  async list(request: {
    account?: string | undefined;
    limit?: number | undefined;
    before?: string | undefined;
  }): Promise<ClassLinkPage> {
    const { account } = request;
    const limit = check(listLimit, request.limit);
    const before = check(placeInList, request.before);
    const found = await this.#classLinks.list({
      limit: limit + 1,
      ...(account !== undefined && { owner: (await this.#accounts.find(account)).accountId }),
      ...(before !== undefined && { before }),
    });
    const { rows, next } = pageOf(found, limit, ({ classLinkId }) => classLinkId);
    return { classLinks: await Promise.all(rows.map((link) => this.#info(link))), next };
  }

  /** With the accounts that have joined. Error: `not_found`. */
  async show({ classLinkId }: Named): Promise<ClassLinkDetails> {
    const seats = await this.#classLinks.seats(String(classLinkId));
    const joined = seats.map(async ({ accountId, joinedAt }) => {
      const account = await this.#accounts.find(accountId).catch(() => undefined);
      return { userId: accountId, email: account?.email ?? null, joinedAt };
    });
    const info = await this.#info(await this.#classLinks.get(String(classLinkId)));
    return { ...info, joined: await Promise.all(joined) };
  }

  /** Ends the link at once, for good; accounts that have joined stay. Error: `not_found`. */
  async revoke({ classLinkId }: Named): Promise<ClassLinkInfo> {
    return this.#info(await this.#classLinks.revoke(String(classLinkId)));
  }

  /** Removes the link with the list of who has joined; accounts stay. Error: `not_found`. */
  async remove({ classLinkId }: Named): Promise<ClassLinkInfo> {
    const link = await this.#info(await this.#classLinks.get(String(classLinkId)));
    await this.#classLinks.remove(link.classLinkId);
    return link;
  }

  async #info({ owner, ...link }: ClassLink): Promise<ClassLinkInfo> {
    const account = await this.#accounts.find(owner).catch(() => undefined);
    return { ...link, account: account?.email ?? owner };
  }
}
