/** Runs work once for overlapping calls. */
export class SingleFlight {
  #flight: Promise<void> | undefined;

  /** Resolves or rejects with the work in progress; resolves at once without one. */
  get ended(): Promise<void> {
    return this.#flight ?? Promise.resolve();
  }

  get isInProgress(): boolean {
    return this.#flight !== undefined;
  }

  run(work: () => Promise<void>): Promise<void> {
    this.#flight ??= work().finally(() => {
      this.#flight = undefined;
    });
    return this.#flight;
  }
}
