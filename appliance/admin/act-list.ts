import { type Accounts, type ActStore, isoTime } from '../../lib/index.ts';
import { type Acts, countedAct } from './acts.ts';
import type { AdministrationParts } from './administration.ts';
import { check, listLimit } from './administration-requests.ts';
import type { ActInfo } from './administration-views.ts';

/** The record of acts. Requests and answers are plain data. */
export class ActAdministration {
  readonly #accounts: Accounts;
  readonly #acts: Acts;
  readonly #store: ActStore;

  constructor({ accounts, acts, place }: Pick<AdministrationParts, 'accounts' | 'acts' | 'place'>) {
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
          address,
        };
      }),
    );
  }
}
