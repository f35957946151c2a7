import { EventEmitter, once } from 'node:events';
import { ScenepressError } from '../errors.ts';
import type { Job } from './job.ts';

/** Lets others wait for the end of jobs. */
export class JobEnds {
  /** Emits the id of a job that became terminal. */
  readonly #ends = new EventEmitter().setMaxListeners(0);
  /** Aborted when nobody tells of ends any more, and made anew. */
  #stopped = new AbortController();

  tell(jobId: string): void {
    this.#ends.emit(jobId);
  }

  /** Those that still wait give up, with `not_running`. */
  stop(): void {
    this.#stopped.abort();
    this.#stopped = new AbortController();
  }

  /** Resolves with a job when it is terminal; `look`: as it now is. */
  async wait(jobId: string, look: () => Promise<Job>, signal?: AbortSignal): Promise<Job> {
    const giveUp = new AbortController();
    const stopped = this.#stopped.signal;
    const signals = AbortSignal.any([giveUp.signal, stopped, ...(signal ? [signal] : [])]);
    const end = once(this.#ends, jobId, { signal: signals });
    end.catch(() => {});
    try {
      const job = await look();
      if (job.status === 'completed' || job.status === 'failed') return job;
      await end;
      return await look();
    } catch (error) {
      if (!stopped.aborted || signal?.aborted) throw error;
      const message =
        'The service stopped before the job was over. It goes on after the next start: wait for it then.';
      throw new ScenepressError('not_running', message, { cause: error });
    } finally {
      giveUp.abort();
    }
  }
}
