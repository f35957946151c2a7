import type { Accounts, ApiKeys, RenderService } from '../../lib/index.ts';
import { type ActStore, type ClassLinks, isoTime } from '../../lib/internal.ts';
import { type Acts, countedAct } from './acts.ts';
import type { AdministrationParts } from './administration.ts';
import { check, listLimit } from './administration-requests.ts';
import type { ActInfo } from './administration-views.ts';

/** The record of acts. Requests and answers are plain data. */
export class ActAdministration {
  readonly #accounts: Accounts;
  readonly #acts: Acts;
  readonly #classLinks: ClassLinks;
  readonly #keys: ApiKeys;
  readonly #service: RenderService;
  readonly #store: ActStore;

  constructor({
    accounts,
    acts,
    classLinks,
    keys,
    place,
    service,
  }: Pick<AdministrationParts, 'accounts' | 'acts' | 'classLinks' | 'keys' | 'place' | 'service'>) {
    this.#classLinks = classLinks;
    this.#keys = keys;
    this.#service = service;
    this.#acts = acts;
    this.#accounts = accounts;
    this.#store = place.actStore;
  }

  /** Newest first. `before`: the last act of the previous page. */
  async list(request: { limit?: number | undefined; before?: string | undefined }): Promise<ActInfo[]> {
    const { before } = request;
    const limit = check(listLimit, request.limit);
    await this.#acts.flush();
    const acts = await this.#store.listActs({ limit, ...(before !== undefined && { before }) });
    return Promise.all(
      acts.map(async ({ actId, atMs, actor, action, subject, address }) => {
        const account = actor === null ? null : await this.#accounts.find(actor).catch(() => undefined);
        return {
          actId,
          at: isoTime(atMs),
          actor: account?.email ?? actor,
          ...countedAct(action),
          subject,
          subjectName: subject && (await this.#nameOf(action, subject)),
          address,
        };
      }),
    );
  }

  async #nameOf(action: string, subject: string): Promise<string | null> {
    switch (action.split('.')[0]) {
      case 'accounts':
      case 'credits':
      case 'sign-in':
      case 'twoFactor':
        return (await this.#accounts.find(subject).catch(() => undefined))?.email ?? null;
      case 'keys':
        return (await this.#keys.find(subject))?.name ?? null;
      case 'jobs':
        return (await this.#service.get(subject).catch(() => undefined))?.className || null;
      case 'files':
        return (await this.#service.files.get(subject).catch(() => undefined))?.name ?? null;
      case 'shares':
        return this.#shareName(subject);
      case 'scenes':
        return (await this.#service.scenes.get(subject).catch(() => undefined))?.name ?? null;
      case 'assignments':
        return (await this.#service.assignments.get(subject).catch(() => undefined))?.title ?? null;
      case 'classLinks':
        return (await this.#classLinks.get(subject).catch(() => undefined))?.name ?? null;
      default:
        return null;
    }
  }

  /** The title of a share, or that of its first video. */
  async #shareName(shareId: string): Promise<string | null> {
    const share = await this.#service.shares.get(shareId).catch(() => undefined);
    if (!share || share.title !== null) return share?.title ?? null;
    const job = await this.#service.get(share.jobIds[0] ?? '').catch(() => undefined);
    return job?.title ?? (job?.className || null);
  }
}
