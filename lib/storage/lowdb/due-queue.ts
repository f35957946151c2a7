interface Moment {
  atMs: number;
  id: string;
}

/**
 * Who is due when, by host: a heap of moments to come, and for each host a line of those whose moment has come. Both
 * may hold moments that have been changed since; `dueAtOf` tells.
 */
export class DueQueue {
  readonly #dueAtOf: (id: string) => { host: string; dueAtMs: number | null } | undefined;
  readonly #heap: Moment[] = [];
  readonly #lines = new Map<string, Set<string>>();

  constructor(dueAtOf: (id: string) => { host: string; dueAtMs: number | null } | undefined) {
    this.#dueAtOf = dueAtOf;
  }

  set(id: string, host: string, dueAtMs: number | null): void {
    const line = this.#lines.get(host);
    if (line?.delete(id) && line.size === 0) this.#lines.delete(host);
    if (dueAtMs !== null) this.#push({ atMs: dueAtMs, id });
  }

  /** Ids that are due, hosts in turns. */
  take(query: {
    dueByMs: number;
    limit: number;
    limitPerHost: number;
    exceptHosts: ReadonlySet<string>;
  }): string[] {
    this.#ripen(query.dueByMs);
    const taken: string[] = [];
    const served: [string, Set<string>][] = [];
    for (const [host, line] of this.#lines) {
      if (taken.length >= query.limit) break;
      served.push([host, line]);
      if (query.exceptHosts.has(host)) continue;
      const room = Math.min(query.limitPerHost, query.limit - taken.length);
      taken.push(...line.values().take(room));
    }
    // To the end: the next call begins with others.
    for (const [host, line] of served) {
      this.#lines.delete(host);
      this.#lines.set(host, line);
    }
    return taken;
  }

  /** Puts those whose moment has come into line. */
  #ripen(dueByMs: number): void {
    for (let first = this.#heap[0]; first && first.atMs <= dueByMs; first = this.#heap[0]) {
      this.#pop();
      const now = this.#dueAtOf(first.id);
      if (now?.dueAtMs !== first.atMs) continue;
      const line = this.#lines.get(now.host) ?? new Set();
      this.#lines.set(now.host, line.add(first.id));
    }
  }

  #push(moment: Moment): void {
    const heap = this.#heap;
    let at = heap.length;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!isBefore(moment, heap[parent] as Moment)) break;
      heap[at] = heap[parent] as Moment;
      at = parent;
    }
    heap[at] = moment;
  }

  #pop(): void {
    const heap = this.#heap;
    const last = heap.pop();
    if (!last || heap.length === 0) return;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && isBefore(heap[child + 1] as Moment, heap[child] as Moment)) child += 1;
      if (!isBefore(heap[child] as Moment, last)) break;
      heap[at] = heap[child] as Moment;
      at = child;
    }
    heap[at] = last;
  }
}

/** Ids sort by time: of two that are due at once, the older goes first. */
function isBefore(a: Moment, b: Moment): boolean {
  return a.atMs < b.atMs || (a.atMs === b.atMs && a.id < b.id);
}
