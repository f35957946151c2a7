import { EventEmitter, once } from 'node:events';
import { abortable } from '../../async/abortable.ts';
import { ScenepressError } from '../../base/errors.ts';
import type { Job } from '../../model/job.ts';

/** Lets callers wait for the end of jobs. */
export class JobEnds {
  /** Emits the id of a job that became terminal. */
  readonly #ends = new EventEmitter().setMaxListeners(0);
  /** Aborted, and replaced, on stop. */
  #stopped = new AbortController();

  /** The jobs that are waited for. */
  jobIds(): string[] {
    return this.#ends.eventNames().map(String);
  }

  notify(jobId: string): void {
    this.#ends.emit(jobId);
  }

  /** Rejects all waits with `not_running`. */
  stop(): void {
    this.#stopped.abort();
    this.#stopped = new AbortController();
  }

  /** Resolves with the job when it is terminal. `look` reads its current state. */
  async wait(jobId: string, look: () => Promise<Job>, signal?: AbortSignal): Promise<Job> {
    const giveUp = new AbortController();
    const stopped = this.#stopped.signal;
    const signals = AbortSignal.any([giveUp.signal, stopped, ...(signal ? [signal] : [])]);
    const end = once(this.#ends, jobId, { signal: signals });
    end.catch(() => {});
    try {
      const job = await abortable(look(), signals);
      if (job.status === 'completed' || job.status === 'failed') return job;
      await end;
      return await abortable(look(), signals);
    } catch (error) {
      signal?.throwIfAborted();
      if (!stopped.aborted) throw error;
      const message = 'The service stopped before the job ended. The job continues after the next start.';
      throw new ScenepressError('not_running', message, { cause: error });
    } finally {
      giveUp.abort();
    }
  }
}
