import { BroadcastChannel, parentPort, threadId, workerData } from 'node:worker_threads';
import type { ListResult, ListTask, RenderResult, RenderTask } from '../run/render-task.ts';
import { RenderWorker } from '../run/render-worker.ts';
import type { WorkerSettings } from '../run/worker-settings.ts';
import type { SandboxStatus } from '../sandbox/sandbox.ts';
import { STARTED, STOPPING } from './thread-counters.ts';

/** What the pool gives every thread. */
export interface WorkerData extends Omit<WorkerSettings, 'index'> {
  /** Over this channel the pool asks all threads to end what they run. */
  shutdownChannel: string;
}

/** Thread to pool, outside of tasks. */
export type WorkerMessage =
  | ({ type: 'ready'; manim: string; python: string; sandbox: SandboxStatus } & WarmZygotes)
  | ({ type: 'unready' | 'refused'; message: string } & WarmZygotes)
  | { type: 'log'; line: string }
  | { type: 'stopped' };

interface WarmZygotes {
  /** The thread that says it, and how many zygotes it has. */
  thread: number;
  warm: number;
}

const data = workerData as WorkerData;
const post = (message: WorkerMessage) => parentPort?.postMessage(message);

// User ids come round again after so many threads: long after the first of them has gone.
const USER_IDS = 1000;
const index = Atomics.add(data.threads, STARTED, 1) % USER_IDS;

const worker = new RenderWorker(
  { ...data, index },
  {
    onReady: ({ manim, python }, sandbox) => post({ type: 'ready', manim, python, sandbox, ...zygotes() }),
    onRefused: (message) => post({ type: 'refused', message, ...zygotes() }),
    onUnready: (message) => post({ type: 'unready', message, ...zygotes() }),
    onLog: (line) => post({ type: 'log', line }),
  },
);

const shutdown = new BroadcastChannel(data.shutdownChannel);
shutdown.onmessage = () => stop();
if (Atomics.load(data.threads, STOPPING) === 1) void stop();
else worker.warmUp();

function zygotes(): WarmZygotes {
  return { thread: threadId, warm: worker.warm };
}

async function stop(): Promise<void> {
  shutdown.close();
  await worker.stop();
  post({ type: 'stopped' });
}

/** The task that Piscina runs here. */
export default function run(task: RenderTask | ListTask): Promise<RenderResult | ListResult> {
  return 'listScenesOf' in task ? worker.list(task) : worker.render(task);
}
