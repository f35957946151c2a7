// The thread for slow SQLite operations: checkpoints, copies and full scans.
import { closeSync, fsyncSync, openSync } from 'node:fs';
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { type ErrorCode, isScenepressError, ScenepressError } from '../../errors.ts';
import type { SqlValue } from '../sql.ts';
import { Connection } from './connection.ts';

export type AsideTask =
  /** Copies commits from the log into the database; `truncate`: copies all and truncates the log. */
  | { kind: 'checkpoint'; truncate: boolean }
  | { kind: 'query'; text: string; values: SqlValue[] }
  /** Writes a snapshot of the database to another file and flushes it. */
  | { kind: 'copy'; path: string };

export interface AsideAnswer {
  id: number;
  rows: object[];
  /**
   * The error, if any. `code` is that of a {@link ScenepressError}: error classes do not survive the transfer between
   * threads.
   */
  error?: { code: ErrorCode | undefined; message: string };
}

const port = parentPort as MessagePort;
const connection = new Connection((workerData as { path: string }).path);
/** Kept short: commits are blocked while the log is truncated, so do not wait for readers in other programs. */
const BUSY_MS = 100;
connection.exec(
  `PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 0; PRAGMA cache_size = -8192; PRAGMA busy_timeout = ${BUSY_MS}`,
);

port.on('message', ({ id, task }: { id: number; task: AsideTask | 'close' }) => {
  if (task === 'close') {
    connection.close();
    port.close();
    return;
  }
  port.postMessage(answerTo(id, task));
});

function answerTo(id: number, task: AsideTask): AsideAnswer {
  try {
    return { id, rows: done(task) };
  } catch (error) {
    const code = isScenepressError(error) ? error.code : undefined;
    return { id, rows: [], error: { code, message: (error as Error).message } };
  }
}

function done(task: AsideTask): object[] {
  switch (task.kind) {
    case 'checkpoint':
      checkpoint(task.truncate);
      return [];
    case 'query':
      return connection.all(task.text, task.values);
    case 'copy':
      connection.copyTo(task.path);
      flush(task.path);
      return [];
  }
}

/**
 * SQLite leaves the copy in the page cache; without this, the first connection to it would flush it on the main
 * thread.
 */
function flush(path: string): void {
  const file = openSync(path, 'r+');
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

function checkpoint(truncate: boolean): void {
  const mode = truncate ? 'TRUNCATE' : 'PASSIVE';
  const [row] = connection.all<{ busy: number }>(`PRAGMA wal_checkpoint(${mode})`, []);
  if (!truncate || row?.busy === 0) return;
  throw new ScenepressError(
    'storage_locked',
    'The write-ahead log can’t be truncated while another program reads the database. End that program.',
  );
}
