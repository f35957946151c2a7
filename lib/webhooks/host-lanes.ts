import assert from 'node:assert/strict';
import type { DueLanes, HostPace } from './delivery-store.ts';
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
 * - **An owner may begin one more only while it has less under way than is free**, and an eighth of all places are for
 *   owners who have nothing under way. So the more owners take all they can get, the less each of them gets: one alone
 *   has 112 of 256 places, ten have 20 each, and a newcomer finds a place whatever the others do, until there are
 *   almost as many of them as places. (In switches this is a dynamic threshold.)
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
  /** Of the free places, those for owners who have nothing under way. */
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

  /** The hosts whose pace has changed since this was asked last. */
  changed(): { owner: string; host: string }[] {
    return this.#paces.takeChanged();
  }

  /** False when no more of an owner's exchanges with hosts of this pace may begin. */
  mayCall(owner: string, pace: HostPace): boolean {
    const { total, unproven, slow } = this.#running.get(owner) ?? { total: 0, unproven: 0, slow: 0 };
    if (total >= (total === 0 ? this.free : this.free - this.#reserved)) return false;
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

/** Places that were taken for deliveries which are about to be claimed. */
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

  /** One of the places that were taken at this host, to be used. */
  take({ owner, host }: { owner: string; host: string }): Place {
    const place = this.#taken.get(JSON.stringify([owner, host]))?.pop();
    assert(place, 'a delivery is claimed where a place was taken');
    return place;
  }

  /** Gives the others back. */
  leave(): void {
    for (const places of this.#taken.values()) for (const place of places) place.leave(undefined);
    this.#taken.clear();
  }
}
