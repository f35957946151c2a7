import Joi from 'joi';
import { COUNT, checked, type Schemas, TEXT } from '../../base/checked.ts';
import { jobOf } from '../../model/job.ts';
import type { FoundLabels, JobSearch, JobSearchResult } from '../../model/job-search.ts';
import { QUALITY_NAMES } from '../../model/qualities.ts';
import type { Clock } from '../../time/clock.ts';
import { wantedOf } from './job-index.ts';
import { type IndexedStorage, OwnerIndex } from './owner-index.ts';
import { UsedIndexes } from './used-indexes.ts';

/** Of all indexes together. */
const MOST_BYTES = 256 * 1024 * 1024;
/** How long a search waits while jobs are read for the first time. */
const WAIT_MS = 250;

const SCHEMA = Joi.object<JobSearch & { limit: number }>({
  owner: TEXT,
  text: Joi.string().allow('').max(1000),
  status: Joi.valid('queued', 'running', 'completed', 'failed'),
  canceled: Joi.boolean(),
  quality: Joi.valid(...QUALITY_NAMES),
  tag: TEXT,
  project: TEXT,
  starred: Joi.boolean(),
  sinceMs: Joi.number().integer(),
  untilMs: Joi.number().integer(),
  order: Joi.valid('newest', 'oldest'),
  limit: COUNT.default(50),
  cursor: TEXT,
} satisfies Schemas<JobSearch>);

interface Options {
  storage: IndexedStorage;
  clock: Clock;
  /** Of all indexes together. */
  mostBytes?: number;
}

/**
 * Searches jobs by indexes in memory, one per owner, and one of all. Nothing of them is on disk, where the texts of jobs are
 * encrypted each with a key of its own.
 */
export class JobSearches {
  readonly #storage: IndexedStorage;
  readonly #clock: Clock;
  /** By owner; undefined: of all. */
  readonly #indexes: UsedIndexes<string | undefined, OwnerIndex>;

  constructor({ storage, clock, mostBytes = MOST_BYTES }: Options) {
    this.#storage = storage;
    this.#clock = clock;
    const make = (owner: string | undefined) => new OwnerIndex({ storage, clock, owner, mostBytes });
    this.#indexes = new UsedIndexes({ clock, mostBytes, make });
  }

  /** Error: `invalid_request`. */
  async search(given: JobSearch): Promise<JobSearchResult> {
    const { limit, ...search } = checked('search', given, SCHEMA);
    const wanted = wantedOf(search);
    const index = this.#indexes.of(search.owner);
    const untilMs = this.#clock.uptimeMs() + WAIT_MS;
    await index.sync();
    for (;;) {
      // One more shows whether there is another page.
      const found = index.find({ ...wanted, limit: limit + 1 });
      const isEnough =
        search.order === 'oldest' ? index.isComplete : found.length > limit || index.isComplete;
      const isLate = search.order !== 'oldest' && this.#clock.uptimeMs() > untilMs;
      if (isEnough || isLate) {
        const records = await Promise.all(found.slice(0, limit).map((jobId) => this.#storage.getJob(jobId)));
        const jobs = records.flatMap((job) =>
          job === undefined || job.forgottenAtMs !== undefined ? [] : [jobOf(job)],
        );
        const last = found.length > limit ? found[limit - 1] : undefined;
        return { jobs, next: last ?? (isEnough ? null : (index.oldest ?? null)), isComplete: isEnough };
      }
      await index.more();
    }
  }

  /** The labels of an owner's jobs, as far as these have been read. */
  async labels(owner?: string): Promise<FoundLabels> {
    const index = this.#indexes.of(owner);
    await index.sync();
    return index.labels();
  }

  /** Forgets the words of a job. */
  forget(jobId: string): void {
    for (const index of this.#indexes) index.forget(jobId);
  }

  /** Drops the indexes with jobs of an owner. */
  forgetAll(owner: string): void {
    this.#indexes.drop(owner);
    this.#indexes.drop(undefined);
  }

  /** Drops all. */
  stop(): void {
    this.#indexes.dropAll();
  }
}
