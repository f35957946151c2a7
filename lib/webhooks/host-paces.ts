import type { HostPace } from './delivery-store.ts';

/** An exchange that takes longer makes its host a slow one. */
const SLOW_MS = 1_000;
const MOST_REMEMBERED = 10_000;

/**
 * Whether the hosts called lately were quick to answer, by owner. What is too much to remember is forgotten by the owner who has the
 * most, the host not called for longest first: so an owner with endless hosts makes the service forget only its own.
 */
export class HostPaces {
  readonly #most: number;
  /** Of each owner, the host not called for longest first. */
  readonly #byOwner = new Map<string, Map<string, HostPace>>();
  #size = 0;
  #changed: { owner: string; host: string }[] = [];

  constructor({ most = MOST_REMEMBERED }: { most?: number } = {}) {
    this.#most = most;
  }

  of(owner: string, host: string): HostPace {
    return this.#byOwner.get(owner)?.get(host) ?? 'new';
  }

  /** Notes how an exchange went; `answered`: it came to its end. One that failed at once proves nothing. */
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

  /** The hosts whose pace has changed since this was asked last. */
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
