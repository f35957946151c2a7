import type { HostPace } from './delivery-store.ts';
import { HostPaces } from './host-paces.ts';

/** How many exchanges are under way at the same time. */
export interface LaneOptions {
  /** Of all owners together. */
  concurrency: number;
  /** Of one owner's to one host, while it answers quickly. */
  concurrencyPerHost: number;
  /** Of one owner's to all hosts together that are not known to answer quickly. */
  concurrencyUnproven: number;
}

/** A place that an exchange has. */
export interface Place {
  /** Gives it back; undefined when the exchange wasn't made, or was cut off here. */
  leave(exchange: { tookMs: number; answered: boolean } | undefined): void;
}

interface Running {
  total: number;
  unproven: number;
  slow: number;
  byHost: Map<string, number>;
}

/**
 * Who may be called now. Three bounds keep an owner whose hosts are dead, or drip their answers, from delaying others:
 *
 * - **An owner may begin one more only while it has less under way than is free.** So one alone gets half of all
 *   places, ten that take all they can get leave an eleventh of them free, and a newcomer finds a place at once
 *   whatever the others do, as long as there are fewer owners than places. (In switches: a dynamic threshold.)
 * - **Hosts of an owner that are not known to answer quickly share a few places**, and half of these are the most that
 *   those known to be slow get. A host proves itself by answering within a second, whatever it answers.
 * - **One host gets one exchange at a time, and several while it answers quickly.**
 *
 * A host here is the host and port of a URL as one owner uses it. More ports, subdomains or addresses get an owner more
 * lanes but no more places, as the first two bounds count all of them together: it needs no list of registrable domains
 * and no look at addresses, which the owner of a domain can vary as well. Two owners who call the same host have lanes
 * of their own, or one could fill the other's with URLs of that host that never answer.
 */
export class HostLanes {
  readonly #options: LaneOptions;
  readonly #paces = new HostPaces();
  readonly #running = new Map<string, Running>();
  #total = 0;

  constructor(options: LaneOptions) {
    this.#options = options;
  }

  get free(): number {
    return this.#options.concurrency - this.#total;
  }

  paceOf(owner: string, host: string): HostPace {
    return this.#paces.of(owner, host);
  }

  /** The hosts whose pace has changed since this was asked last. */
  changed(): { owner: string; host: string }[] {
    return this.#paces.takeChanged();
  }

  /** False when no more of an owner's exchanges with hosts of this pace may begin. */
  mayCall(owner: string, pace: HostPace): boolean {
    const { total, unproven, slow } = this.#running.get(owner) ?? { total: 0, unproven: 0, slow: 0 };
    if (total >= this.free) return false;
    if (pace === 'quick') return true;
    const most = this.#options.concurrencyUnproven;
    return unproven < most && (pace === 'new' || slow < Math.max(1, Math.floor(most / 2)));
  }

  /** Undefined when it may not be called now. */
  enter(owner: string, host: string): Place | undefined {
    const pace = this.paceOf(owner, host);
    if (!this.mayCall(owner, pace)) return undefined;
    const running = this.#running.get(owner) ?? { total: 0, unproven: 0, slow: 0, byHost: new Map() };
    const toHost = running.byHost.get(host) ?? 0;
    if (toHost >= (pace === 'quick' ? this.#options.concurrencyPerHost : 1)) return undefined;
    this.#running.set(owner, running);
    running.byHost.set(host, toHost + 1);
    const count = (change: 1 | -1) => {
      this.#total += change;
      running.total += change;
      if (pace !== 'quick') running.unproven += change;
      if (pace === 'slow') running.slow += change;
    };
    count(1);
    return {
      leave: (exchange) => {
        count(-1);
        const left = (running.byHost.get(host) ?? 1) - 1;
        if (left > 0) running.byHost.set(host, left);
        else running.byHost.delete(host);
        if (running.total === 0) this.#running.delete(owner);
        if (exchange) this.#paces.remember(owner, host, exchange);
      },
    };
  }
}
