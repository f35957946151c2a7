import type { AssetStore } from '../assets/asset-store.ts';
import { type RetentionOptions, retain } from '../assets/retention.ts';
import type { Logger } from '../base/logger.ts';
import type { Random } from '../base/random.ts';
import { ClaimedAssets } from '../cluster/claimed-assets.ts';
import type { Admission } from '../jobs/accept/admission.ts';
import type { Discards } from '../jobs/end/discards.ts';
import type { JobEnding } from '../jobs/end/job-ending.ts';
import { type JobClaims, LEASE_MS } from '../jobs/run/job-claims.ts';
import type { Snapshots } from '../jobs/snapshots/snapshots.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { randomId } from '../model/ids.ts';
import type { JobEvents } from '../model/job-events.ts';
import type { FileRemoval } from '../owner-files/file-removal.ts';
import type { Storage } from '../storage/storage.ts';
import type { Clock, Timer } from '../time/clock.ts';
import { schedule } from '../time/schedule.ts';
import { SteadyClock } from '../time/steady-clock.ts';

/** UTC. */
const NIGHTLY = '30 3 * * *';
const HOURLY = '17 * * * *';

export interface UpkeepOptions {
  storage: Storage;
  assets: AssetStore;
  ledger: Ledger;
  admission: Pick<Admission, 'forgetOldRequests'>;
  claims: Pick<JobClaims, 'putBackLapsed'>;
  ending: Pick<JobEnding, 'resumeAbandoned'>;
  retention: RetentionOptions;
  discards: Discards;
  snapshots: Pick<Snapshots, 'recover'>;
  fileRemoval: Pick<FileRemoval, 'recover'>;
  events: JobEvents;
  /** The dispatcher of this process, which manages its own claims. */
  dispatcher: { readonly runningIds: readonly string[] };
  clock: Clock;
  random: Random;
  logger: Logger;
}

const SWEEP_MS = LEASE_MS / 6;
const RESUME_MS = 10_000;
const SNAPSHOTS_MS = 5 * 60_000;
const FILES_MS = 5 * 60_000;
/** In which a task runs once: longer than clocks differ, and shorter than its period. */
const ONCE_A_NIGHT_MS = 12 * 3_600_000;
const ONCE_AN_HOUR_MS = 30 * 60_000;

/**
 * The maintenance tasks, run at start and on a schedule: audits the ledger, removes old artifacts and requests, and
 * forgotten texts from the disk, checks the storage, renews the claim to the artifact store, requeues, rolls back or
 * settles jobs of dead processes. Of the processes that share a storage, one carries out a task of the schedule, and one
 * audits at the start of several; each process with the role `upkeep` requeues jobs.
 */
export class Upkeep {
  readonly #options: UpkeepOptions;
  readonly #logger: Logger;
  readonly #steady: SteadyClock;
  #tasks: Timer[] | undefined;
  #sweeps: Timer[] = [];
  #isSweeping = false;
  #bookProblems: number | null = null;

  constructor(options: UpkeepOptions) {
    this.#options = options;
    this.#logger = options.logger;
    this.#steady = new SteadyClock(options.clock);
  }

  /**
   * Problems found by the last audit, also of another process; null before the first audit and without a ledger.
   */
  get bookProblems(): number | null {
    return this.#bookProblems;
  }

  start(): void {
    const { clock } = this.#options;
    this.#tasks = [
      schedule(clock, NIGHTLY, () => void this.nightly()),
      schedule(clock, HOURLY, () => void this.#hourly()),
    ];
    if (this.#options.storage.isShared) {
      this.#sweeps = [
        // Runs in each process: one that hangs in the middle of an exclusive task blocks it for the others.
        clock.every(SWEEP_MS, () => void this.#sweep()),
        clock.every(
          RESUME_MS,
          () => void this.#alone('abandoned transitions', () => this.#resumeAbandoned()),
        ),
      ];
    }
    this.#sweeps.push(
      clock.every(SNAPSHOTS_MS, () => void this.#alone('snapshots', () => this.#removeSnapshots())),
      clock.every(FILES_MS, () => void this.#alone('files', () => this.#removeFiles())),
    );
    void this.#once('audit', ONCE_AN_HOUR_MS, () => this.#audit(), this.#auditedElsewhere);
    this.#steady.look();
  }

  /** Starts no more tasks. Errors of tasks in progress, caused by the closing stores, are not logged. */
  async stop(): Promise<void> {
    const tasks = [...(this.#tasks ?? []), ...this.#sweeps.splice(0)];
    this.#tasks = undefined;
    for (const task of tasks) task.cancel();
  }

  async #hourly(): Promise<void> {
    await this.#once('tidying', ONCE_AN_HOUR_MS, () => this.#tidy());
    await this.#alone('purge', () => this.#purge());
    await this.#once('claim', ONCE_AN_HOUR_MS, () => this.#renewClaim());
  }

  /** Runs once a day. */
  async nightly(): Promise<void> {
    await this.#once('nightly audit', ONCE_A_NIGHT_MS, () => this.#audit(), this.#auditedElsewhere);
    await this.#once('check', ONCE_A_NIGHT_MS, () => this.#check());
  }

  /** Finds damage that queries do not notice, such as a missing index entry, which hides a job. */
  async #check(): Promise<boolean> {
    try {
      const problems = await this.#options.storage.check?.();
      if (!problems || problems.length === 0) return true;
      this.#logger.error(
        { problems },
        'The storage is damaged. Stop the service, then run `scenepress recover`.',
      );
    } catch (error) {
      this.#report(error, 'The storage could not be checked.');
    }
    return false;
  }

