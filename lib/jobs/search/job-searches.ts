import Joi from 'joi';
import { COUNT, checked, type Schemas, TEXT } from '../../base/checked.ts';
import { jobOf } from '../../model/job.ts';
import type { FoundLabels, JobSearch, JobSearchResult } from '../../model/job-search.ts';
import { QUALITY_NAMES } from '../../model/qualities.ts';
import type { Clock, Timer } from '../../time/clock.ts';
import { wantedOf } from './job-index.ts';
import { type IndexedStorage, OwnerIndex } from './owner-index.ts';

/** Of all indexes together. */
const MOST_BYTES = 256 * 1024 * 1024;
/** An index that was not used that long is dropped. */
const UNUSED_MS = 15 * 60_000;
const SWEEP_MS = 60_000;
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

interface Used {
  index: OwnerIndex;
  usedMs: number;
}

/**
 * Searches jobs by indexes in memory, one per owner, and one of all. Nothing of them is on disk, where the texts of jobs are
 * encrypted each with a key of its own.
 */
export class JobSearches {
  readonly #options: Options;
  /** In the order of use. */
  readonly #indexes = new Map<string | undefined, Used>();
  #sweep: Timer | undefined;

  constructor(options: Options) {
    this.#options = options;
  }

  /** Error: `invalid_request`. */
  async search(given: JobSearch): Promise<JobSearchResult> {
    const { limit, ...search } = checked('search', given, SCHEMA);
    const { clock, storage } = this.#options;
    const wanted = wantedOf(search);
    const index = this.#indexOf(search.owner);
    const untilMs = clock.uptimeMs() + WAIT_MS;
    await index.sync();
    for (;;) {
      // One more shows whether there is another page.
      const found = index.find({ ...wanted, limit: limit + 1 });
      const isEnough =
        search.order === 'oldest' ? index.isComplete : found.length > limit || index.isComplete;
      const isLate = search.order !== 'oldest' && clock.uptimeMs() > untilMs;
      if (isEnough || isLate) {
        const records = await Promise.all(found.slice(0, limit).map((jobId) => storage.getJob(jobId)));
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
    const index = this.#indexOf(owner);
    await index.sync();
    return index.labels();
  }

  /** Forgets the words of a job. */
  forget(jobId: string): void {
    for (const { index } of this.#indexes.values()) index.forget(jobId);
  }

  /** Drops the indexes with jobs of an owner. */
  forgetAll(owner: string): void {
    this.#drop(owner);
    this.#drop(undefined);
  }

  /** Drops all. */
  stop(): void {
    for (const owner of [...this.#indexes.keys()]) this.#drop(owner);
  }

  #indexOf(owner: string | undefined): OwnerIndex {
    const { storage, clock, mostBytes = MOST_BYTES } = this.#options;
    const index = this.#indexes.get(owner)?.index ?? new OwnerIndex({ storage, clock, owner, mostBytes });
    this.#indexes.delete(owner);
    this.#indexes.set(owner, { index, usedMs: clock.uptimeMs() });
    this.#sweep ??= clock.every(SWEEP_MS, () => this.#sweepUnused());
    this.#keepWithin(mostBytes);
    return index;
  }

  /** The least recently used are dropped first; the one in use stays. */
  #keepWithin(mostBytes: number): void {
    let bytes = [...this.#indexes.values()].reduce((sum, { index }) => sum + index.sizeBytes, 0);
    for (const [owner, { index }] of [...this.#indexes].slice(0, -1)) {
      if (bytes <= mostBytes) return;
      bytes -= index.sizeBytes;
      this.#drop(owner);
    }
  }

  #sweepUnused(): void {
    const now = this.#options.clock.uptimeMs();
    for (const [owner, { index, usedMs }] of [...this.#indexes]) {
      if (now - usedMs > UNUSED_MS) this.#drop(owner);
      else index.purge();
    }
  }

  #drop(owner: string | undefined): void {
    this.#indexes.get(owner)?.index.drop();
    this.#indexes.delete(owner);
    if (this.#indexes.size > 0) return;
    this.#sweep?.cancel();
    this.#sweep = undefined;
  }
}
