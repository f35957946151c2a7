import { readFile } from 'node:fs/promises';
import type { Adapter } from 'lowdb';
import { ScenepressError } from '../../errors.ts';
import { writeDurably } from '../durable-file.ts';

/** Rows by collection and id. Maps, because ids can be any text, `__proto__` too. */
export type Tables = Map<string, Map<string, unknown>>;

const FORMAT = 1;

interface Snapshot {
  format: number;
  tables: Record<string, [id: string, row: unknown][]>;
}

/** lowdb's door to the disk: one JSON file, replaced as a whole and durably. */
export class SnapshotAdapter implements Adapter<Tables> {
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
  }

  /** Null when there is no file yet. A file that can't be understood is `storage_damaged`. */
  async read(): Promise<Tables | null> {
    const text = await readFile(this.#path, 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return null;
      throw error;
    });
    if (text === null) return null;
    const snapshot = this.#parse(text);
    if (snapshot.format !== FORMAT) {
      throw new ScenepressError(
        'storage_damaged',
        `${this.#path} has format ${snapshot.format}; this version reads format ${FORMAT}. ` +
          'Start the version of Scenepress that wrote it.',
      );
    }
    return new Map(Object.entries(snapshot.tables).map(([name, rows]) => [name, new Map(rows)]));
  }

  async write(tables: Tables): Promise<void> {
    const snapshot: Snapshot = { format: FORMAT, tables: {} };
    for (const [name, rows] of tables) snapshot.tables[name] = [...rows];
    await writeDurably(this.#path, JSON.stringify(snapshot));
  }

  #parse(text: string): Snapshot {
    try {
      return JSON.parse(text) as Snapshot;
    } catch (cause) {
      throw new ScenepressError(
        'storage_damaged',
        `${this.#path} is damaged: it is not complete JSON. Restore it from a backup; nothing was changed.`,
        { cause },
      );
    }
  }
}
