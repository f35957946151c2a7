/** Runs tasks one at a time, in the order of the calls. */
export class OneAtATime {
  #last: Promise<unknown> = Promise.resolve();

  /** Resolves when all tasks so far have ended. */
  get ended(): Promise<unknown> {
    return this.#last;
  }

  run<T>(task: () => Promise<T>): Promise<T> {
    const done = this.#last.then(task);
    this.#last = done.catch(() => {});
    return done;
  }
}
