import type { AssetStore } from '../../assets/asset-store.ts';
import { InProgress } from '../../async/in-progress.ts';
import type { Logger } from '../../base/logger.ts';
import { discardArtifacts } from './store-artifacts.ts';

/** Removes orphaned artifacts in the background. */
export class Discards {
  readonly #stores: { assets: AssetStore; logger: Logger };
  readonly #inProgress = new InProgress();

  constructor(stores: { assets: AssetStore; logger: Logger }) {
    this.#stores = stores;
  }

  add(assetKeys: string[]): void {
    void this.#inProgress.add(discardArtifacts(assetKeys, this.#stores));
  }

  settled(): Promise<void> {
    return this.#inProgress.settled();
  }
}
