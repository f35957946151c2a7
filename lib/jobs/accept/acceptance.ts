import { InProgress } from '../../async/in-progress.ts';
import { ScenepressError } from '../../base/errors.ts';
import type { JobRecord } from '../../model/job.ts';
import type { JobEvents } from '../../model/job-events.ts';
import type { Transaction } from '../../storage/transaction.ts';
import type { Clock } from '../../time/clock.ts';
import { tracedAcceptance } from '../../tracing/job-spans.ts';
import type { Fairness } from '../fairness/fairness.ts';
import { type Admission, StuckError } from './admission.ts';
import type { NewJob } from './new-job.ts';
import type { StoredBytes } from './stored-bytes.ts';

/** What {@link Acceptance} needs besides. */
export interface AcceptanceOptions {
  admission: Pick<Admission, 'addAll'>;
  /** Whether jobs of an owner are accepted; undefined: those of all owners. */
  admitsOwner: ((owner: string, tx: Transaction) => Promise<boolean> | boolean) | undefined;
  fairness: Pick<Fairness, 'assertWithinBudget' | 'assertWithinRate'>;
  storedBytes: Pick<StoredBytes, 'problemOf' | 'added'>;
  /** Refuses jobs while the disk is full. */
  gate: { assertDiskNotFull(): void };
  events: JobEvents;
  clock: Clock;
  /** Called with the id of a job that could be neither added nor rolled back, which must be completed. */
  onStuck: (jobId: string) => void;
}

/** Accepts the jobs of owners who may add them, within their budgets and limits. */
export class Acceptance {
  readonly #options: AcceptanceOptions;
  readonly #inProgress = new InProgress();

  constructor(options: AcceptanceOptions) {
    this.#options = options;
  }

  /**
   * Accepts jobs of one owner, all or none; returns them, or those of earlier equal requests. Errors: those of {@link
   * Admission.addAll}, `owner_refused`, and those of exceeded budgets and limits.
   */
  acceptAll(newJobs: readonly NewJob[]): Promise<JobRecord[]> {
    const { clock } = this.#options;
    return this.#inProgress.add(tracedAcceptance(newJobs, clock, (traced) => this.#acceptNow(traced)));
  }

  /** Resolves when all requests in progress have been accepted or rejected. */
  settled(): Promise<void> {
    return this.#inProgress.settled();
  }

  async #acceptNow(newJobs: readonly NewJob[]): Promise<JobRecord[]> {
    const { admission, admitsOwner, fairness, storedBytes, gate, events, onStuck } = this.#options;
    const owner = newJobs[0]?.owner ?? '';
    const assertAdmitted = async (tx: Transaction) => {
      if (await admitsOwner?.(owner, tx)) return;
      throw ownerRefused();
    };
    let isCounted = false;
    const overLimit = await storedBytes.problemOf(owner);
    try {
      const added = await admission.addAll(newJobs, {
        ...(admitsOwner && { owner: assertAdmitted }),
        capacity: () => {
          gate.assertDiskNotFull();
          fairness.assertWithinBudget(owner);
          if (overLimit) throw overLimit;
          // Once, though the transaction may be repeated.
          if (!isCounted) fairness.assertWithinRate(owner, newJobs.length);
          isCounted = true;
        },
      });
      for (const [index, { job, repeated }] of added.entries()) {
        if (repeated) continue;
        storedBytes.added(job, newJobs[index]?.request.code ?? '');
        events.emit('change', job);
      }
      return added.map(({ job }) => job);
    } catch (error) {
      if (!(error instanceof StuckError)) throw error;
      for (const jobId of error.jobIds) onStuck(jobId);
      throw error.cause;
    }
  }
}

/** The error for an owner who may add nothing. */
export function ownerRefused(): ScenepressError {
  return new ScenepressError('owner_refused', 'Jobs of this owner are not accepted.');
}
