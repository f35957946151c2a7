import type { AssetStore } from '../assets/asset-store.ts';
import { contentKeyOf, type FileRecord } from '../model/owner-file.ts';
import type { Storage } from '../storage/storage.ts';
import type { Clock } from '../time/clock.ts';

/** Files that jobs use are tried again after this. */
const AGAIN_MS = 60 * 60_000;
const PAGE = 100;

/**
 * Removes the contents of files that neither a list has nor a job uses. Crash-safe: a file stays recorded until its content
 * is gone from the asset store, and {@link FileRemoval.recover} continues.
 */
export class FileRemoval {
  readonly #storage: Storage;
  readonly #assets: AssetStore;
  readonly #clock: Clock;

  constructor({ storage, assets, clock }: { storage: Storage; assets: AssetStore; clock: Clock }) {
    this.#storage = storage;
    this.#assets = assets;
    this.#clock = clock;
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
  async withdraw(file: FileRecord): Promise<void> {
    const { files } = this.#storage;
    await this.#storage.transaction(async (tx) => {
      await this.#storage.lockOwner(tx, file.owner);
      const found = await files.get(file.fileId, tx);
      const discarding: FileRecord = { ...file, phase: 'discarding', dueAtMs: this.#clock.now() };
      // Its record may be gone if storing it took long, or the content of a file that was removed was stored again.
      if (!found && (await files.countContent(file.contentId, tx)) === 0) await files.insert(tx, discarding);
      else if (found?.phase === 'storing' || found?.phase === 'discarding')
        await files.update(tx, discarding);
    });
    await this.discard(file);
  }

  /** Removes a file that was not stored, or was removed, unless a job uses it. */
  async discard({ fileId, owner }: Pick<FileRecord, 'fileId' | 'owner'>): Promise<void> {
    const { files } = this.#storage;
    const discarding = await this.#storage.transaction(async (tx) => {
      await this.#storage.lockOwner(tx, owner);
      const file = await files.get(fileId, tx);
      const nowMs = this.#clock.now();
      if (!file || file.phase === 'stored' || (file.dueAtMs ?? 0) > nowMs) return undefined;
      if (file.phase === 'removed' && (await files.isUsed(tx, file))) {
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
      if (file?.phase === 'storing') await files.update(tx, { ...file, phase: 'discarding' });
      else if (file && file.phase !== 'discarding')
        await files.update(tx, { ...file, phase: 'removed', dueAtMs: this.#clock.now() });
    });
  }
}