  async #alone(task: string, work: () => Promise<void>): Promise<void> {
    await this.#options.storage
      .alone(task, work)
      .catch((error: unknown) =>
        this.#report(
          error,
          `The database could not be asked whether another process carries out the task: ${task}.`,
        ),
      );
  }

  /**
   * Runs a task unless a process of the storage has done so within that time. `work` resolves with false when the next
   * process should do it, too: what it found is to be known there, or it failed. `elsewhere` runs instead if another
   * process has done it or is doing it.
   */
  #once(
    task: string,
    withinMs: number,
    work: () => Promise<boolean>,
    elsewhere: () => void = () => {},
  ): Promise<void> {
    const { storage, random } = this.#options;
    return this.#alone(task, async () => {
      const run = storage.lead ? randomId('upkeep', random) : '';
      if ((await storage.lead?.(task, run, withinMs)) === false) return elsewhere();
      if (!(await work())) await storage.lead?.(task, run, 0);
    });
  }

  async #sweep(): Promise<void> {
    const { claims, dispatcher, events } = this.#options;
    if (this.#isSweeping) return;
    this.#isSweeping = true;
    try {
      const again = await claims.putBackLapsed({ except: dispatcher.runningIds });
      if (again.length > 0) this.#logger.warn({ jobs: again.length }, 'Requeued jobs of dead workers.');
      for (const job of again) events.emit('change', job);
    } catch (error) {
      this.#report(error, 'Requeueing jobs of dead workers failed.');
    } finally {
      this.#isSweeping = false;
    }
  }

  async #removeSnapshots(): Promise<void> {
    try {
      const { left } = await this.#options.snapshots.recover();
      if (left > 0) this.#logger.warn({ snapshots: left }, 'Completed snapshots of dead processes.');
    } catch (error) {
      this.#report(error, 'Removing old snapshots failed.');
    }
  }

  async #removeFiles(): Promise<void> {
    await this.#options.fileRemoval
      .recover()
      .catch((error: unknown) => this.#report(error, 'Discarding removed files failed.'));
  }

  async #resumeAbandoned(): Promise<void> {
    const { ending, discards, events } = this.#options;
    const failed = 'Completing transitions of dead processes failed.';
    try {
      const { withdrawn, ended, errors } = await ending.resumeAbandoned();
      if (withdrawn > 0)
        this.#logger.warn(
          { jobs: withdrawn },
          'Rolled back jobs whose process died while it reserved credits.',
        );
      if (ended.length > 0)
        this.#logger.warn({ jobs: ended.length }, 'Settled jobs whose process died before it could.');
      for (const { job, orphans } of ended) {
        discards.add(orphans);
        events.emit('change', job);
      }
      if (errors.length > 0) this.#report(errors[0], failed);
    } catch (error) {
      this.#report(error, failed);
    }
  }

  /** An audit that finds problems does not count as one for other processes. */
  readonly #auditedElsewhere = (): void => {
    this.#bookProblems = 0;
  };

  async #audit(): Promise<boolean> {
    try {
      const report = await this.#options.ledger.audit?.();
      if (!report) return true;
      this.#bookProblems = report.problems.length;
      if (report.problems.length === 0) this.#logger.info(report, 'The books are in order.');
      else this.#logger.error(report, 'The books are not in order.');
      return this.#bookProblems === 0;
    } catch (error) {
      this.#report(error, 'The books could not be audited.');
      return false;
    }
  }

  /** Removes artifacts beyond the retention limits, and idempotency keys that have expired. */
  async #tidy(): Promise<boolean> {
    if (!this.#steady.look()) return false;
    const { admission, retention } = this.#options;
    await admission
      .forgetOldRequests()
      .catch((error: unknown) => this.#report(error, 'Removing expired idempotency keys failed.'));
    if (Object.values(retention).every((limit) => limit === Number.POSITIVE_INFINITY)) return true;
    try {
      const jobs = await retain(this.#options, retention);
      if (jobs > 0) this.#logger.info({ jobs }, 'Removed artifacts of old jobs.');
      return true;
    } catch (error) {
      this.#report(error, 'Removing old artifacts failed.');
      return false;
    }
  }

  async #renewClaim(): Promise<boolean> {
    const { assets } = this.#options;
    if (!(assets instanceof ClaimedAssets)) return true;
    try {
      await assets.renew();
      return true;
    } catch (error) {
      this.#report(error, 'The claim to the artifact store could not be renewed.');
      return false;
    }
  }

  async #purge(): Promise<void> {
    try {
      await this.#options.storage.purgeDue?.();
    } catch (error) {
      const message =
        'Forgotten texts could not be removed from the files of the database; trying again in an hour.';
      this.#report(error, message);
    }
  }

  #report(error: unknown, message: string): void {
    if (this.#tasks) this.#logger.error({ err: error }, message);
  }
}
