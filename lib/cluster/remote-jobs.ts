import { EventEmitter } from 'node:events';
import type { Random } from '../base/random.ts';
import { randomId } from '../model/ids.ts';
import type { JobRecord, JobState } from '../model/job.ts';
import type { JobEvents } from '../model/job-events.ts';
import type { RenderProgress } from '../model/render-task.ts';
import type { ChangedJob, Signal, Signals } from '../storage/signals.ts';
import type { Storage } from '../storage/storage.ts';
import type { Clock, Timer } from '../time/clock.ts';

/** How long changes are batched before a notification: each notification takes a lock of the whole database. */
const GATHER_MS = 50;
const MOST_JOBS_PER_SIGNAL = 100;
/** How often followed jobs are read, because signals may get lost. */
const POLL_MS = 2_000;
/** How often subscriptions are renewed, and when they expire. */
const SAY_AGAIN_MS = 10_000;
const HEARD_MS = 30_000;
/** Minimum time between two signals of one kind about a watched job. */
const PROGRESS_MS = 500;
const PREVIEW_MS = 1_000;
const MOST_WATCHED = 10_000;

export interface RemoteJobsOptions {
  storage: Pick<Storage, 'isShared' | 'getJob' | 'jobStates'>;
  signals: Signals;
  /** Events of jobs that this process changes and renders. */
  events: JobEvents;
  /** Jobs that are followed or waited for in this process. */
  followed: () => Iterable<string>;
  /** The progress of a job that is rendered here. */
  progressHere: (jobId: string) => RenderProgress | undefined;
  clock: Clock;
  random: Random;
}

/**
 * Exchanges events of jobs between the processes of a service. Each process announces the jobs that it changed.
 * Progress and previews are sent only for jobs that another process watches: one that follows them, or was asked for
 * their progress within half a minute.
 *
 * Emits `change` for a followed job that another process changed, `progress` and `preview` for one that it renders, and
 * `changed` for each job that another process announces.
 */
export class RemoteJobs {
  readonly #options: RemoteJobsOptions;
  readonly #id: string;
  /** Like the events of jobs of this process. */
  readonly events: JobEvents = new EventEmitter();
  readonly changes: EventEmitter<{ changed: [job: ChangedJob] }> = new EventEmitter();
  #timers: Timer[] = [];
  #stopListening = () => {};
  /** Changes that have not been announced yet. */
  readonly #gathered = new Map<string, ChangedJob>();
  #gathering: Timer | undefined;
  #isLooking = false;
  /** Jobs whose progress is wanted here, with the `uptimeMs` at which that expires. */
  readonly #wanted = new Map<string, number>();
  /** When the subscription to a job was last sent. */
  readonly #said = new Map<string, number>();
  /** The last progress reported by other processes. */
  readonly #progress = new Map<string, { progress: RenderProgress; atMs: number }>();
  /** Jobs that other processes watch, with the expiry of their subscriptions. */
  readonly #watched = new Map<string, number>();
  /** When progress or a preview of a job was last sent. */
  readonly #sent = new Map<string, number>();
  /** The state of followed jobs as last seen. */
  readonly #seen = new Map<string, string>();

