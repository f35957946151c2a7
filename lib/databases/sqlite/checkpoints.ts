import type { Logger } from '../../base/logger.ts';

export interface CheckpointsOptions {
  /** Bytes in use. */
  logSize: () => number;
  /** The log size at which a checkpoint is due, in bytes. */
  afterBytes: number;
  /** Copies the log into the database, while commits continue, so that its space is used again. */
  checkpoint: () => Promise<void>;
  logger: Logger;
}

/** Runs due checkpoints, one at a time. */
export class Checkpoints {
  readonly #options: CheckpointsOptions;
  #underWay: Promise<void> | undefined;
  /** The log size at which the next checkpoint is due; raised after a failure or when the disk is full. */
  #atBytes: number;

  constructor(options: CheckpointsOptions) {
    this.#options = options;
    this.#atBytes = options.afterBytes;
  }

  /** The running checkpoint, which never rejects; undefined when there is none. */
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
        logger.warn({ err: error }, 'The checkpoint failed; the write-ahead log keeps growing.');
      })
      .finally(() => {
        this.#underWay = undefined;
      });
  }

  /** Postpones the next checkpoint until the log has grown by `afterBytes`. */
  putOff(): void {
    this.#atBytes = this.#options.logSize() + this.#options.afterBytes;
  }
}
