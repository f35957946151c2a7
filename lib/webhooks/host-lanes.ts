import assert from 'node:assert/strict';
import type { DueLanes, HostPace } from './delivery-store.ts';
import { HostPaces } from './host-paces.ts';

/** Limits on concurrent exchanges. */
export interface LaneOptions {
  /** All owners together. */
  concurrency: number;
  /** Per owner and host, while the host answers quickly. */
  concurrencyPerHost: number;
  /** Per owner, for all hosts together that are not known to answer quickly. */
  concurrencyUnproven: number;
}

/** The concurrency slot of an exchange. */
export interface Place {
  /** Releases the slot; undefined when the exchange was not made, or was aborted by this side. */
  leave(exchange: { tookMs: number; answered: boolean } | undefined): void;
}

interface Running {
  total: number;
  unproven: number;
  slow: number;
  byHost: Map<string, number>;
}

/**
 * Concurrency control. Three limits keep an owner with dead or slow hosts from delaying others:
 *
 * - **An owner may start one more only while it has fewer running than are free**, and an eighth of all places are for
 *   owners with nothing running. The more owners compete, the fewer places each gets: one alone has 112 of 256, ten
 *   have 20 each, and a new owner finds a free place until there are almost as many owners as places. (In network
 *   switches this is called a dynamic threshold.)
 * - **Hosts of an owner that are not known to answer quickly share a few places**, of which hosts known to be slow
 *   get at most half. A host counts as quick after any response within a second.
 * - **One host gets one exchange at a time, and several while it answers quickly.**
 *
 * A host is the host and port of a URL, per owner. More ports, subdomains or addresses get an owner more lanes but no
 * more places, because the first two limits count all of them together; so no public suffix list and no grouping by
 * address is needed. Owners with the same host have separate lanes, or one could block the other with URLs that never
 * answer.
 */
export class HostLanes {
  readonly #options: LaneOptions;
  readonly #paces = new HostPaces();
  readonly #running = new Map<string, Running>();
  /** Places reserved for owners with nothing running. */
  readonly #reserved: number;
  #total = 0;

  constructor(options: LaneOptions) {
    this.#options = options;
    this.#reserved = Math.floor(options.concurrency / 8);
  }

  get free(): number {
    return this.#options.concurrency - this.#total;
  }

  paceOf(owner: string, host: string): HostPace {
    return this.#paces.of(owner, host);
  }

  /** Hosts whose pace has changed since the last call. */
  changed(): { owner: string; host: string }[] {
    return this.#paces.takeChanged();
  }

  /** False when no exchange of the owner with a host of this pace may start. */
  mayCall(owner: string, pace: HostPace): boolean {
    const { total, unproven, slow } = this.#running.get(owner) ?? { total: 0, unproven: 0, slow: 0 };
    if (total >= (total === 0 ? this.free : this.free - this.#reserved)) return false;
    if (pace === 'quick') return true;
    const most = this.#options.concurrencyUnproven;
    return unproven < most && (pace === 'new' || slow < Math.max(1, Math.floor(most / 2)));
  }

  /** Reserves a place; undefined when none is free. */
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

/** Places reserved for deliveries that are about to be claimed. */
export class Places implements DueLanes {
  readonly #lanes: HostLanes;
  readonly #taken = new Map<string, Place[]>();

  constructor(lanes: HostLanes) {
    this.#lanes = lanes;
  }

  paceOf(owner: string, host: string): HostPace {
    return this.#lanes.paceOf(owner, host);
  }

  mayCall(owner: string, pace: HostPace): boolean {
    return this.#lanes.mayCall(owner, pace);
  }

  enter(owner: string, host: string): boolean {
    const place = this.#lanes.enter(owner, host);
    if (!place) return false;
    const line = JSON.stringify([owner, host]);
    this.#taken.set(line, [...(this.#taken.get(line) ?? []), place]);
    return true;
  }

  /** Returns a place that was reserved for this host. */
  take({ owner, host }: { owner: string; host: string }): Place {
    const place = this.#taken.get(JSON.stringify([owner, host]))?.pop();
    assert(place, 'a claimed delivery has a reserved place');
    return place;
  }

  /** Releases the unused places. */
  leave(): void {
    for (const places of this.#taken.values()) for (const place of places) place.leave(undefined);
    this.#taken.clear();
  }
}
