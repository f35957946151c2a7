import type { Page } from '../base/pages.ts';
import type { DeliveryRecord } from '../storage/delivery.ts';
import type { DeliveryStore, DuePeriod } from '../storage/delivery-store.ts';
import type { ConcurrencyLimits, Slot } from './concurrency-limits.ts';

/** Identifies a delivery and its receiver. */
export type Addressed = Pick<DeliveryRecord, 'deliveryId' | 'owner' | 'host'>;

/** Owners whose hosts are read together. */
const OWNERS = 32;
/** How often that many are read for one choice, when none of them may send. */
const MOST_READS = 16;
/** Hosts of an owner that are looked at for one choice. */
const HOSTS = 128;
/** Owners of whom is remembered which host was called last. */
const MOST_REMEMBERED = 10_000;

/** A due delivery that may be sent, and the slot taken for it. */
export interface Chosen extends Addressed {
  slot: Slot;
}

/** A host with due deliveries, and the slots taken for them. */
interface DueHost {
  owner: string;
  host: string;
  slots: Slot[];
}

/**
 * Chooses which due deliveries are sent next, as far as the limits allow: owners take turns, and so do the hosts of an
 * owner; within a host, the longest due goes first. The cost does not grow with the number of due deliveries. Of an
 * owner with more than 128 hosts, the next 128 are looked at for each choice.
 */
export class SendOrder {
  readonly #store: DeliveryStore;
  readonly #limits: ConcurrencyLimits;
  /** Turns go by name, from the owner and the host that had the last one. */
  #lastOwner = '';
  readonly #lastHosts = new Map<string, string>();

  constructor(store: DeliveryStore, limits: ConcurrencyLimits) {
    this.#store = store;
    this.#limits = limits;
  }

  /** At most `most` due deliveries, without the `excluded`. The caller gives back their slots. */
  async choose(period: DuePeriod, most: number, excluded: readonly Addressed[]): Promise<Chosen[]> {
    for (let reads = 0; reads < MOST_READS; reads += 1) {
      const owners = await around(
        this.#lastOwner,
        OWNERS,
        (page) => this.#store.listUnfinishedOwners(page),
        (owner) => owner,
      );
      const hosts = await Promise.all(owners.map((owner) => this.#dueHostsOf(owner, period)));
      const chosen = await this.#withIds(this.#takeSlots(owners, hosts, most), period, excluded);
      if (chosen.length > 0 || owners.length < OWNERS) return chosen;
    }
    return [];
  }

  async #dueHostsOf(owner: string, { nowMs, latestDueMs }: DuePeriod): Promise<DueHost[]> {
    if (!this.#limits.mayCall(owner, 'quick')) return [];
    const hosts = await around(
      this.#lastHosts.get(owner) ?? '',
      HOSTS,
      (page) => this.#store.listUnfinishedHosts(owner, page),
      ({ host }) => host,
    );
    const last = hosts.at(-1);
    if (last && hosts.length === HOSTS) this.#remember(owner, last.host);
    return hosts
      .filter(({ firstDueMs }) => firstDueMs <= nowMs || firstDueMs > latestDueMs)
      .map(({ host }) => ({ owner, host, slots: [] }));
  }

  /** Goes round the owners, each time with one slot for one of its hosts. Returns the hosts with slots. */
  #takeSlots(owners: string[], hosts: DueHost[][], most: number): Set<DueHost> {
    const served = new Set<DueHost>();
    this.#lastOwner = owners.at(-1) ?? '';
    let taken = 0;
    for (let turns = hosts; turns.length > 0; turns = turns.filter(({ length }) => length > 0)) {
      for (const hostsOfOwner of turns) {
        const next = this.#takeSlot(hostsOfOwner);
        if (!next) continue;
        served.add(next);
        taken += 1;
        if (taken < most) continue;
        this.#lastOwner = next.owner;
        return served;
      }
    }
    return served;
  }

  /** Takes a slot for the first host that has one free, and puts it last. Removes those before it. */
  #takeSlot(hosts: DueHost[]): DueHost | undefined {
    for (let next = hosts.shift(); next; next = hosts.shift()) {
      const slot = this.#limits.enter(next.owner, next.host);
      if (!slot) continue;
      next.slots.push(slot);
      hosts.push(next);
      this.#remember(next.owner, next.host);
      return next;
    }
    return undefined;
  }

  async #withIds(hosts: Set<DueHost>, period: DuePeriod, excluded: readonly Addressed[]): Promise<Chosen[]> {
    const unused = new Set([...hosts].flatMap(({ slots }) => slots));
    try {
      const chosen = await Promise.all(
        [...hosts].map(async ({ owner, host, slots }) => {
          const others = excluded.filter((delivery) => delivery.owner === owner && delivery.host === host);
          const not = new Set(others.map(({ deliveryId }) => deliveryId));
          const limit = slots.length + not.size;
          const ids = await this.#store.listDue({ owner, host, ...period, limit });
          return ids
            .filter((id) => !not.has(id))
            .slice(0, slots.length)
            .map((deliveryId, i) => ({ deliveryId, owner, host, slot: slots[i] as Slot }));
        }),
      );
      for (const { slot } of chosen.flat()) unused.delete(slot);
      return chosen.flat();
    } finally {
      for (const slot of unused) slot.leave();
    }
  }

  #remember(owner: string, host: string): void {
    if (this.#lastHosts.size >= MOST_REMEMBERED) this.#lastHosts.clear();
    this.#lastHosts.set(owner, host);
  }
}

/** The next `limit` rows of a list that is sorted by name: those after a name, then those from the start up to it. */
async function around<Row>(
  after: string,
  limit: number,
  list: (page: Page) => Promise<Row[]>,
  nameOf: (row: Row) => string,
): Promise<Row[]> {
  const rows = await list({ after, limit });
  if (after === '' || rows.length === limit) return rows;
  const first = await list({ limit: limit - rows.length });
  return rows.concat(first.filter((row) => nameOf(row) <= after));
}
