// The thread of an Aside.
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { type ErrorCode, isScenepressError } from '../../errors.ts';
import { AsideConnection, type AsideTask } from './aside-connection.ts';

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
const connection = new AsideConnection((workerData as { path: string }).path);

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
    return { id, rows: connection.do(task) };
  } catch (error) {
    const code = isScenepressError(error) ? error.code : undefined;
    return { id, rows: [], error: { code, message: (error as Error).message } };
  }
}
