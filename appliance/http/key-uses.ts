import type { Logger } from '../../lib/index.ts';
import type { KeyUseStore } from '../../lib/internal.ts';

const WRITE_EVERY_MS = 60_000;

/** Notes when keys are used: in memory, because a write per request would cost more than the request. */
export class KeyUses {
  readonly #store: KeyUseStore;
  readonly #logger: Logger;
  #uses = new Map<string, number>();
  #timer: NodeJS.Timeout | undefined;

  constructor({ store, logger }: { store: KeyUseStore; logger: Logger }) {
    this.#store = store;
    this.#logger = logger;
  }

  note(keyId: string): void {
    this.#uses.set(keyId, Date.now());
  }

  start(): void {
    this.#timer = setInterval(() => void this.write(), WRITE_EVERY_MS).unref();
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.write();
  }

  /** Never rejects: uses that can't be stored now are stored later, or lost. */
  async write(): Promise<void> {
    const uses = this.#uses;
    if (uses.size === 0) return;
    this.#uses = new Map();
    try {
      await this.#store.noteKeyUses(Array.from(uses, ([keyId, usedAtMs]) => ({ keyId, usedAtMs })));
    } catch (err) {
      this.#logger.debug({ err }, 'the last use of keys could not be stored');
      this.#uses = new Map([...uses, ...this.#uses]);
    }
  }
}
