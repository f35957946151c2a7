/** A place in a {@link LinkedList}. */
export interface Link<Value> {
  readonly value: Value;
  previous: Link<Value> | undefined;
  next: Link<Value> | undefined;
}

/**
 * Values in a row, of which any can be removed or moved to the end at the same cost, however many there are. (A `Map`
 * used as a queue skips the places of what was deleted from its front at each look.)
 */
export class LinkedList<Value> {
  #first: Link<Value> | undefined;
  #last: Link<Value> | undefined;
  #size = 0;

  get first(): Link<Value> | undefined {
    return this.#first;
  }

  get size(): number {
    return this.#size;
  }

  push(value: Value): Link<Value> {
    const link: Link<Value> = { value, previous: undefined, next: undefined };
    this.#append(link);
    return link;
  }

  /** Removes a link of this list. */
  remove(link: Link<Value>): void {
    const { previous, next } = link;
    if (previous) previous.next = next;
    else this.#first = next;
    if (next) next.previous = previous;
    else this.#last = previous;
    link.previous = undefined;
    link.next = undefined;
    this.#size -= 1;
  }

  moveToEnd(link: Link<Value>): void {
    this.remove(link);
    this.#append(link);
  }

  *[Symbol.iterator](): Generator<Value> {
    for (let link = this.#first; link; link = link.next) yield link.value;
  }

  #append(link: Link<Value>): void {
    link.previous = this.#last;
    if (this.#last) this.#last.next = link;
    else this.#first = link;
    this.#last = link;
    this.#size += 1;
  }
}
