import { ScenepressError } from '../base/errors.ts';
import { known, type Names } from '../base/known-options.ts';
import { MasterKey } from './master-key.ts';
import type { MasterKeyFiles } from './master-key-files.ts';

/** How a service replaces what the old master key encrypted. */
export interface Resealing {
  /**
   * Re-encrypts all secrets that are not sealed with the current master key. Must be repeatable after an
   * interruption.
   */
  reseal: (options: { signal?: AbortSignal }) => Promise<unknown>;
  /** Given to `reseal`. When it aborts, both keys stay valid, as after an interruption. */
  signal?: AbortSignal | undefined;
}

/** Options of {@link replaceMasterKey}. */
export interface Replacement extends Resealing {
  /** The new key as hex, when keys are external. */
  given?: string | undefined;
}

/** Owner of a master key: a `DataFolder`, or the same for a database. */
export interface HasMasterKey {
  /** Names it in errors. */
  readonly path: string;
  readonly masterKeyFiles: Pick<MasterKeyFiles, 'load' | 'isRotating' | 'begin' | 'finish'>;
  /** Runs exclusive tasks one at a time. */
  alone<T>(work: () => Promise<T>): Promise<T>;
}

const RESEALING: Names<Resealing> = { reseal: true, signal: true };

/** Folders with a replacement in progress in this process. */
const rotating = new WeakSet<HasMasterKey>();

/**
 * Replaces the master key of a data folder while the service runs: by a new one in `master.key` or, when keys are
 * external, by `given`. Both keys are valid until all secrets are sealed with the new one. After an interruption,
 * repeat it or call {@link completeReplacement}. The former `master.key` is kept as `master.key.until-…` for older
 * backups; returns that file name, or null when keys are external.
 *
 * ```ts
 * const reseal = ({ signal }) => service.resealSecrets({ keys, signal });
 * await replaceMasterKey(dataFolder, { reseal, signal: AbortSignal.timeout(60_000) });
 * ```
 */
export async function replaceMasterKey(
  folder: HasMasterKey,
  replacement: Replacement,
): Promise<string | null> {
  const names = { given: true, ...RESEALING };
  const { given, reseal, signal } = known('replaceMasterKey', replacement, names);
  if (rotating.has(folder)) {
    throw new ScenepressError('conflict', `The master key of ${folder.path} is already being replaced.`);
  }
  rotating.add(folder);
  try {
    return await folder.alone(async () => {
      signal?.throwIfAborted();
      const { masterKeyFiles: files } = folder;
      const { current } = await files.load();
      if (await files.isRotating()) {
        const former = await complete(folder, { reseal, signal });
        if (given === undefined || MasterKey.fromHex(given).id === current.id) return former;
      }
      await files.begin(given);
      return await complete(folder, { reseal, signal });
    });
  } finally {
    rotating.delete(folder);
  }
}

/**
 * Completes an interrupted replacement of the master key; false when there was none.
 *
 * ```ts
 * await service.start();
 * await completeReplacement(dataFolder, { reseal: () => service.resealSecrets({ keys }) });
 * ```
 */
export async function completeReplacement(folder: HasMasterKey, resealing: Resealing): Promise<boolean> {
  const { reseal, signal } = known('completeReplacement', resealing, RESEALING);
  return folder.alone(async () => {
    if (!(await folder.masterKeyFiles.isRotating())) return false;
    await folder.masterKeyFiles.load();
    await complete(folder, { reseal, signal });
    return true;
  });
}

async function complete(
  { masterKeyFiles: files }: HasMasterKey,
  { reseal, signal }: Resealing,
): Promise<string | null> {
  try {
    await reseal(signal ? { signal } : {});
    signal?.throwIfAborted();
    return await files.finish();
  } catch (cause) {
    if (signal?.aborted) throw signal.reason;
    const [code, message] =
      cause instanceof ScenepressError
        ? [cause.code, cause.message]
        : ['storage_failed' as const, String(cause)];
    throw new ScenepressError(
      code,
      `${message} The master key is not yet replaced everywhere: until this is repeated, both keys are needed.`,
      { cause },
    );
  }
}
