import type { Cursor, Entry, Range } from './cursor.ts';
import type { Pack } from './pack.ts';

/** A pack's index table as a cursor over what comes behind a prefix of its ids. */
export class PrefixCursor implements Cursor {
  readonly #cursor: Cursor;
  readonly #prefix: string;
  current: Entry | undefined;

  constructor(pack: Pack, table: string, prefix: string, { before, ...range }: Range) {
    this.#prefix = prefix;
    this.#cursor = pack.cursor(table, {
      ...range,
      from: prefix,
      // Nothing that begins with the prefix comes behind the largest character.
      before: before === undefined ? `${prefix}\uffff` : prefix + before,
    });
  }

  next(): Promise<void> | undefined {
    const wait = this.#cursor.next();
    if (wait !== undefined) return wait.then(() => this.#take());
    this.#take();
    return undefined;
  }

  #take(): void {
    const entry = this.#cursor.current;
    this.current = entry && { ...entry, id: entry.id.slice(this.#prefix.length) };
  }
}
