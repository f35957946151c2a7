import type { ShareChanges, ShareSettings } from '../../lib/client/index.ts';
import type { Accounts, RenderService } from '../../lib/index.ts';
import type { Share } from '../../lib/internal.ts';
import type { AdministrationParts } from './administration.ts';
import { check, listLimit, placeInList } from './administration-requests.ts';
import { pageOf } from './pages.ts';
import {
  type SharedVideo,
  type ShareInfo,
  type SharePage,
  type ShownShare,
  sharedVideo,
} from './share-views.ts';

/** Links of accounts, under which others watch their videos. */
export class ShareAdministration {
  readonly #accounts: Accounts;
  readonly #service: RenderService;

  constructor({ accounts, service }: Pick<AdministrationParts, 'accounts' | 'service'>) {
    this.#accounts = accounts;
    this.#service = service;
  }

  /** Makes a link to videos of an account. Errors: those of {@link Shares.create}. */
  async create({
    account,
    ...settings
  }: { account: string; jobIds: string[] } & ShareSettings): Promise<ShareInfo> {
    const { accountId } = await this.#accounts.find(account);
    return this.#infoOf(await this.#service.shares.create({ ...settings, owner: accountId }));
  }

  /** Newest first. `jobId`: only those with this video. `before`: the last share of the previous page. */
  async list(request: {
    account?: string | undefined;
    jobId?: string | undefined;
    limit?: number | undefined;
    before?: string | undefined;
  }): Promise<SharePage> {
    const { account, jobId } = request;
    const limit = check(listLimit, request.limit);
    const before = check(placeInList, request.before);
    const found = await this.#service.shares.list({
      limit: limit + 1,
      ...(account !== undefined && { owner: (await this.#accounts.find(account)).accountId }),
      ...(jobId !== undefined && { jobId: String(jobId) }),
      ...(before !== undefined && { before }),
    });
    const { rows, next } = pageOf(found, limit, ({ shareId }) => shareId);
    return { shares: await Promise.all(rows.map((share) => this.#infoOf(share))), next };
  }

  /** Error: `not_found`. */
  async show({ shareId }: { shareId: string }): Promise<ShownShare> {
    const share = await this.#service.shares.get(String(shareId));
    const videos = await Promise.all(share.jobIds.map((jobId) => this.#videoOf(jobId)));
    const [first] = share.jobIds;
    const plays = first === undefined ? [] : await this.#service.plays(first);
    return { ...(await this.#infoOf(share)), videos, plays };
  }

  /** What is absent stays; the link stays the same. Errors: those of {@link Shares.update}. */
  async update({ shareId, ...settings }: { shareId: string } & ShareChanges): Promise<ShareInfo> {
    return this.#infoOf(await this.#service.shares.update(String(shareId), settings));
  }

  /** Ends the link at once, for good. Error: `not_found`. */
  async revoke({ shareId }: { shareId: string }): Promise<ShareInfo> {
    return this.#infoOf(await this.#service.shares.revoke(String(shareId)));
  }

  /** Removes the share with its texts. Error: `not_found`. */
  async remove({ shareId }: { shareId: string }): Promise<ShareInfo> {
    const share = await this.#infoOf(await this.#service.shares.get(String(shareId)));
    await this.#service.shares.remove(share.shareId);
    return share;
  }

  async #infoOf({ owner, ...share }: Share): Promise<ShareInfo> {
    const account = await this.#accounts.find(owner).catch(() => undefined);
    const [first] = share.jobIds;
    return {
      ...share,
      account: account?.email ?? owner,
      first: first === undefined ? null : await this.#videoOf(first),
    };
  }

  async #videoOf(jobId: string): Promise<SharedVideo> {
    return sharedVideo(await this.#service.get(jobId));
  }
}
