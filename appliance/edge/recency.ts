/** An item of a {@link Recency}; it can be in only one at a time. */
export interface Linked<T> {
  previous: T | undefined;
  next: T | undefined;
}

/**
 * Items in insertion order. A linked list instead of a `Set`: connections change their list with every request, and
 * V8's old hash tables would keep closed connections reachable.
 */
export class Recency<T extends Linked<T>> {
  #first: T | undefined;
  #last: T | undefined;

  /** The oldest item. */
  get first(): T | undefined {
    return this.#first;
  }

  add(item: T): void {
    item.previous = this.#last;
    item.next = undefined;
    if (this.#last) this.#last.next = item;
    else this.#first = item;
    this.#last = item;
  }

  delete(item: T): void {
    if (item.previous) item.previous.next = item.next;
    else this.#first = item.next;
    if (item.next) item.next.previous = item.previous;
    else this.#last = item.previous;
    item.previous = undefined;
    item.next = undefined;
  }
}
