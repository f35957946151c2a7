import type { AssetStore } from '../assets/asset-store.ts';
import type { Logger } from '../logger.ts';
import { discardArtifacts } from './store-artifacts.ts';

/** Removes orphaned artifacts in the background. */
export class Discards {
  readonly #stores: { assets: AssetStore; logger: Logger };
  readonly #underWay = new Set<Promise<void>>();

  constructor(stores: { assets: AssetStore; logger: Logger }) {
    this.#stores = stores;
  }

  add(assetKeys: string[]): void {
    if (assetKeys.length === 0) return;
    const discard = discardArtifacts(assetKeys, this.#stores).finally(() => this.#underWay.delete(discard));
    this.#underWay.add(discard);
  }

  async settled(): Promise<void> {
    await Promise.all(this.#underWay);
  }
}
