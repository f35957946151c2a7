import type { HostPace } from './delivery-store.ts';

/** A longer exchange makes its host slow. */
const SLOW_MS = 1_000;
const MOST_REMEMBERED = 10_000;

/**
 * Remembers, by owner, whether recently called hosts answered quickly. When full, evicts the least recently called
 * host of the owner with the most hosts, so an owner with endless hosts only evicts its own.
 */
export class HostPaces {
  readonly #most: number;
  /** Hosts of each owner, least recently called first. */
  readonly #byOwner = new Map<string, Map<string, HostPace>>();
  #size = 0;
  #changed: { owner: string; host: string }[] = [];

  constructor({ most = MOST_REMEMBERED }: { most?: number } = {}) {
    this.#most = most;
  }

  of(owner: string, host: string): HostPace {
    return this.#byOwner.get(owner)?.get(host) ?? 'new';
  }

  /** Records an exchange; `answered`: it completed. A quick failure is ignored. */
  remember(owner: string, host: string, { tookMs, answered }: { tookMs: number; answered: boolean }): void {
    if (tookMs <= SLOW_MS && !answered) return;
    const pace = tookMs > SLOW_MS ? 'slow' : 'quick';
    const hosts = this.#byOwner.get(owner) ?? new Map<string, HostPace>();
    this.#byOwner.set(owner, hosts);
    if (hosts.get(host) !== pace) this.#changed.push({ owner, host });
    if (!hosts.delete(host)) this.#size += 1;
    hosts.set(host, pace);
    if (this.#size > this.#most) this.#forgetOne();
  }

  /** Hosts whose pace has changed since the last call. */
  takeChanged(): { owner: string; host: string }[] {
    const changed = this.#changed;
    this.#changed = [];
    return changed;
  }

  #forgetOne(): void {
    let [owner, most] = ['', 0];
    for (const [name, { size }] of this.#byOwner) if (size > most) [owner, most] = [name, size];
    const hosts = this.#byOwner.get(owner) as Map<string, HostPace>;
    for (const host of hosts.keys()) {
      hosts.delete(host);
      this.#size -= 1;
      this.#changed.push({ owner, host });
      if (hosts.size === 0) this.#byOwner.delete(owner);
      return;
    }
  }
}
