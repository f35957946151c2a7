import type { DataFolder } from '../data-folder/data-folder.ts';
import { ScenepressError } from '../errors.ts';
import { MasterKey } from './master-key.ts';

export interface Resealing {
  /** Seals all secrets again that aren't sealed with the current master key; called again after it was cut off. */
  reseal: () => Promise<unknown>;
}

export interface Replacement extends Resealing {
  /** The new key as hex, where keys come from outside the data folder. */
  given?: string | undefined;
}

/** Folders whose key this process is replacing. */
const rotating = new WeakSet<DataFolder>();

/**
 * Replaces the master key of a data folder, while the service goes on: by a new one in `master.key`, or, where keys come
 * from outside, by `given`. Until all secrets are sealed with the new one both are valid; cut off at any moment, it is
 * completed by a repetition or by {@link completeReplacement}. A key from `master.key` is kept beside as
 * `master.key.until-…`, because older backups need it; answers with that file's name, or null when keys come from outside.
 */
export async function replaceMasterKey(
  folder: DataFolder,
  { given, reseal }: Replacement,
): Promise<string | null> {
  if (rotating.has(folder)) {
    throw new ScenepressError('conflict', `The master key of ${folder.path} is being replaced already.`);
  }
  rotating.add(folder);
  try {
    return await folder.alone(async () => {
      const { masterKeyFiles: files } = folder;
      const { current } = await files.load();
      if (await files.isRotating()) {
        const former = await complete(folder, reseal);
        if (given === undefined || MasterKey.fromHex(given).id === current.id) return former;
      }
      await files.begin(given);
      return await complete(folder, reseal);
    });
  } finally {
    rotating.delete(folder);
  }
}

/** Completes a replacement of the master key that was cut off; false where there was none. */
export function completeReplacement(folder: DataFolder, { reseal }: Resealing): Promise<boolean> {
  return folder.alone(async () => {
    if (!(await folder.masterKeyFiles.isRotating())) return false;
    await folder.masterKeyFiles.load();
    await complete(folder, reseal);
    return true;
  });
}

async function complete(
  { masterKeyFiles: files }: DataFolder,
  reseal: () => Promise<unknown>,
): Promise<string | null> {
  try {
    await reseal();
    return await files.finish();
  } catch (cause) {
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
