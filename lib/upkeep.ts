import cron, { type ScheduledTask } from 'node-cron';
import type { AssetStore } from './assets/asset-store.ts';
import { type RetentionOptions, retain } from './assets/retention.ts';
import type { Clock, Timer } from './clock.ts';
import type { JobBook } from './jobs/job-book.ts';
import { LEASE_MS } from './jobs/job-claims.ts';
import type { JobEvents } from './jobs/job-events.ts';
import type { Ledger } from './ledger/ledger.ts';
import type { Logger } from './logger.ts';
import { SteadyClock } from './steady-clock.ts';
import type { Storage } from './storage/storage.ts';

/** At a quiet hour, UTC. */
const NIGHTLY = '30 3 * * *';
const HOURLY = '17 * * * *';

export interface UpkeepOptions {
  storage: Storage;
  assets: AssetStore;
  ledger: Ledger;
  book: JobBook;
  retention: RetentionOptions;
  events: JobEvents;
  /** Of this process: it sees to its claims itself. */
  dispatcher: { readonly worker: string };
  clock: Clock;
  logger: Logger;
}

const SWEEP_MS = LEASE_MS / 3;

/**
 * What a service does beside rendering, after its start and then by the clock: audits the books, removes what is old, looks
 * for damage, puts back what dead workers of other processes left. Once at a time, of all processes.
 */
export class Upkeep {
  readonly #options: UpkeepOptions;
  readonly #logger: Logger;
  readonly #steady: SteadyClock;
  #tasks: ScheduledTask[] | undefined;
  #sweeps: Timer | undefined;
  #bookProblems: number | null = null;

  constructor(options: UpkeepOptions) {
    this.#options = options;
    this.#logger = options.logger;
    this.#steady = new SteadyClock(options.clock);
  }

  /** How many things the last audit found; null before the first, and where there are no books. */
  get bookProblems(): number | null {
    return this.#bookProblems;
  }

  start(): void {
    this.#tasks = [
      cron.schedule(NIGHTLY, () => this.nightly(), { timezone: 'UTC' }),
      cron.schedule(HOURLY, () => this.#alone('tidying', () => this.#tidy()), { timezone: 'UTC' }),
    ];
    if (this.#options.storage.isShared)
      this.#sweeps = this.#options.clock.every(
        SWEEP_MS,
        () => void this.#alone('sweep', () => this.#sweep()),
      );
    void this.#alone('audit', () => this.#audit());
    this.#steady.look();
  }

  /** Begins nothing more. What is under way then finds the stores closed, which is no fault. */
  async stop(): Promise<void> {
    const tasks = this.#tasks ?? [];
    this.#tasks = undefined;
    this.#sweeps?.cancel();
    for (const task of tasks) await task.destroy();
  }

  /** By the clock, once a day. */
  async nightly(): Promise<void> {
    await this.#alone('audit', () => this.#audit());
    await this.#alone('check', () => this.#check());
  }

  /** An index that lost an entry hides a job, and nothing that reads it would notice. */
  async #check(): Promise<void> {
    try {
      const problems = await this.#options.storage.check?.();
      if (!problems || problems.length === 0) return;
      this.#logger.error(
        { problems },
        'The storage is damaged. Stop the service, then run `scenepress recover`.',
      );
    } catch (error) {
      this.#report(error, 'The storage could not be checked.');
    }
  }

  async #alone(task: string, work: () => Promise<void>): Promise<void> {
    await this.#options.storage
      .alone(task, work)
      .catch((error: unknown) => this.#report(error, `The task ${task} could not be begun.`));
  }

  async #sweep(): Promise<void> {
    const { book, dispatcher, events } = this.#options;
    try {
      const again = await book.claims.putBackLapsed({ except: dispatcher.worker });
      if (again.length > 0) this.#logger.warn({ jobs: again.length }, 'Jobs of dead workers wait again.');
      for (const job of again) events.emit('change', job);
    } catch (error) {
      this.#report(error, 'Jobs of dead workers could not be put back.');
    }
  }

  async #audit(): Promise<void> {
    try {
      const report = await this.#options.ledger.audit?.();
      if (!report) return;
      this.#bookProblems = report.problems.length;
      if (report.problems.length === 0) this.#logger.info(report, 'The books are in order.');
      else this.#logger.error(report, 'The books are not in order.');
    } catch (error) {
      this.#report(error, 'The books could not be audited.');
    }
  }

  /** Removes artifacts that are too old or too many, and requests that can't be repeated any more. */
  async #tidy(): Promise<void> {
    if (!this.#steady.look()) return;
    const { book, retention } = this.#options;
    await book
      .forgetOldRequests()
      .catch((error: unknown) => this.#report(error, 'Old requests could not be forgotten.'));
    if (Object.values(retention).every((limit) => limit === Number.POSITIVE_INFINITY)) return;
    try {
      const jobs = await retain(this.#options, retention);
      if (jobs > 0) this.#logger.info({ jobs }, 'Artifacts of old jobs were removed.');
    } catch (error) {
      this.#report(error, 'Artifacts could not be removed.');
    }
  }

  #report(error: unknown, message: string): void {
    if (this.#tasks) this.#logger.error({ err: error }, message);
  }
}
