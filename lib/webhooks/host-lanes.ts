/** How many exchanges are under way at the same time. */
export interface LaneOptions {
  /** Exchanges at the same time. Default 256. */
  concurrency: number;
  /** To one host, while it answers quickly. Default 8. */
  concurrencyPerHost: number;
}

/** An exchange that takes longer makes its host a slow one. */
const SLOW_MS = 1_000;
const MOST_HOSTS_REMEMBERED = 10_000;

/**
 * Who may be called now. A host that answers quickly gets several exchanges at a time. One that is slow, or not known
 * yet, gets one; and all that are known to be slow together get half of all there are. So hosts that are dead or drip
 * their answers wait for each other, and for nobody else.
 */
export class HostLanes {
  readonly #options: LaneOptions;
  readonly #running = new Map<string, number>();
  /** The pace of hosts called lately, the longest not called first. */
  readonly #pace = new Map<string, 'quick' | 'slow'>();
  #total = 0;
  #slow = 0;

  constructor(options: LaneOptions) {
    this.#options = options;
  }

  get free(): number {
    return this.#options.concurrency - this.#total;
  }

  get perHost(): number {
    return this.#options.concurrencyPerHost;
  }

  /** Those that may not be called now. */
  full(): Set<string> {
    const full = new Set([...this.#running.keys()].filter((host) => !this.#hasRoom(host)));
    if (this.#slow < this.#mostSlow) return full;
    for (const [host, pace] of this.#pace) if (pace === 'slow') full.add(host);
    return full;
  }

  /** False when it may not be called now. Else it is counted, until the call of what is returned. */
  enter(host: string): ((tookMs: number | undefined) => void) | false {
    const isSlow = this.#pace.get(host) === 'slow';
    if (this.free <= 0 || !this.#hasRoom(host) || (isSlow && this.#slow >= this.#mostSlow)) return false;
    this.#running.set(host, (this.#running.get(host) ?? 0) + 1);
    this.#total += 1;
    if (isSlow) this.#slow += 1;
    return (tookMs) => {
      const left = (this.#running.get(host) ?? 1) - 1;
      if (left > 0) this.#running.set(host, left);
      else this.#running.delete(host);
      this.#total -= 1;
      if (isSlow) this.#slow -= 1;
      if (tookMs !== undefined) this.#remember(host, tookMs > SLOW_MS ? 'slow' : 'quick');
    };
  }

  get #mostSlow(): number {
    return Math.max(1, Math.floor(this.#options.concurrency / 2));
  }

  #hasRoom(host: string): boolean {
    const most = this.#pace.get(host) === 'quick' ? this.#options.concurrencyPerHost : 1;
    return (this.#running.get(host) ?? 0) < most;
  }

  #remember(host: string, pace: 'quick' | 'slow'): void {
    this.#pace.delete(host);
    this.#pace.set(host, pace);
    if (this.#pace.size <= MOST_HOSTS_REMEMBERED) return;
    for (const [longest] of this.#pace) {
      this.#pace.delete(longest);
      return;
    }
  }
}
