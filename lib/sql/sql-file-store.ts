import assert from 'node:assert/strict';
import { allRowsAfter } from '../base/pages.ts';
import type { FileRecord, FileSet, FileUsage } from '../model/owner-file.ts';
import type { FilePage, FileStore } from '../storage/file-store.ts';
import type { SqlDatabase, SqlValue } from '../storage/sql.ts';
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
const USED = `SELECT ${FILE_SETS.names} FROM file_sets WHERE set_id = (SELECT set_id FROM job_files WHERE job_id = ?)`;
/** Without LIKE, which ignores case in SQLite, and takes `_` for any character. */
const USING = `SELECT job_id FROM job_files WHERE set_id IN (
    SELECT set_id FROM file_sets WHERE owner = ? AND replace(entries, ?, '') <> entries)
  ORDER BY job_id DESC LIMIT ?`;
const UNUSED =
  'DELETE FROM file_sets WHERE owner = ? AND NOT EXISTS (SELECT 1 FROM job_files WHERE set_id = file_sets.set_id)';
/** Sets are large: they are not read. */
const WITH_FILE =
  "SELECT 1 AS used FROM file_sets WHERE owner = ? AND entries <> replace(entries, ?, '') LIMIT 1";
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

  async countContent(contentId: string, tx: Transaction): Promise<number> {
    const text = 'SELECT count(*) AS count FROM files WHERE content_id = ?';
    const row = await this.#database.inside(tx).get<{ count: number }>(text, contentId);
    return row?.count ?? 0;
  }

  async list({ owner, folder, after, limit }: FilePage, tx?: Transaction): Promise<FileRecord[]> {
    const conditions = [
      ...(folder === undefined ? [] : [`name > ?`, `name < ?`]),
      ...(after === undefined ? [] : ['name > ?']),
    ];
    const values = [
      ...(folder === undefined ? [] : [`${folder}/`, `${folder}${AFTER_FOLDER}`]),
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
    inside.write(`${FILE_SETS.insert} ON CONFLICT DO NOTHING`, ...FILE_SETS.row(set));
    inside.write(JOB_FILES.insert, ...JOB_FILES.row({ jobId, setId: set.setId }));
  }

  async usedBy(jobId: string, tx?: Transaction): Promise<FileSet | undefined> {
    const row = await (tx ? this.#database.inside(tx) : this.#database).get(USED, jobId);
    return row && FILE_SETS.record(row);
  }

  async jobsUsing(owner: string, fileId: string, limit: number): Promise<string[]> {
    // As it stands in the JSON of a set; quotes in names are escaped there.
    const entry = `"fileId":${JSON.stringify(fileId)}`;
    const rows = await this.#database.queryInBackground<{ job_id: string }>(USING, owner, entry, limit);
    return rows.map(({ job_id: jobId }) => jobId);
  }

  async isUsed(tx: Transaction, { fileId, owner }: Pick<FileRecord, 'fileId' | 'owner'>): Promise<boolean> {
    const inside = this.#database.inside(tx);
    await inside.run(UNUSED, owner);
    return (await inside.get(WITH_FILE, owner, `"${fileId}"`)) !== undefined;
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
