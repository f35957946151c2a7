import type { ActStore, Logger } from '../../lib/index.ts';
import { SortableIds, systemClock, systemRandom } from '../../lib/index.ts';

/** The actor of an operation, and the address of the request. */
export interface Actor {
  /** Null for the command line. */
  accountId: string | null;
  isAdmin: boolean;
  /** The client's address; null for the command line. */
  address: string | null;
}

/** The user who runs commands owns the data folder, so it may do everything. */
export const COMMAND_LINE: Actor = { accountId: null, isAdmin: true, address: null };

/** Records acts. */
export class Acts {
  readonly #store: ActStore;
  readonly #logger: Logger;
  readonly #ids = new SortableIds(systemClock, systemRandom);

  constructor({ store, logger }: { store: ActStore; logger: Logger }) {
    this.#store = store;
    this.#logger = logger;
  }

  /** Never rejects: a completed operation can't be undone when recording it fails. */
  async record(
    { accountId, address }: Omit<Actor, 'isAdmin'>,
    action: string,
    subject: string | null,
  ): Promise<void> {
    const act = {
      actId: this.#ids.next(),
      atMs: systemClock.now(),
      actor: accountId,
      action,
      subject,
      address,
    };
    try {
      await this.#store.appendAct(act);
    } catch (err) {
      this.#logger.error({ err, action, subject }, 'an act could not be recorded');
    }
  }
}
