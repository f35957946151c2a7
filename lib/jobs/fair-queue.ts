/** Jobs that wait for a worker: first in, first out within an owner; the owners take turns. */
export class FairQueue {
  /** In the order in which owners are served next: a Map keeps it, the one just served goes to the end. */
  readonly #byOwner = new Map<string, string[]>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** How many owners have jobs that wait. */
  get owners(): number {
    return this.#byOwner.size;
  }

  /** The id of the job that was enqueued first; ids sort by time. */
  get oldest(): string | undefined {
    let oldest: string | undefined;
    for (const [first] of this.#byOwner.values()) {
      if (first !== undefined && (oldest === undefined || first < oldest)) oldest = first;
    }
    return oldest;
  }

  /** How many jobs of an owner wait. */
  sizeOf(owner: string): number {
    return this.#byOwner.get(owner)?.length ?? 0;
  }

  add(owner: string, jobId: string): void {
    const waiting = this.#byOwner.get(owner);
    if (waiting) waiting.push(jobId);
    else this.#byOwner.set(owner, [jobId]);
    this.#size += 1;
  }

  /** Puts a job that had its turn already before the owner's others, and the owner before the other owners. */
  addFirst(owner: string, jobId: string): void {
    const others = [...this.#byOwner];
    const waiting = [jobId, ...(this.#byOwner.get(owner) ?? [])];
    this.#byOwner.clear();
    this.#byOwner.set(owner, waiting);
    for (const [other, jobs] of others) if (other !== owner) this.#byOwner.set(other, jobs);
    this.#size += 1;
  }

  /** The next job to render, of owners whose turn it may be; undefined when none of theirs waits. */
  take(mayHaveTurn: (owner: string) => boolean = () => true): { owner: string; jobId: string } | undefined {
    for (const [owner, waiting] of this.#byOwner) {
      if (!mayHaveTurn(owner)) continue;
      const jobId = waiting.shift() as string;
      this.#byOwner.delete(owner);
      if (waiting.length > 0) this.#byOwner.set(owner, waiting);
      this.#size -= 1;
      return { owner, jobId };
    }
    return undefined;
  }

  /** Takes a job out; false when it isn't waiting. */
  remove(owner: string, jobId: string): boolean {
    const waiting = this.#byOwner.get(owner);
    const at = waiting?.indexOf(jobId) ?? -1;
    if (!waiting || at < 0) return false;
    waiting.splice(at, 1);
    if (waiting.length === 0) this.#byOwner.delete(owner);
    this.#size -= 1;
    return true;
  }
}
