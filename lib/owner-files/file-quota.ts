import { ScenepressError } from '../base/errors.ts';
import type { FileSet, FileUsage } from '../model/owner-file.ts';
import type { Storage } from '../storage/storage.ts';
import type { Transaction } from '../storage/transaction.ts';
import { type FileLimits, type FileOptions, USES_OF_FILES } from './file-limits.ts';

const GIB = 1024 ** 3;

/** A file that is about to be added. */
interface AddedFile {
  owner: string;
  sizeBytes: number;
  /** Whether it would be one more in the list of its owner. */
  isListed: boolean;
  /** Whether its owner has the content already. */
  hasContent: boolean;
}

/** What owners have and may have. */
export class FileQuota {
  readonly #storage: Pick<Storage, 'files' | 'transaction'>;
  readonly #options: FileOptions;

  constructor(storage: Pick<Storage, 'files' | 'transaction'>, options: FileOptions) {
    this.#storage = storage;
    this.#options = options;
  }

  /** What an owner's files take, and what they may take. */
  usage(owner: string): Promise<FileUsage & FileLimits> {
    return this.#storage.transaction(async (tx) => ({
      ...(await this.#storage.files.usage(owner, tx)),
      ...(await this.#limitsOf(owner, tx)),
    }));
  }

  /** Error: `too_much_stored` for a file beyond the limits of its owner, who is locked. */
  async assertAdds(tx: Transaction, { owner, sizeBytes, isListed, hasContent }: AddedFile): Promise<void> {
    const { files, bytes } = await this.#storage.files.usage(owner, tx);
    const { mostFiles, mostBytes } = await this.#limitsOf(owner, tx);
    if (isListed && files >= mostFiles)
      throw tooMuch(`This account has ${files.toLocaleString('en')} files, which is the limit. Remove some`);
    if (!hasContent && bytes + sizeBytes > mostBytes) throw tooManyBytes(mostBytes);
  }

  /** Error: `too_much_stored` if a set is one too many for its owner, who is locked. */
  async assertUses(tx: Transaction, set: FileSet): Promise<void> {
    const { mostFiles } = await this.#limitsOf(set.owner, tx);
    const most = mostFiles * USES_OF_FILES;
    if ((await this.#storage.files.entriesWith(set, tx)) <= most) return;
    throw tooMuch(
      `The jobs of this account use different sets of files, with more than ${most.toLocaleString('en')} entries together. ` +
        'Forget jobs that are no longer needed, or name only the files that a scene reads',
    );
  }

  async #limitsOf(owner: string, tx: Transaction): Promise<FileLimits> {
    const { mostFiles, mostBytes, limitsOf } = this.#options;
    return { mostFiles, mostBytes, ...(await limitsOf?.(owner, tx)) };
  }
}

/** The error for files that would take more bytes than they may. */
export function tooManyBytes(mostBytes: number): ScenepressError {
  return tooMuch(
    `The files of this account may take ${(mostBytes / GIB).toLocaleString('en')} GiB together, with those that its jobs ` +
      'still use. Remove some',
  );
}

function tooMuch(message: string): ScenepressError {
  return new ScenepressError('too_much_stored', `${message}, then try again.`);
}
