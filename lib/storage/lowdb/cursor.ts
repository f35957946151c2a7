/** A row somewhere: in memory (`row`), or as text (`json`). Without either it was removed. */
export interface Entry {
  id: string;
  row?: unknown;
  json?: string | undefined;
}

/** Goes through rows in the order of their ids, or backwards. Stands before the first one until `next` is called. */
export interface Cursor {
  /** Undefined before the first and behind the last. */
  readonly current: Entry | undefined;
  /** A promise only where something has to be read: most steps need no turn of the event loop. */
  next(): Promise<void> | undefined;
}

/** Which rows, and in which direction. */
export interface Range {
  backwards?: boolean;
  /** Only ids from this one on. */
  from?: string;
  /** Only ids before this one. */
  before?: string;
}

export function isWithin(id: string, { from, before }: Range): boolean {
  return (from === undefined || id >= from) && (before === undefined || id < before);
}

/** The row of an entry; undefined when it was removed. */
export function rowOf({ row, json }: Entry): unknown {
  if (row !== undefined) return row ?? undefined;
  return json === undefined ? undefined : JSON.parse(json);
}

/** Rows in memory, in order. */
export class MemoryCursor implements Cursor {
  readonly #entries: Entry[];
  #at = -1;

  constructor(entries: Entry[]) {
    this.#entries = entries;
  }

  get current(): Entry | undefined {
    return this.#entries[this.#at];
  }

  next(): undefined {
    this.#at += 1;
  }
}

/** Several cursors as one. Of rows with the same id, the one of the cursor named first counts. */
export class MergedCursor implements Cursor {
  readonly #cursors: Cursor[];
  readonly #backwards: boolean;
  #begun = false;
  current: Entry | undefined;

  constructor(cursors: Cursor[], { backwards = false }: { backwards?: boolean } = {}) {
    this.#cursors = cursors;
    this.#backwards = backwards;
  }

  next(): Promise<void> | undefined {
    const last = this.current?.id;
    const waits: Promise<void>[] = [];
    for (const cursor of this.#cursors) {
      if (this.#begun && cursor.current?.id !== last) continue;
      const wait = cursor.next();
      if (wait !== undefined) waits.push(wait);
    }
    this.#begun = true;
    if (waits.length > 0) return Promise.all(waits).then(() => this.#choose());
    this.#choose();
    return undefined;
  }

  #choose(): void {
    let first: Entry | undefined;
    for (const { current } of this.#cursors) {
      if (!current) continue;
      if (!first || (this.#backwards ? current.id > first.id : current.id < first.id)) first = current;
    }
    this.current = first;
  }
}

/** The entries that a cursor comes by, those of removed rows too. */
export async function* entriesOf(cursor: Cursor): AsyncGenerator<Entry> {
  for (;;) {
    const wait = cursor.next();
    if (wait !== undefined) await wait;
    if (!cursor.current) return;
    yield cursor.current;
  }
}
