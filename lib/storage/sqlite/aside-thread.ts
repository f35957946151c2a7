// The thread in which SQLite does what takes long: checkpoints, copies, queries over everything.
import { closeSync, fsyncSync, openSync } from 'node:fs';
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { type ErrorCode, isScenepressError, ScenepressError } from '../../errors.ts';
import type { SqlValue } from '../sql.ts';
import { Connection } from './connection.ts';

export type AsideTask =
  /** Copies commits into the database; `truncate`: all of them, and empties the log. */
  | { kind: 'checkpoint'; truncate: boolean }
  | { kind: 'query'; text: string; values: SqlValue[] }
  /** Writes the database as it is now into another file, and flushes that. */
  | { kind: 'copy'; path: string };

export interface AsideAnswer {
  id: number;
  rows: object[];
  /** Why there are none. `code`: of a {@link ScenepressError}, of which only plain data passes between threads. */
  error?: { code: ErrorCode | undefined; message: string };
}

const port = parentPort as MessagePort;
const connection = new Connection((workerData as { path: string }).path);
/** Commits stand still while the log is emptied, so another program that reads the database isn't waited for. */
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

/** SQLite leaves the copy to the system's cache. The first connection to it would flush all of it, on its own thread. */
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
    'The log of commits can’t be emptied while another program reads the database. End that program.',
  );
}
