// The thread of a RenderPool.
import { parentPort, threadId, workerData } from 'node:worker_threads';
import type { AnyResult, AnyTask } from '../../model/render-task.ts';
import { systemClock } from '../../time/clock.ts';
import { systemProcesses } from '../start/processes.ts';
import type { WorkerData } from './worker-data.ts';
import { startWorkerThread } from './worker-thread.ts';

const run: (task: AnyTask) => Promise<AnyResult> = startWorkerThread(workerData as WorkerData, {
  threadId,
  post: (message) => parentPort?.postMessage(message),
  clock: systemClock,
  processes: systemProcesses,
});

/** Runs the tasks that Piscina gives to this thread. */
export default run;
