import type { Random } from '../base/random.ts';
import type { AssignmentCopy, AssignmentRecord } from '../model/assignment.ts';
import type { AssignmentPage, AssignmentStore } from '../storage/assignment-store.ts';
import type { SqlDatabase } from '../storage/sql.ts';
import type { Transaction } from '../storage/transaction.ts';
import { pageOfLinks } from './page-of-links.ts';
import { textKeyOf } from './row-format.ts';
import { ASSIGNMENT_COPIES, ASSIGNMENTS } from './row-formats.ts';
import { addTextKey, blankTextKey } from './text-keys.ts';

const SELECT = `SELECT ${ASSIGNMENTS.names} FROM assignments`;
const WITH_TOKEN = `${SELECT} WHERE token_hash = ?`;
const WITH_SCENE = `SELECT ${ASSIGNMENT_COPIES.names} FROM assignment_copies WHERE scene_id = ?`;
const COUNT = 'SELECT count(*) AS count FROM assignments WHERE owner = ?';
const COUNT_COPIES = 'SELECT count(*) AS count FROM assignment_copies WHERE assignment_id = ?';

/** Assignments in an SQL database. */
export class SqlAssignmentStore implements AssignmentStore {
  readonly #database: SqlDatabase;
  readonly #random: Random;

  constructor(database: SqlDatabase, random: Random) {
    this.#database = database;
    this.#random = random;
  }

  async insert(tx: Transaction, assignment: AssignmentRecord): Promise<void> {
    const inside = this.#database.inside(tx);
    const textKey = await addTextKey(inside, this.#random);
    inside.write(ASSIGNMENTS.insert, ...ASSIGNMENTS.rowWithTexts(assignment, textKey, this.#random));
  }

  async revoke(tx: Transaction, assignment: AssignmentRecord): Promise<void> {
    this.#database.inside(tx).write(ASSIGNMENTS.update, ...ASSIGNMENTS.changes(assignment));
  }

  async delete(tx: Transaction, assignmentId: string): Promise<void> {
    const inside = this.#database.inside(tx);
    const row = await inside.getForUpdate(ASSIGNMENTS.byKey, assignmentId);
    if (!row) return;
    blankTextKey(inside, textKeyOf(row));
    inside.write('DELETE FROM assignment_copies WHERE assignment_id = ?', assignmentId);
    inside.write('DELETE FROM assignments WHERE assignment_id = ?', assignmentId);
  }

  async get(assignmentId: string, tx?: Transaction): Promise<AssignmentRecord | undefined> {
    const row = tx
      ? await this.#database.inside(tx).getForUpdate(ASSIGNMENTS.byKey, assignmentId)
      : await this.#database.get(ASSIGNMENTS.byKey, assignmentId);
    return row && ASSIGNMENTS.record(row);
  }

  async withToken(tokenHash: string): Promise<AssignmentRecord | undefined> {
    const row = await this.#database.get(WITH_TOKEN, tokenHash);
    const assignment = row && ASSIGNMENTS.record(row);
    // A damaged index may lead to another link.
    return assignment?.tokenHash === tokenHash ? assignment : undefined;
  }

  async list(page: AssignmentPage): Promise<AssignmentRecord[]> {
    const rows = await pageOfLinks(this.#database, { select: SELECT, key: 'assignment_id' }, page);
    return rows.map((row) => ASSIGNMENTS.record(row));
  }

  async count(owner: string, tx: Transaction): Promise<number> {
    const row = await this.#database.inside(tx).get<{ count: number }>(COUNT, owner);
    return Number(row?.count ?? 0);
  }

  async addCopy(tx: Transaction, copy: AssignmentCopy): Promise<void> {
    this.#database.inside(tx).write(ASSIGNMENT_COPIES.insert, ...ASSIGNMENT_COPIES.row(copy));
  }

  async copyOf(assignmentId: string, owner: string, tx?: Transaction): Promise<AssignmentCopy | undefined> {
    const from = tx ? this.#database.inside(tx) : this.#database;
    const row = await from.get(ASSIGNMENT_COPIES.byKey, assignmentId, owner);
    return row && ASSIGNMENT_COPIES.record(row);
  }

  async copyWithScene(sceneId: string): Promise<AssignmentCopy | undefined> {
    const row = await this.#database.get(WITH_SCENE, sceneId);
    const copy = row && ASSIGNMENT_COPIES.record(row);
    return copy?.sceneId === sceneId ? copy : undefined;
  }

  async countCopies(assignmentId: string): Promise<number> {
    const row = await this.#database.get<{ count: number }>(COUNT_COPIES, assignmentId);
    return Number(row?.count ?? 0);
  }
}
