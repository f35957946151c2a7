import { watch } from 'node:fs';
import { basename } from 'node:path';

/** An editor writes a file in several steps. */
const SETTLED_MS = 150;

/** Resolves when a file in a folder was saved, except for the `own` ones. Rejects when `signal` is aborted. */
export function nextSave(folder: string, own: string[], signal: AbortSignal): Promise<void> {
  const ignored = new Set(own.flatMap((path) => [basename(path), `${basename(path)}.part`]));
  return new Promise((resolve, reject) => {
    let timer: NodeJS.Timeout | undefined;
    const watcher = watch(folder, (_, name) => {
      if (name === null || ignored.has(name) || name.startsWith('.') || name === '__pycache__') return;
      clearTimeout(timer);
      timer = setTimeout(() => {
        watcher.close();
        resolve();
      }, SETTLED_MS);
    });
    watcher.on('error', reject);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      watcher.close();
      reject(signal.reason);
    });
  });
}
