import { createHash } from 'node:crypto';

/** Records what happens in a simulation, and the first error. */
export class ClusterRecorder {
  readonly #history = createHash('sha256');
  readonly #uptimeMs: () => number;
  /** Without jobs and answers, which are many. */
  readonly log: string[] = [];
  #failure: Error | undefined;

  constructor(uptimeMs: () => number) {
    this.#uptimeMs = uptimeMs;
  }

  record(what: string, details: unknown): void {
    const line = `${what} ${JSON.stringify(details)}`;
    this.#history.update(`${this.#uptimeMs()} ${line}\n`);
    if (what !== 'job' && what !== 'answer' && what !== 'delivery')
      this.log.push(`${Math.round(this.#uptimeMs())} ${line}`);
  }

  /** An error of the check ends the simulation. */
  attempt(check: () => void): void {
    try {
      check();
    } catch (error) {
      this.#failure ??= error as Error;
    }
  }

  /** As {@link attempt}. */
  watch(something: Promise<unknown>): void {
    something.catch((error: Error) => {
      this.#failure ??= error;
    });
  }

  assertNoFailure(): void {
    if (this.#failure) throw this.#failure;
  }

  /** The hash of all that happened, and of the data at the end. Call it once. */
  hashWith(data: Buffer): string {
    return this.#history.update(data).digest('hex');
  }
}
