import type { Logger } from '../../logger.ts';

export interface CheckpointsOptions {
  /** In bytes. */
  logSize: () => number;
  /** From what size of the log on one is due, in bytes. */
  afterBytes: number;
  /** Copies the log into the database and empties it, while commits go on. */
  checkpoint: () => Promise<void>;
  logger: Logger;
}

/** Makes checkpoints when they are due, one at a time. */
export class Checkpoints {
  readonly #options: CheckpointsOptions;
  #underWay: Promise<void> | undefined;
  /** The size of the log at which the next one is due: when the last one failed or the disk is full, not at once. */
  #atBytes: number;

  constructor(options: CheckpointsOptions) {
    this.#options = options;
    this.#atBytes = options.afterBytes;
  }

  /** Resolves when the one under way has ended, however it did; undefined: there is none. */
  get underWay(): Promise<void> | undefined {
    return this.#underWay;
  }

  beginIfDue(): void {
    const { logSize, afterBytes, checkpoint, logger } = this.#options;
    if (this.#underWay || logSize() < this.#atBytes) return;
    this.#atBytes = afterBytes;
    this.#underWay = checkpoint()
      .catch((error: unknown) => {
        this.putOff();
        logger.warn({ err: error }, 'The log of commits could not be emptied; it grows on.');
      })
      .finally(() => {
        this.#underWay = undefined;
      });
  }

  /** Until the log has grown by as much again. */
  putOff(): void {
    this.#atBytes = this.#options.logSize() + this.#options.afterBytes;
  }
}
