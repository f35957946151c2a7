import { WordIndex } from '../jobs/search/word-index.ts';
import { wordsOf } from '../jobs/search/words.ts';
import type { SceneRecord } from '../model/scene.ts';
import type { ScenePlace, SceneStore } from '../storage/scene-store.ts';
import type { Clock } from '../time/clock.ts';
import { TimeSlice } from '../time/time-slice.ts';

const PAGE = 20;
/** Of an entry, without its words. */
const ENTRY_BYTES = 600;
/** Longer than clocks of machines differ and transactions take: changes of that time are read again. */
const OVERLAP_MS = 60_000;

type Known = Pick<SceneRecord, 'sceneId' | 'name' | 'revision' | 'changedAtMs'> & { number: number };

interface Parts {
  scenes: Pick<SceneStore, 'records' | 'draft'>;
  clock: Clock;
  owner: string;
  /** What it may take in memory: scenes that were changed earlier are left out. */
  mostBytes: number;
}

/** The scenes of an owner by the words of their names, classes and code, in memory. */
export class SceneIndex {
  readonly #parts: Parts;
  readonly #slice: TimeSlice;
  readonly #words = new WordIndex();
  readonly #scenes = new Map<string, Known>();
  /** Numbers of earlier texts, whose words are still there. */
  readonly #removed = new Set<number>();
  #lastNumber = 0;
  #syncedMs: number | undefined;
  #syncing: Promise<void> | undefined;
  #isDropped = false;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#slice = new TimeSlice(parts.clock);
  }

  get sizeBytes(): number {
    return this.#words.sizeBytes + ENTRY_BYTES * this.#scenes.size;
  }

  /** Ends reading. */
  drop(): void {
    this.#isDropped = true;
  }

  /** Removes a scene; its words with {@link purge}. */
  forget(sceneId: string): void {
    const known = this.#scenes.get(sceneId);
    if (known) this.#removed.add(known.number);
    this.#scenes.delete(sceneId);
  }

  purge(): void {
    if (this.#removed.size === 0) return;
    this.#words.remove(this.#removed);
    this.#removed.clear();
  }

  /** Reads what has changed, also by other processes. */
  async sync(): Promise<void> {
    this.#syncing ??= this.#sync().finally(() => {
      this.#syncing = undefined;
    });
    await this.#syncing;
  }

  /** The scenes with all these beginnings of words, those that were changed last first. */
  find(words: readonly string[], after: ScenePlace | undefined): string[] {
    const numbers = words.map((word) => {
      const found = new Set<number>();
      this.#words.each(word, (number) => found.add(number));
      return found;
    });
    return [...this.#scenes.values()]
      .filter(
        (scene) => numbers.every((found) => found.has(scene.number)) && (!after || order(after, scene) < 0),
      )
      .sort(order)
      .map(({ sceneId }) => sceneId);
  }

  async #sync(): Promise<void> {
    const { scenes, clock, owner, mostBytes } = this.#parts;
    const atMs = clock.now();
    const settledMs = (this.#syncedMs ?? Number.NEGATIVE_INFINITY) - OVERLAP_MS;
    for (let after: SceneRecord | undefined; !this.#isDropped; ) {
      const page = await scenes.records({ owner, after, limit: PAGE });
      for (const scene of page) await this.#put(scene);
      after = page.at(-1);
      const isSettled = after !== undefined && after.changedAtMs < settledMs;
      if (page.length < PAGE || isSettled || this.sizeBytes > mostBytes) break;
    }
    this.#syncedMs = atMs;
    this.purge();
  }

  async #put({ sceneId, name, revision, changedAtMs }: SceneRecord): Promise<void> {
    const known = this.#scenes.get(sceneId);
    if (known?.revision === revision && known.name === name) {
      known.changedAtMs = changedAtMs;
      return;
    }
    const draft = await this.#parts.scenes.draft(sceneId);
    if (this.#slice.isLong) await this.#slice.end();
    this.forget(sceneId);
    const number = ++this.#lastNumber;
    const words = wordsOf(draft?.code ?? '');
    for (const text of [name, draft?.className ?? '']) wordsOf(text, words);
    this.#words.add(number, words);
    this.#scenes.set(sceneId, { sceneId, name, revision, changedAtMs, number });
  }
}

/** As the store lists scenes. */
function order(one: ScenePlace, other: ScenePlace): number {
  const byTime = other.changedAtMs - one.changedAtMs;
  return byTime || Number(one.sceneId < other.sceneId) - Number(one.sceneId > other.sceneId);
}
