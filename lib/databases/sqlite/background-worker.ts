import { statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { ScenepressError } from '../../base/errors.ts';
import { identityOf } from '../../files/disk.ts';
import type { SqlValue } from '../../storage/sql.ts';
import type { BackgroundAnswer, BackgroundRequest } from './background-thread.ts';

// TypeScript when running from source.
const THREAD_FILE = new URL(
  import.meta.url.endsWith('.ts') ? './background-thread.ts' : './background-thread.js',
  import.meta.url,
);

/** Runs slow statements: a {@link BackgroundWorker}. */
export type Background = Pick<BackgroundWorker, 'all' | 'stop'>;

/** Runs slow statements one at a time in a thread, which starts with the first one. */
export class BackgroundWorker {
  readonly #path: string;
  #worker: Worker | undefined;
  #isStopping = false;
  /** In the order of the statements, which is that of the answers. */
  readonly #waiting: PromiseWithResolvers<object[]>[] = [];

  constructor(databasePath: string) {
    this.#path = databasePath;
  }

  /** Resolves with the rows. */
  async all<Row extends object>(text: string, ...values: SqlValue[]): Promise<Row[]> {
    const worker = this.#started();
    const answer = Promise.withResolvers<object[]>();
    this.#waiting.push(answer);
    worker.ref();
    worker.postMessage({ text, values } satisfies BackgroundRequest);
    return (await answer.promise) as Row[];
  }

  /** Ends the thread after its pending statements. */
  async stop(): Promise<void> {
    const worker = this.#worker;
    if (!worker) return;
    this.#isStopping = true;
    worker.ref();
    const ended = new Promise((resolve) => worker.once('exit', resolve));
    worker.postMessage(null satisfies BackgroundRequest);
    await ended;
    this.#isStopping = false;
  }

  #started(): Worker {
    if (this.#worker) return this.#worker;
    // A path, because the packed executable resolves its embedded files only by path.
    const worker = new Worker(fileURLToPath(THREAD_FILE), {
      name: 'database',
      workerData: { path: this.#path, identity: identityOf(statSync(this.#path)) },
    });
    this.#worker = worker;
    worker.on('message', ({ rows, error }: BackgroundAnswer) => {
      const answer = this.#waiting.shift();
      // An idle thread does not keep the process alive, but a stop waits for its exit.
      if (this.#waiting.length === 0 && !this.#isStopping) worker.unref();
      if (error) answer?.reject(errorOf(error));
      else answer?.resolve(rows);
    });
    let cause: unknown;
    worker.on('error', (error) => {
      cause = error;
    });
    worker.once('exit', () => {
      this.#worker = undefined;
      for (const { reject } of this.#waiting.splice(0))
        reject(new ScenepressError('storage_failed', 'The thread of the database ended.', { cause }));
    });
    return worker;
  }
}

function errorOf({ code, message }: NonNullable<BackgroundAnswer['error']>): Error {
  return code === undefined ? new Error(message) : new ScenepressError(code, message);
}
