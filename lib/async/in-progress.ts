/** Promises in progress, which can be awaited together. */
export class InProgress {
  readonly #promises = new Set<Promise<unknown>>();

  get size(): number {
    return this.#promises.size;
  }

  /** Returns the promise. */
  add<T>(promise: Promise<T>): Promise<T> {
    this.#promises.add(promise);
    const done = () => this.#promises.delete(promise);
    promise.then(done, done);
    return promise;
  }

  /** Resolves when all that are in progress now have been fulfilled or rejected. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#promises);
  }

  /** Resolves when none is in progress any more, also of those that were added meanwhile. */
  async idle(): Promise<void> {
    while (this.size > 0) await this.settled();
  }
}
