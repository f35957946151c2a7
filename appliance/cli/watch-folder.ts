import { EventEmitter, once } from 'node:events';
import { type FSWatcher, fstatSync, lstatSync, readdirSync, realpathSync, statSync, watch } from 'node:fs';
import { basename, dirname, join, resolve, sep } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { UserError } from '../support/user-error.ts';

/** An editor writes a file in several steps. */
const SETTLED_MS = 150;
/** Another program may write all the time. */
const SETTLED_MAX_MS = 1500;
/** How long another program may take to write what this one has printed. */
const ECHO_MS = 500;
const LOOK_MS = 50;
const PRINTED_TO = [1, 2];
/** Folders that programs write, often with very many files. */
const OF_PROGRAMS = ['__pycache__', 'node_modules'];
/** A file of every virtual environment of Python. */
const ENVIRONMENT = 'pyvenv.cfg';

/** What {@link FolderWatch.nextSave} leaves out. */
export interface Ignored {
  /** Paths of files and folders that this process writes. */
  own: string[];
  /** Whether scenes read the file of this absolute path, as far as is known. */
  isInput: (path: string) => boolean;
}

/**
 * Notices saves of files from its construction on, including those between calls of {@link FolderWatch.nextSave}. Hidden
 * files, and folders of packages, are not watched.
 */
export class FolderWatch {
  readonly #changes = new EventEmitter();
  readonly #watchers = new Map<string, FSWatcher>();
  readonly #saved = new Set<string>();
  #failure: UserError | undefined;

  /** Watches `file`, and all files in `folder` and its subfolders. */
  constructor(file: string, folder: string | null) {
    if (folder !== null) this.#watchTree(realOf(folder), false);
    const path = realOf(file);
    if (!this.#watchers.has(dirname(path))) this.#watch(dirname(path), (changed) => changed === path);
  }

  /**
   * Resolves when a file was saved since the last call, except for the `own` ones, those in `own` folders, and the files
   * that this process prints to. Of those saved before this call, or shortly after it, only inputs count: others may
   * be written by a program that gets what this process prints. Rejects when `signal` is aborted. Error: when a folder
   * can't be watched.
   */
  async nextSave({ own, isInput }: Ignored, signal: AbortSignal): Promise<void> {
    const ignored = own.map(realOf);
    const isOwn = (path: string) =>
      isPrintedTo(path) ||
      ignored.some((one) => path === one || path === `${one}.part` || path.startsWith(`${one}${sep}`));
    const isWaitedFor = (path: string) => isInput(path) && !isOwn(path);
    const calledMs = performance.now();
    while (performance.now() - calledMs < ECHO_MS && ![...this.#saved].some(isWaitedFor))
      await delay(LOOK_MS, undefined, { signal });
    for (const path of this.#saved) if (!isWaitedFor(path)) this.#saved.delete(path);
    for (;;) {
      if (this.#failure) throw this.#failure;
      for (const path of this.#saved) if (isOwn(path)) this.#saved.delete(path);
      if (this.#saved.size > 0) break;
      await once(this.#changes, 'change', { signal });
    }
    const savedMs = performance.now();
    while (this.#saved.size > 0 && performance.now() - savedMs < SETTLED_MAX_MS) {
      this.#saved.clear();
      await delay(SETTLED_MS, undefined, { signal });
    }
    this.#saved.clear();
  }

  close(): void {
    for (const watcher of this.#watchers.values()) watcher.close();
    this.#watchers.clear();
  }

  /** `isNew`: its files count as saved. */
  #watchTree(folder: string, isNew: boolean): void {
    this.#watch(folder, () => true);
    const entries = entriesOf(folder);
    if (entries.some(({ name }) => name === ENVIRONMENT)) {
      this.#forget(folder);
      return;
    }
    for (const entry of entries) {
      if (isSkipped(entry.name)) continue;
      const path = join(folder, entry.name);
      if (entry.isDirectory()) this.#watchTree(path, isNew);
      else if (isNew) this.#saved.add(path);
    }
  }

  #watch(folder: string, concerns: (path: string) => boolean): void {
    const fail = (cause: NodeJS.ErrnoException) => {
      if (cause.code === 'ENOENT' || cause.code === 'EACCES') return;
      this.#failure ??= new UserError(`${folder} can't be watched: ${cause.message}.`, { cause });
      this.#changes.emit('change');
    };
    try {
      const watcher = watch(folder, (event, name) => {
        if (name === null || isSkipped(name) || !concerns(join(folder, name))) return;
        this.#changed(join(folder, name), event);
        this.#changes.emit('change');
      });
      watcher.on('error', fail);
      this.#watchers.set(folder, watcher);
    } catch (cause) {
      fail(cause as NodeJS.ErrnoException);
    }
  }

  #changed(path: string, event: string): void {
    const isFolder = isFolderAt(path);
    if (!isFolder) this.#saved.add(path);
    if (event !== 'rename') return;
    // Another folder may have its name now.
    this.#forget(path);
    if (isFolder) this.#watchTree(path, true);
  }

  /** Stops watching a folder and its subfolders. */
  #forget(folder: string): void {
    for (const [path, watcher] of this.#watchers) {
      if (path !== folder && !path.startsWith(`${folder}${sep}`)) continue;
      watcher.close();
      this.#watchers.delete(path);
    }
  }
}

function isSkipped(name: string): boolean {
  return name.startsWith('.') || OF_PROGRAMS.includes(name);
}

/** Whether a file is this process's standard output or standard error. */
function isPrintedTo(path: string): boolean {
  const file = statSync(path, { throwIfNoEntry: false });
  return (
    file !== undefined &&
    PRINTED_TO.some((descriptor) => {
      const { dev, ino } = fstatSync(descriptor);
      return dev === file.dev && ino === file.ino;
    })
  );
}

/** False for what is gone, or out of this user's reach. */
function isFolderAt(path: string): boolean {
  try {
    return lstatSync(path).isDirectory();
  } catch {
    return false;
  }
}

/** None if it is gone, or this user can't read it. */
function entriesOf(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}

/** The path without links on the way to its last part. */
function realOf(path: string): string {
  const absolute = resolve(path);
  try {
    return join(realpathSync(dirname(absolute)), basename(absolute));
  } catch {
    return absolute; // Its folder is missing.
  }
}
