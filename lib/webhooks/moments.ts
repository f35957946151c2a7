export interface Moment {
  atMs: number;
  id: string;
}

/** Moments to come, the earliest first: a binary heap. */
export class Moments {
  readonly #heap: Moment[] = [];

  get first(): Moment | undefined {
    return this.#heap[0];
  }

  push(moment: Moment): void {
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

  pop(): void {
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
