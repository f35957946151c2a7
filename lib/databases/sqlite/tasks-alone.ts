/** Tasks of which one with a name runs at a time. */
export class TasksAlone {
  readonly #running = new Set<string>();

  /** Resolves with undefined, without doing the work, while a task with the name runs. */
  async run<T>(task: string, work: () => Promise<T>): Promise<T | undefined> {
    if (this.#running.has(task)) return undefined;
    this.#running.add(task);
    try {
      return await work();
    } finally {
      this.#running.delete(task);
    }
  }
}
