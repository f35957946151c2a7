// The thread of a BackgroundWorker.
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { type ErrorCode, isScenepressError } from '../../errors.ts';
import { BackgroundConnection, type BackgroundTask } from './background-connection.ts';

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
const connection = BackgroundConnection.open((workerData as { path: string }).path);

port.on('message', ({ id, task }: { id: number; task: BackgroundTask | 'close' }) => {
  if (task === 'close') {
    connection.close();
    port.close();
    return;
  }
  port.postMessage(answerTo(id, task));
});

function answerTo(id: number, task: BackgroundTask): BackgroundAnswer {
  try {
    return { id, rows: connection.do(task) };
  } catch (error) {
    const code = isScenepressError(error) ? error.code : undefined;
    return { id, rows: [], error: { code, message: (error as Error).message } };
  }
}
