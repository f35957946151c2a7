import assert from 'node:assert/strict';
import { ScenepressError } from '../base/errors.ts';
import { allRowsAfter } from '../base/pages.ts';
import type { FileRecord, FileSet, FileUsage } from '../model/owner-file.ts';
import type { FilePage, FileStore } from '../storage/file-store.ts';
import type { SqlDatabase, SqlTransaction, SqlValue } from '../storage/sql.ts';
import type { Transaction } from '../storage/transaction.ts';
import { FILE_SETS, FILES, JOB_FILES } from './row-formats.ts';

const SELECT = `SELECT ${FILES.names} FROM files`;
const NAMED = `${SELECT} WHERE owner = ? AND name = ? AND phase = 'stored'`;
const WITH_CONTENT = `${SELECT} WHERE owner = ? AND sha256 = ? AND phase IN ('stored', 'removed') ORDER BY file_id LIMIT 1`;
const OF_OWNER = `${SELECT} WHERE owner = ? ORDER BY file_id LIMIT ?`;
const CONTENTS = `${SELECT} WHERE file_id IN (
    SELECT min(file_id) FROM files WHERE phase IN ('stored', 'removed') AND content_id > ?
    GROUP BY content_id ORDER BY content_id LIMIT ?)
  ORDER BY content_id`;
const DUE = `${SELECT} WHERE due_at_ms <= ? ORDER BY due_at_ms, file_id LIMIT ?`;
const USAGE = `SELECT (SELECT count(*) FROM files WHERE owner = ? AND phase IN ('storing', 'stored')) AS files,
  (SELECT coalesce(sum(size_bytes), 0) FROM
    (SELECT max(size_bytes) AS size_bytes FROM files WHERE owner = ? GROUP BY content_id) AS contents) AS bytes`;
/** One statement, so that no other process adds or removes the set in between. All null if the set was lost. */
const USED = `SELECT ${FILE_SETS.names} FROM (SELECT set_id AS used FROM job_files WHERE job_id = ?) AS of_job
  LEFT JOIN file_sets ON set_id = used`;
const OF_JOB = `SELECT ${JOB_FILES.names} FROM job_files WHERE job_id = ?`;
const USING = `SELECT job_id FROM job_files WHERE set_id IN (SELECT set_id FROM set_files WHERE file_id = ?)
  ORDER BY job_id DESC LIMIT ?`;
const IS_USED = `SELECT 1 AS used FROM set_files WHERE file_id = ?
    AND EXISTS (SELECT 1 FROM job_files WHERE job_files.set_id = set_files.set_id) LIMIT 1`;
const SENT_BEFORE = `${SELECT} WHERE owner = ? AND sha256 = ? AND phase = 'removed' AND name = ? ORDER BY file_id LIMIT 1`;
const SIZES = 'SELECT coalesce(sum(size), 0) AS entries FROM file_sets WHERE owner = ?';
/** How many rows one statement inserts: few different statements, which are prepared once. */
const ROWS = [100, 10, 1];
const PAGE = 100;
/** Sorts after all names in a folder, and before other names: `0` follows `/`. */
const AFTER_FOLDER = '0';

/** Files of owners in an SQL database. */
export class SqlFileStore implements FileStore {
  readonly #database: SqlDatabase;

  constructor(database: SqlDatabase) {
    this.#database = database;
  }

  async insert(tx: Transaction, file: FileRecord): Promise<void> {
    this.#database.inside(tx).write(FILES.insert, ...FILES.row(file));
  }

  async update(tx: Transaction, file: FileRecord): Promise<void> {
    const updated = await this.#database.inside(tx).run(FILES.update, ...FILES.changes(file));
    assert.equal(updated, 1, 'the file exists');
  }

  async delete(tx: Transaction, fileId: string): Promise<void> {
    this.#database.inside(tx).write('DELETE FROM files WHERE file_id = ?', fileId);
  }

  get(fileId: string, tx?: Transaction): Promise<FileRecord | undefined> {
    return this.#file(tx, FILES.byKey, fileId);
  }

  async getAll(fileIds: readonly string[], tx?: Transaction): Promise<FileRecord[]> {
    if (fileIds.length === 0) return [];
    const marks = fileIds.map(() => '?').join(', ');
    return this.#files(tx, `${SELECT} WHERE file_id IN (${marks})`, ...fileIds);
  }

  named(owner: string, name: string, tx?: Transaction): Promise<FileRecord | undefined> {
    return this.#file(tx, NAMED, owner, name);
  }

  async isFolder(owner: string, name: string, tx: Transaction): Promise<boolean> {
    return (await this.list({ owner, folder: name, limit: 1 }, tx)).length > 0;
  }

  withContent(owner: string, sha256: string, tx: Transaction): Promise<FileRecord | undefined> {
    return this.#file(tx, WITH_CONTENT, owner, sha256);
  }

  sentBefore(owner: string, sha256: string, name: string, tx: Transaction): Promise<FileRecord | undefined> {
    return this.#file(tx, SENT_BEFORE, owner, sha256, name);
  }

  async countContent(contentId: string, tx: Transaction): Promise<number> {
    const text = 'SELECT count(*) AS count FROM files WHERE content_id = ?';
    const row = await this.#database.inside(tx).get<{ count: number }>(text, contentId);
    return row?.count ?? 0;
  }

