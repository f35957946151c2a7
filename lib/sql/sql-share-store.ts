import assert from 'node:assert/strict';
import type { Random } from '../base/random.ts';
import type { ShareRecord } from '../model/share.ts';
import type { SharePage, ShareStore } from '../storage/share-store.ts';
import type { SqlDatabase, SqlReader, SqlTransaction, SqlValue } from '../storage/sql.ts';
import type { Transaction } from '../storage/transaction.ts';
import { textKeyOf } from './row-format.ts';
import { SHARE_JOBS, SHARE_VIEWS, SHARES } from './row-formats.ts';
import { addTextKey, blankTextKey } from './text-keys.ts';

const SELECT = `SELECT ${SHARES.names} FROM shares`;
const WITH_TOKEN = `${SELECT} WHERE token_hash = ?`;
const OF_JOB = 'SELECT DISTINCT share_id FROM share_jobs WHERE job_id = ? ORDER BY share_id';
const JOBS_OF = `SELECT ${SHARE_JOBS.names} FROM share_jobs WHERE share_id = ? ORDER BY place`;

/** Shares in an SQL database. */
export class SqlShareStore implements ShareStore {
  readonly #database: SqlDatabase;
  readonly #random: Random;

  constructor(database: SqlDatabase, random: Random) {
    this.#database = database;
    this.#random = random;
  }

  async insert(tx: Transaction, share: ShareRecord): Promise<void> {
    const inside = this.#database.inside(tx);
    const textKey = await addTextKey(inside, this.#random);
    inside.write(SHARES.insert, ...SHARES.rowWithTexts(share, textKey, this.#random));
    addJobs(inside, share);
    inside.write(SHARE_VIEWS.insert, ...SHARE_VIEWS.row(share));
  }

  async update(tx: Transaction, share: ShareRecord): Promise<void> {
    const inside = this.#database.inside(tx);
    const row = await inside.getForUpdate(SHARES.byKey, share.shareId);
    assert(row, 'the share exists');
    const texts = SHARES.sealTexts(share, textKeyOf(row), this.#random);
    inside.write(SHARES.updateWithTexts, ...SHARES.changes(share, texts));
    inside.write('DELETE FROM share_jobs WHERE share_id = ?', share.shareId);
    addJobs(inside, share);
  }

  async delete(tx: Transaction, shareId: string): Promise<void> {
    const inside = this.#database.inside(tx);
    const row = await inside.getForUpdate(SHARES.byKey, shareId);
    if (!row) return;
    blankTextKey(inside, textKeyOf(row));
    inside.write('DELETE FROM share_views WHERE share_id = ?', shareId);
    inside.write('DELETE FROM share_jobs WHERE share_id = ?', shareId);
    inside.write('DELETE FROM shares WHERE share_id = ?', shareId);
  }

  get(shareId: string, tx?: Transaction): Promise<ShareRecord | undefined> {
    return this.#share(tx ? this.#database.inside(tx) : this.#database, SHARES.byKey, shareId);
  }

  async withToken(tokenHash: string): Promise<ShareRecord | undefined> {
    const share = await this.#share(this.#database, WITH_TOKEN, tokenHash);
    // A damaged index may lead to the share of another link.
    return share?.tokenHash === tokenHash ? share : undefined;
  }

  async list({ owner, jobId, before, limit }: SharePage): Promise<ShareRecord[]> {
    const conditions: [text: string, value: SqlValue | undefined][] = [
      ['owner = ?', owner],
      ['share_id IN (SELECT share_id FROM share_jobs WHERE job_id = ?)', jobId],
      ['share_id < ?', before],
    ];
    const given = conditions.filter((pair): pair is [string, SqlValue] => pair[1] !== undefined);
    const where = given.length === 0 ? '' : ` WHERE ${given.map(([text]) => text).join(' AND ')}`;
    const text = `${SELECT}${where} ORDER BY share_id DESC LIMIT ?`;
    const rows = await this.#database.all(text, ...given.map(([, value]) => value), limit);
    return Promise.all(rows.map((row) => recordOf(this.#database, row)));
  }

  async count(owner: string, tx: Transaction): Promise<number> {
    const text = 'SELECT count(*) AS count FROM shares WHERE owner = ?';
    const row = await this.#database.inside(tx).get<{ count: number }>(text, owner);
    return Number(row?.count ?? 0);
  }

  async dropJob(tx: Transaction, jobId: string): Promise<void> {
    const inside = this.#database.inside(tx);
    const shares = await inside.all<{ share_id: string }>(OF_JOB, jobId);
    for (const { share_id: shareId } of shares) {
      inside.write('DELETE FROM share_jobs WHERE share_id = ? AND job_id = ?', shareId, jobId);
      if (!(await inside.get(JOBS_OF, shareId))) await this.delete(tx, shareId);
    }
  }

  async addViews(views: ReadonlyMap<string, number>): Promise<void> {
    // Transactions that update the same rows in another order would end in a deadlock.
    const ordered = [...views].toSorted(([a], [b]) => (a < b ? -1 : 1));
    await this.#database.transaction(async (tx) => {
      for (const [shareId, added] of ordered) {
        const row = await tx.getForUpdate(SHARE_VIEWS.byKey, shareId);
        // Removed since, or lost when the database was damaged.
        if (!row) continue;
        const { views } = SHARE_VIEWS.record(row);
        tx.write(SHARE_VIEWS.update, ...SHARE_VIEWS.changes({ shareId, views: views + added }));
      }
    });
  }

  async #share(from: SqlReader, text: string, value: string): Promise<ShareRecord | undefined> {
    const row = await from.get(text, value);
    return row && recordOf(from, row);
  }
}

async function recordOf(from: SqlReader, row: object): Promise<ShareRecord> {
  const share = SHARES.record(row);
  const [jobs, views] = await Promise.all([
    from.all(JOBS_OF, share.shareId),
    from.get(SHARE_VIEWS.byKey, share.shareId),
  ]);
  return {
    ...share,
    jobIds: jobs.map((row) => SHARE_JOBS.record(row).jobId),
    views: views ? SHARE_VIEWS.record(views).views : 0,
  };
}

function addJobs(inside: SqlTransaction, { shareId, jobIds }: ShareRecord): void {
  for (const [place, jobId] of jobIds.entries())
    inside.write(SHARE_JOBS.insert, ...SHARE_JOBS.row({ shareId, place, jobId }));
}
