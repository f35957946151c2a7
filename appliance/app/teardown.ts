/** What was started and is to be stopped, last first. Node 22 has no `AsyncDisposableStack`. */
export class Teardown {
  #stops: (() => Promise<void> | void)[] = [];

  defer(stop: () => Promise<void> | void): void {
    this.#stops.push(stop);
  }

  /** Stops everything, also if a part fails to stop; then rejects with the first error. */
  async run(): Promise<void> {
    const stops = this.#stops.reverse();
    this.#stops = [];
    const errors: unknown[] = [];
    for (const stop of stops) {
      try {
        await stop();
      } catch (error) {
        errors.push(error);
      }
    }
    if (errors.length > 0) throw errors[0];
  }
}
