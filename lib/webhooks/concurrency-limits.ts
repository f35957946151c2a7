import { type HostSpeed, HostSpeeds } from './host-speeds.ts';

/** Limits on concurrent exchanges. */
export interface ConcurrencyOptions {
  /** All owners together. */
  concurrency: number;
  /** Per owner and host, while the host answers quickly. */
  concurrencyPerHost: number;
  /** Per owner, for all hosts together that are not known to answer quickly. */
  concurrencyUnproven: number;
}

/** Permission for one exchange. */
export interface Slot {
  /** Gives it back; undefined when the exchange was not made, or was aborted by this side. */
  leave(exchange?: { tookMs: number; answered: boolean }): void;
}

interface Running {
  total: number;
  unproven: number;
  slow: number;
  byHost: Map<string, number>;
}

const NONE: Omit<Running, 'byHost'> = { total: 0, unproven: 0, slow: 0 };

/**
 * Concurrency control. Three limits keep an owner with dead or slow hosts from delaying others:
 *
 * - **An owner may start one more only while it has fewer running than are free**, and an eighth of all slots are for
 *   owners with nothing running. The more owners compete, the fewer slots each gets: one alone has 112 of 256, ten
 *   have 20 each, and a new owner finds a free slot until there are almost as many owners as slots. (In network
 *   switches this is called a dynamic threshold.)
 * - **Hosts of an owner that are not known to answer quickly share a few slots**, of which hosts known to be slow
 *   get at most half. A host counts as quick after any response within a second.
 * - **One host gets one exchange at a time, and several while it answers quickly.**
 *
 * A host is the host and port of a URL, per owner. More ports, subdomains or addresses get an owner more hosts but no
 * more slots, because the first two limits count all of them together; so no public suffix list and no grouping by
 * address is needed. Owners with the same host are counted apart, or one could block the other with URLs that never
 * answer.
 *
 * Speeds are known to this process only, and measured again after a restart. When a failed delivery is due again is
 * stored with it, so that no process calls a failing host earlier.
 */
export class ConcurrencyLimits {
  readonly #options: ConcurrencyOptions;
  readonly #speeds = new HostSpeeds();
  readonly #running = new Map<string, Running>();
  /** Slots reserved for owners with nothing running. */
  readonly #reserved: number;
  #total = 0;

  constructor(options: ConcurrencyOptions) {
    this.#options = options;
    this.#reserved = Math.floor(options.concurrency / 8);
  }

  get free(): number {
    return this.#options.concurrency - this.#total;
  }

  speedOf(owner: string, host: string): HostSpeed {
    return this.#speeds.of(owner, host);
  }

  /** False when no exchange of the owner with a host of this speed may start. */
  mayCall(owner: string, speed: HostSpeed): boolean {
    const { total, unproven, slow } = this.#running.get(owner) ?? NONE;
    if (total >= (total === 0 ? this.free : this.free - this.#reserved)) return false;
    if (speed === 'quick') return true;
    const most = this.#options.concurrencyUnproven;
    return unproven < most && (speed === 'new' || slow < Math.max(1, Math.floor(most / 2)));
  }

  /** Takes a slot for an exchange; undefined when none is free. */
  enter(owner: string, host: string): Slot | undefined {
    const speed = this.speedOf(owner, host);
    if (!this.mayCall(owner, speed)) return undefined;
    const running = this.#running.get(owner) ?? { ...NONE, byHost: new Map() };
    const toHost = running.byHost.get(host) ?? 0;
    if (toHost >= (speed === 'quick' ? this.#options.concurrencyPerHost : 1)) return undefined;
    this.#running.set(owner, running);
    running.byHost.set(host, toHost + 1);
    const count = (change: 1 | -1) => {
      this.#total += change;
      running.total += change;
      if (speed !== 'quick') running.unproven += change;
      if (speed === 'slow') running.slow += change;
    };
    count(1);
    return {
      leave: (exchange) => {
        count(-1);
        const left = (running.byHost.get(host) ?? 1) - 1;
        if (left > 0) running.byHost.set(host, left);
        else running.byHost.delete(host);
        if (running.total === 0) this.#running.delete(owner);
        if (exchange) this.#speeds.remember(owner, host, exchange);
      },
    };
  }
}
