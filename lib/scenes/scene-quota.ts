import { ScenepressError } from '../base/errors.ts';
import type { SceneUsage } from '../model/scene.ts';
import type { Storage } from '../storage/storage.ts';
import type { Transaction } from '../storage/transaction.ts';
import type { SceneLimits, SceneOptions } from './scene-limits.ts';

const MIB = 1024 ** 2;

/** What owners have and may have. */
export class SceneQuota {
  readonly #storage: Pick<Storage, 'scenes' | 'transaction'>;
  readonly #options: SceneOptions;

  constructor(storage: Pick<Storage, 'scenes' | 'transaction'>, options: SceneOptions) {
    this.#storage = storage;
    this.#options = options;
  }

  usage(owner: string): Promise<SceneUsage & SceneLimits> {
    return this.#storage.transaction(async (tx) => ({
      ...(await this.#storage.scenes.usage(owner, tx)),
      ...(await this.#limitsOf(owner, tx)),
    }));
  }

  /** Error: `too_much_stored` for more than the owner, who is locked, may have. What takes no more bytes is never refused. */
  async assertAdds(
    tx: Transaction,
    owner: string,
    { scenes: moreScenes, bytes: moreBytes }: SceneUsage,
  ): Promise<void> {
    if (moreScenes === 0 && moreBytes <= 0) return;
    const { scenes, bytes } = await this.#storage.scenes.usage(owner, tx);
    const { mostScenes, mostBytes } = await this.#limitsOf(owner, tx);
    if (moreScenes > 0 && scenes + moreScenes > mostScenes)
      throw tooMuch(`This account has ${scenes.toLocaleString('en')} scenes, which is the limit`);
    if (bytes + moreBytes <= mostBytes) return;
    const most = (mostBytes / MIB).toLocaleString('en');
    throw tooMuch(`The scenes of this account may take ${most} MiB together, with their earlier drafts`);
  }

  async #limitsOf(owner: string, tx: Transaction): Promise<SceneLimits> {
    const { mostScenes, mostBytes, limitsOf } = this.#options;
    return { mostScenes, mostBytes, ...(await limitsOf?.(owner, tx)) };
  }
}

function tooMuch(what: string): ScenepressError {
  return new ScenepressError('too_much_stored', `${what}. Remove some, then try again.`);
}
