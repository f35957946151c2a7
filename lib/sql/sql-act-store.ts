import type { Act, ActQuery, ActStore } from '../accounts/act-store.ts';
import type { SqlDatabase } from '../storage/sql.ts';
import { inOrder } from './page-order.ts';
import { ACTS } from './row-formats.ts';

/** Sorts behind all ids. */
const BEHIND_ALL = '~';
const ADDRESS = ACTS.updateOf('address');

/** The record of acts in an SQL database. */
export class SqlActStore implements ActStore {
  readonly #database: SqlDatabase;

  constructor(database: SqlDatabase) {
    this.#database = database;
  }

  async appendAct(act: Act): Promise<void> {
    await this.#database.transaction((tx) => tx.run(ACTS.insert, ...ACTS.row(act)));
  }

  async listActs({ actor, limit, before }: ActQuery): Promise<Act[]> {
    const ofActor = actor === undefined ? '' : 'actor = ? AND';
    const rows = await this.#database.all(
      `SELECT ${ACTS.names} FROM acts WHERE ${ofActor} act_id < ? ORDER BY act_id DESC LIMIT ?`,
      ...(actor === undefined ? [] : [actor]),
      before ?? BEHIND_ALL,
      limit,
    );
    const acts = rows.map((row) => ACTS.record(row));
    return inOrder(ACTS, ({ actId }) => actId, acts, { up: false, from: before });
  }

  async forgetAddressesOf(actor: string): Promise<void> {
    await this.#database.transaction(async (tx) => {
      const text = `SELECT ${ACTS.names} FROM acts WHERE actor = ? AND address IS NOT NULL`;
      for (const row of await tx.allForUpdate(text, actor)) {
        await tx.run(ADDRESS.text, ...ADDRESS.values({ ...ACTS.record(row), address: null }));
      }
    });
  }
}
