import { ScenepressError } from '../../errors.ts';
import type { SqlValue } from '../sql.ts';
import { Connection } from './connection.ts';

export type BackgroundTask =
  /** Copies commits from the log into the database. */
  | { kind: 'checkpoint'; truncate: false }
  /** Copies all and truncates the log; waits for readers in other programs at most `waitMs`. */
  | { kind: 'checkpoint'; truncate: true; waitMs: number }
  | { kind: 'query'; text: string; values: SqlValue[] }
  /** Writes a snapshot of the database to another file. */
  | { kind: 'copy'; path: string };

/** A connection for slow SQLite operations: checkpoints, copies and full scans. */
export class BackgroundConnection {
  readonly #connection: Connection;

  private constructor(connection: Connection) {
    this.#connection = connection;
  }

  static open(path: string): BackgroundConnection {
    const connection = Connection.open(path);
    connection.exec('PRAGMA synchronous=NORMAL; PRAGMA wal_autocheckpoint=0; PRAGMA cache_size=-8192');
    return new BackgroundConnection(connection);
  }

  /** Returns the rows of the task. */
  do(task: BackgroundTask): object[] {
    switch (task.kind) {
      case 'checkpoint':
        if (task.truncate) this.#truncateLog(task.waitMs);
        else this.#connection.exec('PRAGMA wal_checkpoint(PASSIVE)');
        return [];
      case 'query':
        return this.#connection.all(task.text, task.values);
      case 'copy':
        this.#connection.copyTo(task.path);
        return [];
    }
  }

  close(): void {
    this.#connection.close();
  }

  #truncateLog(waitMs: number): void {
    this.#connection.exec(`PRAGMA busy_timeout = ${waitMs}`);
    const [row] = this.#connection.all<{ busy: number }>('PRAGMA wal_checkpoint(TRUNCATE)', []);
    if (row?.busy === 0) return;
    throw new ScenepressError(
      'storage_locked',
      "The write-ahead log can't be truncated while another program reads the database. End that program.",
    );
  }
}