  async list({ owner, folder, search, after, limit }: FilePage, tx?: Transaction): Promise<FileRecord[]> {
    const conditions = [
      ...(folder === undefined ? [] : [`name > ?`, `name < ?`]),
      // Without LIKE, which takes `_` for any character.
      ...(search === undefined ? [] : ["replace(lower(name), lower(?), '') <> lower(name)"]),
      ...(after === undefined ? [] : ['name > ?']),
    ];
    const values = [
      ...(folder === undefined ? [] : [`${folder}/`, `${folder}${AFTER_FOLDER}`]),
      ...(search === undefined ? [] : [search]),
      ...(after === undefined ? [] : [after]),
    ];
    const where = conditions.map((text) => ` AND ${text}`).join('');
    const text = `${SELECT} WHERE owner = ? AND phase = 'stored'${where} ORDER BY name LIMIT ?`;
    return this.#files(tx, text, owner, ...values, limit);
  }

  async usage(owner: string, tx?: Transaction): Promise<FileUsage> {
    const from = tx ? this.#database.inside(tx) : this.#database;
    const row = await from.get<FileUsage>(USAGE, owner, owner);
    return { files: Number(row?.files ?? 0), bytes: Number(row?.bytes ?? 0) };
  }

  due(atMs: number, limit: number): Promise<FileRecord[]> {
    return this.#files(undefined, DUE, atMs, limit);
  }

  of(owner: string, limit: number): Promise<FileRecord[]> {
    return this.#files(undefined, OF_OWNER, owner, limit);
  }

  all(): AsyncIterable<FileRecord> {
    return allRowsAfter(
      (after) => this.#files(undefined, CONTENTS, after, PAGE),
      ({ contentId }) => contentId,
    );
  }

  async use(tx: Transaction, jobId: string, set: FileSet): Promise<void> {
    const inside = this.#database.inside(tx);
    if (!(await this.#hasSet(inside, set.setId))) {
      inside.write(FILE_SETS.insert, ...FILE_SETS.row(set));
      addSetFiles(inside, set);
    }
    inside.write(JOB_FILES.insert, ...JOB_FILES.row({ jobId, setId: set.setId }));
  }

  async entriesWith(set: FileSet, tx: Transaction): Promise<number> {
    const inside = this.#database.inside(tx);
    const [hasSet, row] = await Promise.all([
      this.#hasSet(inside, set.setId),
      inside.get<{ entries: number }>(SIZES, set.owner),
    ]);
    return Number(row?.entries ?? 0) + (hasSet ? 0 : set.entries.length);
  }

  async usedBy(jobId: string, tx?: Transaction): Promise<FileSet | undefined> {
    const from = tx ? this.#database.inside(tx) : this.#database;
    const row = await from.get<{ set_id: SqlValue }>(USED, jobId);
    if (!row) return undefined;
    if (row['set_id'] !== null) return FILE_SETS.record(row);
    throw new ScenepressError(
      'not_found',
      'Which files the job uses was lost when its storage was damaged. Render the scene as a new job.',
    );
  }

  async jobsUsing(fileId: string, limit: number): Promise<string[]> {
    const rows = await this.#database.queryInBackground<{ job_id: string }>(USING, fileId, limit);
    return rows.map(({ job_id: jobId }) => jobId);
  }

  async isUsed(tx: Transaction, fileId: string): Promise<boolean> {
    return (await this.#database.inside(tx).get(IS_USED, fileId)) !== undefined;
  }

  async release(tx: Transaction, jobId: string, atMs: number): Promise<FileRecord[]> {
    const inside = this.#database.inside(tx);
    const job = await inside.get<{ set_id: string }>(OF_JOB, jobId);
    if (!job) return [];
    inside.write('DELETE FROM job_files WHERE job_id = ?', jobId);
    const { set_id: setId } = job;
    if (await inside.get('SELECT 1 AS used FROM job_files WHERE set_id = ? LIMIT 1', setId)) return [];
    const row = await inside.get(FILE_SETS.byKey, setId);
    if (!row) return [];
    const ids = [...new Set(FILE_SETS.record(row).entries.map(({ fileId }) => fileId))];
    for (const fileId of ids)
      inside.write('DELETE FROM set_files WHERE file_id = ? AND set_id = ?', fileId, setId);
    inside.write('DELETE FROM file_sets WHERE set_id = ?', setId);
    const removed = (await this.getAll(ids, tx)).filter(({ phase }) => phase === 'removed');
    const due = removed.map((file) => ({ ...file, dueAtMs: Math.min(file.dueAtMs ?? atMs, atMs) }));
    for (const file of due) inside.write(FILES.update, ...FILES.changes(file));
    return due;
  }

  async #hasSet(inside: SqlTransaction, setId: string): Promise<boolean> {
    return (await inside.get('SELECT 1 AS known FROM file_sets WHERE set_id = ?', setId)) !== undefined;
  }

  async #file(tx: Transaction | undefined, text: string, ...values: SqlValue[]) {
    const row = await (tx ? this.#database.inside(tx) : this.#database).get(text, ...values);
    return row && FILES.record(row);
  }

  async #files(tx: Transaction | undefined, text: string, ...values: SqlValue[]): Promise<FileRecord[]> {
    const rows = await (tx ? this.#database.inside(tx) : this.#database).all(text, ...values);
    return rows.map((row) => FILES.record(row));
  }
}

/** Notes which files a set has: an index, which is made again of the sets when these are copied. */
function addSetFiles(inside: SqlTransaction, { setId, entries }: FileSet): void {
  const ids = [...new Set(entries.map(({ fileId }) => fileId))];
  for (let at = 0; at < ids.length; ) {
    const count = ROWS.find((rows) => rows <= ids.length - at) ?? 1;
    const marks = Array.from({ length: count }, () => '(?, ?)').join(', ');
    const values = ids.slice(at, at + count).flatMap((fileId) => [fileId, setId]);
    inside.write(`INSERT INTO set_files (file_id, set_id) VALUES ${marks}`, ...values);
    at += count;
  }
}
