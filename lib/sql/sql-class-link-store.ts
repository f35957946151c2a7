import type { Random } from '../base/random.ts';
import type { ClassLinkRecord, ClassSeatRecord } from '../model/class-link.ts';
import type { ClassLinkPage, ClassLinkStore } from '../storage/class-link-store.ts';
import type { SqlDatabase } from '../storage/sql.ts';
import type { Transaction } from '../storage/transaction.ts';
import { pageOfLinks } from './page-of-links.ts';
import { textKeyOf } from './row-format.ts';
import { CLASS_LINKS, CLASS_SEATS } from './row-formats.ts';
import { addTextKey, blankTextKey } from './text-keys.ts';

const SELECT = `SELECT ${CLASS_LINKS.names} FROM class_links`;
const WITH_TOKEN = `${SELECT} WHERE token_hash = ?`;
const SEATS = `SELECT ${CLASS_SEATS.names} FROM class_seats WHERE class_link_id = ? ORDER BY account_id`;
const COUNT_SEATS = 'SELECT count(*) AS count FROM class_seats WHERE class_link_id = ?';
const DROP_SEAT = 'DELETE FROM class_seats WHERE class_link_id = ? AND account_id = ?';

/** Class links in an SQL database. */
export class SqlClassLinkStore implements ClassLinkStore {
  readonly #database: SqlDatabase;
  readonly #random: Random;

  constructor(database: SqlDatabase, random: Random) {
    this.#database = database;
    this.#random = random;
  }

  async insert(tx: Transaction, link: ClassLinkRecord): Promise<void> {
    const inside = this.#database.inside(tx);
    const textKey = await addTextKey(inside, this.#random);
    inside.write(CLASS_LINKS.insert, ...CLASS_LINKS.rowWithTexts(link, textKey, this.#random));
  }

  async revoke(tx: Transaction, link: ClassLinkRecord): Promise<void> {
    this.#database.inside(tx).write(CLASS_LINKS.update, ...CLASS_LINKS.changes(link));
  }

  async delete(tx: Transaction, classLinkId: string): Promise<void> {
    const inside = this.#database.inside(tx);
    const row = await inside.getForUpdate(CLASS_LINKS.byKey, classLinkId);
    if (!row) return;
    blankTextKey(inside, textKeyOf(row));
    inside.write('DELETE FROM class_seats WHERE class_link_id = ?', classLinkId);
    inside.write('DELETE FROM class_links WHERE class_link_id = ?', classLinkId);
  }

  async get(classLinkId: string, tx?: Transaction): Promise<ClassLinkRecord | undefined> {
    const row = tx
      ? await this.#database.inside(tx).getForUpdate(CLASS_LINKS.byKey, classLinkId)
      : await this.#database.get(CLASS_LINKS.byKey, classLinkId);
    return row && CLASS_LINKS.record(row);
  }

  async withToken(tokenHash: string): Promise<ClassLinkRecord | undefined> {
    const row = await this.#database.get(WITH_TOKEN, tokenHash);
    const link = row && CLASS_LINKS.record(row);
    // A damaged index may lead to another link.
    return link?.tokenHash === tokenHash ? link : undefined;
  }

  async list(page: ClassLinkPage): Promise<ClassLinkRecord[]> {
    const rows = await pageOfLinks(this.#database, { select: SELECT, key: 'class_link_id' }, page);
    return rows.map((row) => CLASS_LINKS.record(row));
  }

  async putSeat(tx: Transaction, seat: ClassSeatRecord): Promise<void> {
    const inside = this.#database.inside(tx);
    inside.write(DROP_SEAT, seat.classLinkId, seat.accountId);
    inside.write(CLASS_SEATS.insert, ...CLASS_SEATS.row(seat));
  }

  async dropSeat(
    tx: Transaction,
    { classLinkId, accountId }: Pick<ClassSeatRecord, 'classLinkId' | 'accountId'>,
  ): Promise<void> {
    this.#database.inside(tx).write(DROP_SEAT, classLinkId, accountId);
  }

  async seats(classLinkId: string, tx?: Transaction): Promise<ClassSeatRecord[]> {
    const rows = await (tx ? this.#database.inside(tx) : this.#database).all(SEATS, classLinkId);
    return rows.map((row) => CLASS_SEATS.record(row)).sort((a, b) => a.takenAtMs - b.takenAtMs);
  }

  async countSeats(classLinkId: string, tx?: Transaction): Promise<number> {
    const from = tx ? this.#database.inside(tx) : this.#database;
    const row = await from.get<{ count: number }>(COUNT_SEATS, classLinkId);
    return Number(row?.count ?? 0);
  }
}
