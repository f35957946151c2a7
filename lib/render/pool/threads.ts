import piscina, { type Piscina } from 'piscina';
import type { AnyResult, AnyTask } from '../../model/render-task.ts';
import type { WorkerData } from './worker-data.ts';

// TypeScript when running from source.
const WORKER_FILE = new URL(import.meta.url.endsWith('.ts') ? './thread.ts' : './thread.js', import.meta.url)
  .href;

/** The threads of a pool, each of which runs one task at a time. */
export type Threads = Pick<Piscina<AnyTask, AnyResult>, 'run' | 'on' | 'threads' | 'destroy'>;

/** Starts threads. Injected, so a simulation can replace them. */
export type StartThreads = (size: number, workerData: WorkerData) => Threads;

/** Starts the threads of a Piscina. */
export const startThreads: StartThreads = (size, workerData) =>
  new piscina.Piscina({
    filename: WORKER_FILE,
    workerData,
    minThreads: size,
    maxThreads: size,
    concurrentTasksPerWorker: 1,
    idleTimeout: Number.POSITIVE_INFINITY,
    // Atomics.wait would block the thread's event loop, which monitors its zygote.
    atomics: 'disabled',
  });
