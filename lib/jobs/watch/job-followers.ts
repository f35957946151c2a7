import { abortable } from '../../async/abortable.ts';
import { ScenepressError } from '../../base/errors.ts';
import { isTerminal, type Job, jobOf } from '../../model/job.ts';
import type { JobEvents } from '../../model/job-events.ts';
import type { RenderProgress } from '../../model/render-task.ts';

/** An event of a job that is followed. */
export type JobEvent =
  /** The job as it is: first when following begins, then after each change of its status. */
  | { type: 'job'; job: Job }
  /** A running job advanced. */
  | { type: 'progress'; progress: RenderProgress }
  /** A small JPEG of the frame being drawn, if `previewIntervalMs` is set. */
  | { type: 'preview'; jpeg: Uint8Array };

/** Lets callers follow jobs event by event. @internal */
export class JobFollowers {
  readonly #followers = new Map<string, Set<Follower>>();
  /** Aborted, and replaced, on stop. */
  #stopped = new AbortController();

  /** Sources of events: jobs of this process, and of others. */
  constructor(...sources: JobEvents[]) {
    for (const events of sources) {
      events.on('change', (record) => {
        if (this.#followers.has(record.jobId)) this.#tell(record.jobId, { type: 'job', job: jobOf(record) });
      });
      events.on('progress', (jobId, progress) => this.#tell(jobId, { type: 'progress', progress }));
      events.on('preview', (jobId, jpeg) => this.#tell(jobId, { type: 'preview', jpeg }));
    }
  }

  /** The jobs that are followed. */
  jobIds(): Iterable<string> {
    return this.#followers.keys();
  }

  /** The number of jobs that are followed. */
  get size(): number {
    return this.#followers.size;
  }

  #tell(jobId: string, event: JobEvent): void {
    for (const follower of this.#followers.get(jobId) ?? []) follower.add(event);
  }

  /** Ends all iterations with `not_running`. */
  stop(): void {
    this.#stopped.abort(
      new ScenepressError(
        'not_running',
        'The service stopped before the job ended. The job continues after the next start.',
      ),
    );
    this.#stopped = new AbortController();
  }

  /** `look` reads the current state of the job. The iteration ends after the event of its end. */
  async *follow(
    jobId: string,
    look: () => Promise<Job>,
    signal?: AbortSignal,
  ): AsyncGenerator<JobEvent, void> {
    const ended = AbortSignal.any([this.#stopped.signal, ...(signal ? [signal] : [])]);
    const follower = new Follower();
    const remove = this.#add(jobId, follower);
    try {
      ended.throwIfAborted();
      // The record that was read may be older than an event that arrived meanwhile, or newer.
      let job: Job;
      do {
        follower.clear();
        job = await abortable(look(), ended);
      } while (follower.hasJobs);
      let event: JobEvent | undefined = { type: 'job', job };
      for (;;) {
        if (event) {
          yield event;
          if (event.type === 'job' && isTerminal(event.job.status)) return;
        } else {
          await follower.added(ended);
        }
        ended.throwIfAborted();
        event = follower.next();
      }
    } finally {
      remove();
    }
  }

  /** Returns a function that removes the follower. */
  #add(jobId: string, follower: Follower): () => void {
    const followers = this.#followers.get(jobId) ?? new Set();
    this.#followers.set(jobId, followers.add(follower));
    return () => {
      followers.delete(follower);
      if (followers.size === 0) this.#followers.delete(jobId);
    };
  }
}

/** Keeps the events that a slow consumer has not taken: changes of the status, the last progress and the last preview. */
class Follower {
  #jobs: JobEvent[] = [];
  #progress: JobEvent | undefined;
  #preview: JobEvent | undefined;
  #wake = () => {};

  get hasJobs(): boolean {
    return this.#jobs.length > 0;
  }

  add(event: JobEvent): void {
    if (event.type === 'job') {
      this.#jobs.push(event);
      // They belong to the previous attempt.
      this.#progress = undefined;
      this.#preview = undefined;
    } else if (event.type === 'progress') {
      this.#progress = event;
    } else {
      this.#preview = event;
    }
    this.#wake();
  }

  clear(): void {
    this.#jobs = [];
    this.#progress = undefined;
    this.#preview = undefined;
  }

  next(): JobEvent | undefined {
    const job = this.#jobs.shift();
    if (job) return job;
    const event = this.#progress ?? this.#preview;
    if (event === this.#progress) this.#progress = undefined;
    else this.#preview = undefined;
    return event;
  }

  /** Resolves when there is an event or `signal` is aborted. */
  async added(signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#wake = resolve;
    signal.addEventListener('abort', this.#wake);
    await promise;
    signal.removeEventListener('abort', this.#wake);
  }
}
