// The thread of a BackgroundWorker.
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { type ErrorCode, isScenepressError } from '../../errors.ts';
import type { SqlValue } from '../sql.ts';
import { openInBackground } from './background-connection.ts';

/** A statement to run; null: close the connection. */
export interface BackgroundRequest {
  id: number;
  statement: { text: string; values: SqlValue[] } | null;
}

export interface BackgroundAnswer {
  id: number;
  rows: object[];
  /**
   * The error, if any. `code` is that of a {@link ScenepressError}: error classes do not survive the transfer between
   * threads.
   */
  error?: { code: ErrorCode | undefined; message: string };
}

const port = parentPort as MessagePort;
const connection = openInBackground((workerData as { path: string }).path);

port.on('message', ({ id, statement }: BackgroundRequest) => {
  if (statement) {
    port.postMessage(answerTo(id, statement));
    return;
  }
  connection.close();
  port.close();
});

function answerTo(
  id: number,
  { text, values }: NonNullable<BackgroundRequest['statement']>,
): BackgroundAnswer {
  try {
    return { id, rows: connection.all(text, values) };
  } catch (error) {
    const code = isScenepressError(error) ? error.code : undefined;
    return { id, rows: [], error: { code, message: (error as Error).message } };
  }
}
