import { UsedIndexes } from '../jobs/search/used-indexes.ts';
import type { ListedScene, ScenePlace, SceneStore } from '../storage/scene-store.ts';
import type { Clock } from '../time/clock.ts';
import { SceneIndex } from './scene-index.ts';

/** Of all indexes together. */
const MOST_BYTES = 64 * 1024 * 1024;

interface Options {
  scenes: SceneStore;
  clock: Clock;
  /** Of all indexes together. */
  mostBytes?: number;
}

/** Which scenes to look for. */
interface Wanted {
  owner: string;
  /** Beginnings of words. */
  words: readonly string[];
  after: ScenePlace | undefined;
  limit: number;
}

/** Searches scenes by indexes in memory, one per owner, because their texts are encrypted on the disk. */
export class SceneSearches {
  readonly #scenes: SceneStore;
  readonly #indexes: UsedIndexes<string, SceneIndex>;

  constructor({ scenes, clock, mostBytes = MOST_BYTES }: Options) {
    this.#scenes = scenes;
    const make = (owner: string) => new SceneIndex({ scenes, clock, owner, mostBytes });
    this.#indexes = new UsedIndexes({ clock, mostBytes, make });
  }

  /** Those that were changed last first. */
  async find({ owner, words, after, limit }: Wanted): Promise<ListedScene[]> {
    const index = this.#indexes.of(owner);
    await index.sync();
    const listed: ListedScene[] = [];
    for (const sceneId of index.find(words, after)) {
      if (listed.length === limit) break;
      const scene = await this.#scenes.get(sceneId);
      const [last] = scene ? await this.#scenes.versions({ sceneId, limit: 1 }) : [];
      if (scene) listed.push({ scene, last });
      else index.forget(sceneId);
    }
    index.purge();
    return listed;
  }

  /** Forgets the words of a scene. */
  forget(owner: string, sceneId: string): void {
    const index = this.#indexes.known(owner);
    index?.forget(sceneId);
    index?.purge();
  }

  /** Drops the index of an owner. */
  forgetAll(owner: string): void {
    this.#indexes.drop(owner);
  }

  /** Drops all. */
  stop(): void {
    this.#indexes.dropAll();
  }
}
