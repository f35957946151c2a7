import type { Logger } from '../base/logger.ts';
import type { Storage } from '../storage/storage.ts';
import type { Clock, Timer } from '../time/clock.ts';

/** Lease of the leader, which must be renewed. */
const LEAD_MS = 12_000;
const RENEW_MS = LEAD_MS / 4;
/** Early enough that two processes do not lead at the same time, even if their requests take seconds. */
const GIVE_UP_AFTER_MS = (2 * LEAD_MS) / 3;

export interface LeadershipOptions {
  storage: Pick<Storage, 'lead'>;
  task: string;
  /** Identifies this process. */
  holder: string;
  /** Returns false while another process should lead. Default: always true. */
  mayLead?: () => boolean;
  clock: Clock;
  logger: Logger;
  /** Called when this process begins to lead. */
  onLead: () => void;
}

/** Whether this process leads an exclusive task. In a storage of one process it always does. */
export class Leadership {
  readonly #options: LeadershipOptions;
  #timer: Timer | undefined;
  #renewing: Promise<void> | undefined;
  /** The `uptimeMs` until which this process leads. */
  #untilMs = Number.NEGATIVE_INFINITY;

  constructor(options: LeadershipOptions) {
    this.#options = options;
  }

  get isLeader(): boolean {
    const { storage, clock } = this.#options;
    return !storage.lead || clock.uptimeMs() < this.#untilMs;
  }

  start(): void {
    const { storage, clock } = this.#options;
    if (!storage.lead) return;
    this.#timer = clock.every(RENEW_MS, () => this.#renew());
    this.#renew();
  }

  /** Lets another process lead immediately. */
  async stop(): Promise<void> {
    this.#timer?.cancel();
    await this.#renewing;
    if (this.#timer) await this.#resign();
    this.#timer = undefined;
  }

  async #resign(): Promise<void> {
    const { storage, task, holder } = this.#options;
    const led = this.isLeader;
    this.#untilMs = Number.NEGATIVE_INFINITY;
    // Otherwise it lapses.
    if (led) await storage.lead?.(task, holder, 0).catch(() => {});
  }

  #renew(): void {
    this.#renewing ??= this.#ask().finally(() => {
      this.#renewing = undefined;
    });
  }

  async #ask(): Promise<void> {
    const { storage, task, holder, mayLead, clock, logger, onLead } = this.#options;
    if (mayLead?.() === false) return this.#resign();
    const sinceMs = clock.uptimeMs();
    const wasLeader = this.isLeader;
    try {
      const leads = await storage.lead?.(task, holder, LEAD_MS);
      this.#untilMs = leads ? sinceMs + GIVE_UP_AFTER_MS : Number.NEGATIVE_INFINITY;
    } catch (error) {
      logger.warn({ err: error, task }, 'The database could not be asked which process carries out a task.');
    }
    if (!wasLeader && this.isLeader) onLead();
  }
}