  constructor(options: RemoteJobsOptions) {
    this.#options = options;
    this.#id = randomId('process', options.random);
    const { events, storage } = options;
    if (!storage.isShared) return;
    events.on('change', (job) => this.#tellChange(job));
    events.on('progress', (jobId, progress) => this.#tellProgress(jobId, progress));
    events.on('preview', (jobId, jpeg) => this.#tellPreview(jobId, jpeg));
  }

  start(): void {
    const { clock, signals, storage } = this.#options;
    if (!storage.isShared) return;
    this.stop();
    this.#stopListening = signals.subscribe((signal) => this.#hear(signal));
    this.#timers = [clock.every(POLL_MS, () => this.#poll())];
  }

  stop(): void {
    for (const timer of this.#timers) timer.cancel();
    this.#timers = [];
    this.#stopListening();
    this.#stopListening = () => {};
    this.#gathering?.cancel();
    if (this.#gathering) this.#flush();
  }

  /** The last known progress of a job rendered elsewhere; subscribes to further reports. */
  progress(jobId: string): RenderProgress | undefined {
    if (!this.#options.storage.isShared) return undefined;
    const nowMs = this.#options.clock.uptimeMs();
    this.#wanted.set(jobId, nowMs + HEARD_MS);
    this.#say([jobId], nowMs);
    return this.#progress.get(jobId)?.progress;
  }

  /** Subscribes to the progress of a job that is followed here. */
  watch(jobId: string): void {
    if (this.#options.storage.isShared) this.#say([jobId], this.#options.clock.uptimeMs());
  }

  #tellChange({ jobId, owner, phase, attempts, failedBy, durationMs, completedAtMs }: JobRecord): void {
    this.#seen.set(jobId, stateOf({ phase, attempts }));
    if (phase !== 'running') {
      this.#watched.delete(jobId);
      this.#progress.delete(jobId);
    }
    this.#gathered.set(jobId, {
      jobId,
      owner,
      phase,
      attempts,
      durationMs,
      completedAtMs,
      ...(failedBy !== undefined && { failedBy }),
    });
    this.#gathering ??= this.#options.clock.after(GATHER_MS, () => this.#flush());
  }

  #flush(): void {
    this.#gathering = undefined;
    const jobs = [...this.#gathered.values()];
    this.#gathered.clear();
    for (let i = 0; i < jobs.length; i += MOST_JOBS_PER_SIGNAL)
      this.#publish({ kind: 'changed', from: this.#id, jobs: jobs.slice(i, i + MOST_JOBS_PER_SIGNAL) });
    this.#forgetUnfollowed();
  }

  #tellProgress(jobId: string, progress: RenderProgress): void {
    if (this.#isDue(jobId, 'progress', PROGRESS_MS))
      this.#publish({ kind: 'progress', from: this.#id, jobId, progress });
  }

  #tellPreview(jobId: string, jpeg: Buffer): void {
    if (this.#isDue(jobId, 'preview', PREVIEW_MS))
      this.#publish({ kind: 'preview', from: this.#id, jobId, jpeg: jpeg.toString('base64') });
  }

  /** Whether other processes watch the job, and another report is due. */
  #isDue(jobId: string, kind: string, pauseMs: number): boolean {
    const nowMs = this.#options.clock.uptimeMs();
    if ((this.#watched.get(jobId) ?? Number.NEGATIVE_INFINITY) < nowMs) return false;
    const key = `${kind} ${jobId}`;
    if (nowMs - (this.#sent.get(key) ?? Number.NEGATIVE_INFINITY) < pauseMs) return false;
    this.#sent.set(key, nowMs);
    return true;
  }

  #hear(signal: Signal): void {
    if (!('from' in signal) || signal.from === this.#id) return;
    const { events } = this;
    switch (signal.kind) {
      case 'changed':
        void this.#hearChanges(signal.jobs);
        return;
      case 'watched':
        this.#hearWatched(signal.jobIds);
        return;
      case 'progress':
        if (!this.#isWanted(signal.jobId)) return;
        this.#progress.set(signal.jobId, { progress: signal.progress, atMs: this.#options.clock.uptimeMs() });
        events.emit('progress', signal.jobId, signal.progress);
        return;
      case 'preview':
        if (this.#isWanted(signal.jobId))
          events.emit('preview', signal.jobId, Buffer.from(signal.jpeg, 'base64'));
    }
  }

  async #hearChanges(jobs: ChangedJob[]): Promise<void> {
    const followed = new Set(this.#options.followed());
    for (const job of jobs) {
      if (job.phase !== 'running') this.#progress.delete(job.jobId);
      this.changes.emit('changed', job);
      if (followed.has(job.jobId)) await this.#look(job.jobId);
    }
  }

  #hearWatched(jobIds: string[]): void {
    const nowMs = this.#options.clock.uptimeMs();
    for (const jobId of jobIds) {
      if (this.#watched.size < MOST_WATCHED) this.#watched.set(jobId, nowMs + HEARD_MS);
      const progress = this.#options.progressHere(jobId);
      if (progress) this.#tellProgress(jobId, progress);
    }
  }

  #isWanted(jobId: string): boolean {
    if ((this.#wanted.get(jobId) ?? 0) > this.#options.clock.uptimeMs()) return true;
    return [...this.#options.followed()].includes(jobId);
  }

  /** Announces watched jobs, each at most every 10 s. */
  #say(jobIds: string[], nowMs: number): void {
    const due = jobIds.filter(
      (jobId) =>
        !this.#options.progressHere(jobId) &&
        nowMs - (this.#said.get(jobId) ?? Number.NEGATIVE_INFINITY) >= SAY_AGAIN_MS,
    );
    for (const jobId of due) this.#said.set(jobId, nowMs);
    for (let i = 0; i < due.length; i += MOST_JOBS_PER_SIGNAL)
      this.#publish({ kind: 'watched', from: this.#id, jobIds: due.slice(i, i + MOST_JOBS_PER_SIGNAL) });
  }

  #poll(): void {
    const nowMs = this.#options.clock.uptimeMs();
    removeBefore(this.#wanted, nowMs);
    removeBefore(this.#watched, nowMs);
    removeBefore(this.#said, nowMs - SAY_AGAIN_MS);
    removeBefore(this.#sent, nowMs - PREVIEW_MS);
    for (const [jobId, { atMs }] of this.#progress) if (atMs < nowMs - HEARD_MS) this.#progress.delete(jobId);
    this.#forgetUnfollowed();
    const followed = [...new Set(this.#options.followed())];
    this.#say(followed, nowMs);
    void this.#lookAt(followed);
  }

  /**
   * Looks for changes of followed jobs together: most have none. One round at a time: while the database is away, a read
   * takes seconds. A failed one is repeated by the next poll.
   */
  async #lookAt(jobIds: string[]): Promise<void> {
    if (this.#isLooking || jobIds.length === 0) return;
    this.#isLooking = true;
    try {
      const states = await this.#options.storage.jobStates(jobIds);
      for (const state of states) if (this.#isNews(state)) await this.#look(state.jobId);
    } catch {
      // The database is away.
    } finally {
      this.#isLooking = false;
    }
  }

  /** Reads a followed job, and emits it if it is not as last seen. */
  async #look(jobId: string): Promise<void> {
    const job = await this.#options.storage.getJob(jobId).catch(() => undefined);
    if (!job || !this.#isNews(job)) return;
    this.#seen.set(jobId, stateOf(job));
    this.events.emit('change', job);
  }

  #isNews(job: JobState): boolean {
    return job.phase !== 'reserving' && this.#seen.get(job.jobId) !== stateOf(job);
  }

  #forgetUnfollowed(): void {
    const followed = new Set(this.#options.followed());
    for (const jobId of this.#seen.keys()) if (!followed.has(jobId)) this.#seen.delete(jobId);
  }

  #publish(signal: Signal): void {
    this.#options.signals.publish(signal);
  }
}

function stateOf({ phase, attempts }: Omit<JobState, 'jobId'>): string {
  return `${phase} ${attempts}`;
}

function removeBefore(times: Map<string, number>, ms: number): void {
  for (const [jobId, atMs] of times) if (atMs < ms) times.delete(jobId);
}
