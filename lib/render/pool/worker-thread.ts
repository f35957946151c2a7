import { BroadcastChannel } from 'node:worker_threads';
import type { AnyResult, AnyTask } from '../../model/render-task.ts';
import type { Clock } from '../../time/clock.ts';
import { STARTED, STOPPING } from '../counters/thread-counters.ts';
import { RenderWorker } from '../run/render-worker.ts';
import type { Processes } from '../start/processes.ts';
import type { WarmZygotes, WorkerData, WorkerMessage } from './worker-data.ts';

// User ids are reused after this many threads, when the first has long ended.
const USER_IDS = 1000;

/**
 * Starts the worker of a thread, until the pool stops all threads. Returns the function that runs its tasks.
 */
export function startWorkerThread(
  data: WorkerData,
  {
    threadId,
    post,
    clock,
    processes,
  }: { threadId: number; post: (message: WorkerMessage) => void; clock: Clock; processes: Processes },
): (task: AnyTask) => Promise<AnyResult> {
  const index = Atomics.add(data.threads, STARTED, 1) % USER_IDS;
  const zygotes = (): WarmZygotes => ({ thread: threadId, warm: worker.warm });
  const worker = new RenderWorker(
    { ...data, index, clock, processes },
    {
      onReady: ({ manim, python }, sandbox) => post({ type: 'ready', manim, python, sandbox, ...zygotes() }),
      onRefused: (message) => post({ type: 'refused', message, ...zygotes() }),
      onUnready: (message) => post({ type: 'unready', message, ...zygotes() }),
      onLog: (line) => post({ type: 'log', line }),
    },
  );
  const shutdown = new BroadcastChannel(data.shutdownChannel);
  const stop = async () => {
    shutdown.close();
    await worker.stop();
    post({ type: 'stopped' });
  };
  shutdown.onmessage = () => stop();
  if (Atomics.load(data.threads, STOPPING) === 1) void stop();
  else worker.warmUp();
  return (task) => {
    if ('listScenesOf' in task) return worker.list(task);
    return 'checkSceneOf' in task ? worker.check(task) : worker.render(task);
  };
}
