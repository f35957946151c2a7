import { once } from 'node:events';
import { type FSWatcher, watch } from 'node:fs';
import { basename } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

/** An editor writes a file in several steps. */
const SETTLED_MS = 150;

/** Notices saves of files in a folder from its construction on, including those between calls of {@link FolderWatch.nextSave}. */
export class FolderWatch {
  readonly #watcher: FSWatcher;
  readonly #saved = new Set<string>();

  constructor(folder: string) {
    this.#watcher = watch(folder, (_, name) => {
      if (name !== null && !name.startsWith('.') && name !== '__pycache__') this.#saved.add(name);
    });
  }

  /**
   * Resolves when a file was saved since the last call, except for the `own` ones. Rejects when `signal` is aborted, or
   * the folder can't be watched any longer.
   */
  async nextSave(own: string[], signal: AbortSignal): Promise<void> {
    const ignored = own.flatMap((path) => [basename(path), `${basename(path)}.part`]);
    for (;;) {
      for (const name of ignored) this.#saved.delete(name);
      if (this.#saved.size > 0) break;
      await once(this.#watcher, 'change', { signal });
    }
    while (this.#saved.size > 0) {
      this.#saved.clear();
      await delay(SETTLED_MS, undefined, { signal });
    }
  }

  close(): void {
    this.#watcher.close();
  }
}
