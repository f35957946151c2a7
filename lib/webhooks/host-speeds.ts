/** How fast an owner's host responds; `new`: not called recently. */
export type HostSpeed = 'quick' | 'new' | 'slow';

/** A longer exchange makes its host slow. */
const SLOW_MS = 1_000;
const MOST_REMEMBERED = 10_000;

/**
 * Remembers, by owner, whether recently called hosts answered quickly. When full, evicts the least recently called
 * host of the owner with the most hosts, so an owner with endless hosts only evicts its own.
 */
export class HostSpeeds {
  readonly #most: number;
  /** Hosts of each owner, least recently called first. */
  readonly #byOwner = new Map<string, Map<string, HostSpeed>>();
  #size = 0;

  constructor({ most = MOST_REMEMBERED }: { most?: number } = {}) {
    this.#most = most;
  }

  of(owner: string, host: string): HostSpeed {
    return this.#byOwner.get(owner)?.get(host) ?? 'new';
  }

  /** Records an exchange; `answered`: it completed. A quick failure is ignored. */
  remember(owner: string, host: string, { tookMs, answered }: { tookMs: number; answered: boolean }): void {
    if (tookMs <= SLOW_MS && !answered) return;
    const hosts = this.#byOwner.get(owner) ?? new Map<string, HostSpeed>();
    this.#byOwner.set(owner, hosts);
    if (!hosts.delete(host)) this.#size += 1;
    hosts.set(host, tookMs > SLOW_MS ? 'slow' : 'quick');
    if (this.#size > this.#most) this.#forgetOne();
  }

  #forgetOne(): void {
    let [owner, most] = ['', 0];
    for (const [name, { size }] of this.#byOwner) if (size > most) [owner, most] = [name, size];
    const hosts = this.#byOwner.get(owner) as Map<string, HostSpeed>;
    for (const host of hosts.keys()) {
      hosts.delete(host);
      this.#size -= 1;
      if (hosts.size === 0) this.#byOwner.delete(owner);
      return;
    }
  }
}
