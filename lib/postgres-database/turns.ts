/** The place of a transaction among those of its process. */
export interface Turn {
  /** Called when the server knows the transaction, or its first attempt has failed. */
  begun: () => void;
  /** Waits for the transactions that were called before. */
  othersBegun: () => Promise<unknown>;
}

/** The transactions of a process begin in turn. */
export class Turns {
  /** Transactions that the server may not know yet, by their number. */
  readonly #beginning = new Map<number, Promise<void>>();
  #last = 0;

  next(): Turn {
    this.#last += 1;
    const number = this.#last;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#beginning.set(number, promise);
    const begun = () => {
      this.#beginning.delete(number);
      resolve();
    };
    const othersBegun = () =>
      Promise.all([...this.#beginning].flatMap(([other, begun]) => (other < number ? begun : [])));
    return { begun, othersBegun };
  }
}
