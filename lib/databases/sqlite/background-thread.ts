// The thread of a BackgroundWorker.
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { type ErrorCode, isScenepressError } from '../../base/errors.ts';
import type { SqlValue } from '../../storage/sql.ts';
import { openInBackground } from './connection.ts';

/** A statement to run; null: close the connection. */
export type BackgroundRequest = { text: string; values: SqlValue[] } | null;

export interface BackgroundAnswer {
  rows: object[];
  /**
   * The error, if any. `code` is that of a {@link ScenepressError}: error classes do not survive the transfer between
   * threads.
   */
  error?: { code: ErrorCode | undefined; message: string };
}

const port = parentPort as MessagePort;
const { path, identity } = workerData as { path: string; identity: string };
const connection = openInBackground(path, identity);

port.on('message', (request: BackgroundRequest) => {
  if (request) {
    port.postMessage(answerTo(request));
    return;
  }
  connection.close();
  port.close();
});

function answerTo({ text, values }: NonNullable<BackgroundRequest>): BackgroundAnswer {
  try {
    return { rows: connection.all(text, values) };
  } catch (error) {
    const code = isScenepressError(error) ? error.code : undefined;
    return { rows: [], error: { code, message: (error as Error).message } };
  }
}
