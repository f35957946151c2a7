import type { Logger } from '../base/logger.ts';
import type { ShareStore } from '../storage/share-store.ts';
import type { Clock, Timer } from '../time/clock.ts';

const WRITE_AFTER_MS = 5_000;
/** Shares with views that are not stored yet. */
const MOST = 10_000;

/** Counts views in memory, because a write per view would let visitors load the disk, and stores them together. */
export class ShareViews {
  readonly #store: Pick<ShareStore, 'addViews'>;
  readonly #clock: Clock;
  readonly #logger: Logger;
  #views = new Map<string, number>();
  #timer: Timer | undefined;
  #writing: Promise<void> = Promise.resolve();

  constructor(parts: { store: Pick<ShareStore, 'addViews'>; clock: Clock; logger: Logger }) {
    this.#store = parts.store;
    this.#clock = parts.clock;
    this.#logger = parts.logger;
  }

  note(shareId: string): void {
    const views = this.#views.get(shareId);
    if (views === undefined && this.#views.size >= MOST) return;
    this.#views.set(shareId, (views ?? 0) + 1);
    this.#timer ??= this.#clock.after(WRITE_AFTER_MS, () => void this.write());
  }

  /** Never rejects: views that can't be stored are lost. */
  write(): Promise<void> {
    this.#timer?.cancel();
    this.#timer = undefined;
    const views = this.#views;
    if (views.size === 0) return this.#writing;
    this.#views = new Map();
    this.#writing = this.#writing
      .then(() => this.#store.addViews(views))
      .catch((err: unknown) => this.#logger.warn({ err }, 'Views of shared videos could not be stored.'));
    return this.#writing;
  }
}
