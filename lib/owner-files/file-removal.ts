import type { AssetStore } from '../assets/asset-store.ts';
import { contentKeyOf, type FileRecord } from '../model/owner-file.ts';
import type { Storage } from '../storage/storage.ts';
import type { Clock } from '../time/clock.ts';

/** Files that jobs use are tried again after this. They are due when the last of these jobs is forgotten. */
const AGAIN_MS = 7 * 24 * 60 * 60_000;
const PAGE = 100;

/**
 * Removes the contents of files that neither a list has nor a job uses. Crash-safe: a file stays recorded until its content
 * is gone from the asset store, and {@link FileRemoval.recover} continues.
 */
export class FileRemoval {
  readonly #storage: Storage;
  readonly #assets: AssetStore;
  readonly #clock: Clock;
  readonly #isHeld: () => boolean;

  /** `isHeld`: whether contents must stay, because a backup is being made. */
  constructor(parts: { storage: Storage; assets: AssetStore; clock: Clock; isHeld?: () => boolean }) {
    this.#storage = parts.storage;
    this.#assets = parts.assets;
    this.#clock = parts.clock;
    this.#isHeld = parts.isHeld ?? (() => false);
  }

  /** Discards what is due: removed files, and those whose process died while it stored them. Rejects with the first error. */
  async recover(): Promise<void> {
    const tried = new Set<string>();
    let failure: { error: unknown } | undefined;
    for (;;) {
      const due = await this.#storage.files.due(this.#clock.now(), PAGE + tried.size);
      const left = due.filter(({ fileId }) => !tried.has(fileId));
      if (left.length === 0) break;
      for (const file of left) {
        tried.add(file.fileId);
        await this.discard(file).catch((error: unknown) => {
          failure ??= { error };
        });
      }
    }
    if (failure) throw failure.error;
  }

  /**
   * Removes all files of an owner whose jobs were forgotten. One that is being stored is removed by what stores it, or when
   * that counts as dead. Can be repeated after an error.
   */
  async forget(owner: string): Promise<void> {
    const ended = new Set<string>();
    for (;;) {
      const files = await this.#storage.files.of(owner, PAGE + ended.size);
      const left = files.filter(({ fileId }) => !ended.has(fileId));
      if (left.length === 0) return;
      for (const file of left) {
        ended.add(file.fileId);
        await this.#end(file);
        await this.discard(file);
      }
    }
  }

  /** Removes a content that was stored for a file that is not kept, unless other files share it. */
  withdraw(file: FileRecord): Promise<void> {
    return this.#withdraw(file, isUnfinished);
  }

  /** Removes a content that was stored again, unless its file is still there, or others share it. */
  withdrawContent(file: FileRecord): Promise<void> {
    return this.#withdraw(file, (phase) => phase === 'discarding');
  }

  async #withdraw(file: FileRecord, isOver: (phase: FileRecord['phase']) => boolean): Promise<void> {
    const { files } = this.#storage;
    await this.#storage.transaction(async (tx) => {
      await this.#storage.lockOwner(tx, file.owner);
      const found = await files.get(file.fileId, tx);
      const discarding: FileRecord = { ...file, phase: 'discarding', dueAtMs: this.#clock.now() };
      // Its record may be gone if storing it took long, or the content of a file that was removed was stored again.
      if (!found && (await files.countContent(file.contentId, tx)) === 0) await files.insert(tx, discarding);
      else if (found && isOver(found.phase)) await files.update(tx, discarding);
    });
    await this.discard(file);
  }

  /**
   * Removes a file that was not stored, or was removed, unless a job uses it or contents are held. `early`: before one that was
   * removed is due.
   */
  async discard(
    { fileId, owner }: Pick<FileRecord, 'fileId' | 'owner'>,
    { early = false }: { early?: boolean } = {},
  ): Promise<void> {
    const { files } = this.#storage;
    const discarding = await this.#storage.transaction(async (tx) => {
      await this.#storage.lockOwner(tx, owner);
      const file = await files.get(fileId, tx);
      const nowMs = this.#clock.now();
      if (!file || file.phase === 'stored') return undefined;
      if ((file.dueAtMs ?? 0) > nowMs && !(early && file.phase === 'removed')) return undefined;
      // A backup that was begun before may have it: what a backup is begun after is already discarding there.
      if (file.phase !== 'discarding' && this.#isHeld()) return undefined;
      if (file.phase === 'removed' && (await files.isUsed(tx, fileId))) {
        await files.update(tx, { ...file, dueAtMs: nowMs + AGAIN_MS });
        return undefined;
      }
      if ((await files.countContent(file.contentId, tx)) > 1) {
        await files.delete(tx, fileId);
        return undefined;
      }
      // From now on, no file shares its content.
      const discarding: FileRecord = { ...file, phase: 'discarding', dueAtMs: nowMs };
      await files.update(tx, discarding);
      return discarding;
    });
    if (!discarding) return;
    await this.#assets.delete(contentKeyOf(discarding));
    await this.#storage.transaction(async (tx) => {
      await this.#storage.lockOwner(tx, owner);
      await files.delete(tx, fileId);
    });
  }

  /** Makes a file due. One that is being stored stays recorded, since its content may be stored after this. */
  async #end({ fileId, owner }: FileRecord): Promise<void> {
    const { files } = this.#storage;
    await this.#storage.transaction(async (tx) => {
      await this.#storage.lockOwner(tx, owner);
      const file = await files.get(fileId, tx);
      if (file && isUnfinished(file.phase)) await files.update(tx, { ...file, phase: 'discarding' });
      else if (file) await files.update(tx, { ...file, phase: 'removed', dueAtMs: this.#clock.now() });
    });
  }
}

/** Whether no list and no job has it. */
function isUnfinished(phase: FileRecord['phase']): boolean {
  return phase === 'storing' || phase === 'sent' || phase === 'discarding';
}
