import { ScenepressError } from '../../base/errors.ts';
import type { Logger } from '../../base/logger.ts';
import type { JobRecord } from '../../model/job.ts';
import type { Storage } from '../../storage/storage.ts';
import type { Clock } from '../../time/clock.ts';

/** Use of a storage that other processes change is read again after this time. */
const FRESH_MS = 60_000;
/** An owner over the limit may have removed something. */
const READ_AGAIN_MS = 5_000;
/** Owners without new jobs are no longer kept in memory. */
const MOST_OWNERS = 1_000;
const GIB = 1024 ** 3;

interface Use {
  bytes: number;
  readAtMs: number;
}

/**
 * What the jobs of each owner take in the storage and the asset store. Read when an owner adds a job, then counted: it may
 * be too high until it is read again, and of an owner that is not yet known, jobs are accepted.
 */
export class StoredBytes {
  readonly #storage: Storage;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #most: number;
  /** The owner that was read last comes last. */
  readonly #uses = new Map<string, Use>();
  /** In progress. */
  readonly #reads = new Map<string, Promise<Use>>();

  /** `most`: the limit of an owner, in bytes; 0: none. */
  constructor({
    storage,
    clock,
    logger,
    most,
  }: {
    storage: Storage;
    clock: Clock;
    logger: Logger;
    most: number;
  }) {
    this.#storage = storage;
    this.#clock = clock;
    this.#logger = logger;
    this.#most = most;
  }

  /** The limit of an owner; null: none. */
  get most(): number | null {
    return this.#most > 0 && this.#storage.storedBytes ? this.#most : null;
  }

  /** What an owner's jobs take, at most a minute ago; null if the storage does not tell. */
  async of(owner: string): Promise<number | null> {
    if (!this.#storage.storedBytes) return null;
    const known = this.#uses.get(owner);
    const isFresh = known !== undefined && this.#clock.uptimeMs() - known.readAtMs <= FRESH_MS;
    return (isFresh ? known : await this.#read(owner)).bytes;
  }

  /** Why an owner may add no job: its jobs take as much as they may. Undefined: it may. */
  async problemOf(owner: string): Promise<ScenepressError | undefined> {
    if (this.most === null) return undefined;
    const known = this.#uses.get(owner);
    const ageMs = known ? this.#clock.uptimeMs() - known.readAtMs : Number.POSITIVE_INFINITY;
    if (known && known.bytes >= this.#most) {
      const { bytes } = ageMs > READ_AGAIN_MS ? await this.#read(owner) : known;
      return bytes < this.#most ? undefined : tooMuch(this.#most);
    }
    if (!known || (this.#storage.isShared && ageMs > FRESH_MS))
      this.#read(owner).catch((err: unknown) =>
        this.#logger.warn({ err }, 'Reading how much an owner has stored failed.'),
      );
    return undefined;
  }

  /** Counts a job that was added, with the length of its source. */
  added({ owner, metadataJson }: JobRecord, code: string): void {
    this.#add(owner, code.length + (metadataJson?.length ?? 0));
  }

  /** Counts the artifacts of a job that has ended here. */
  ended({ owner, artifacts }: JobRecord): void {
    this.#add(
      owner,
      artifacts.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0),
    );
  }

  #add(owner: string, bytes: number): void {
    const use = this.#uses.get(owner);
    if (use) use.bytes += bytes;
  }

  #read(owner: string): Promise<Use> {
    const reading = this.#reads.get(owner) ?? this.#readNow(owner).finally(() => this.#reads.delete(owner));
    this.#reads.set(owner, reading);
    return reading;
  }

  async #readNow(owner: string): Promise<Use> {
    return this.#keep(owner, (await this.#storage.storedBytes?.(owner)) ?? 0);
  }

  #keep(owner: string, bytes: number): Use {
    const use = { bytes, readAtMs: this.#clock.uptimeMs() };
    this.#uses.delete(owner);
    this.#uses.set(owner, use);
    const [oldest] = this.#uses.keys();
    if (this.#uses.size > MOST_OWNERS && oldest !== undefined) this.#uses.delete(oldest);
    return use;
  }
}

function tooMuch(most: number): ScenepressError {
  return new ScenepressError(
    'too_much_stored',
    `The videos, sources and metadata of this account take ${(most / GIB).toLocaleString('en')} GiB, which is the limit. ` +
      'Forget jobs that are no longer needed, then try again.',
  );
}
