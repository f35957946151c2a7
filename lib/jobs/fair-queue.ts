/** Jobs that wait for a worker: first in, first out within an owner; the owners take turns. */
export class FairQueue {
  /** In the order in which owners are served next: a Map keeps it, the one just served goes to the end. */
  readonly #byOwner = new Map<string, string[]>();
  #size = 0;

  get size(): number {
    return this.#size;
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

  /** The next job to render; undefined when none waits. */
  take(): string | undefined {
    const turn = this.#byOwner.entries().next();
    if (turn.done) return undefined;
    const [owner, waiting] = turn.value;
    const jobId = waiting.shift();
    this.#byOwner.delete(owner);
    if (waiting.length > 0) this.#byOwner.set(owner, waiting);
    this.#size -= 1;
    return jobId;
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
