import type { PgClient, PgConnection, PgQuery, PgResult, Submittable } from './driver.ts';

/** The columns of a statement's rows. */
interface Columns {
  each: { name: string; parse: (text: string) => unknown }[];
  /** Copied for each row: V8 makes a dictionary of an object that gets many fields one by one. */
  blank: Record<string, unknown>;
}

const NO_COLUMNS: Columns = { each: [], blank: {} };

/** A prepared statement of a connection. */
interface Prepared {
  /** `uncertain`: its batch failed, so the server may know it or not. */
  state: 'new' | 'uncertain' | 'prepared';
  /** Undefined until the server has described them. */
  columns: Columns | undefined;
}

/** By connection, then by the name of the statement. */
const preparedBy = new WeakMap<PgClient, Map<string, Prepared>>();

interface Pending {
  query: PgQuery;
  resolve: (result: PgResult) => void;
  reject: (error: unknown) => void;
}

/**
 * Runs statements on a connection: those that are called together in one batch, with one `Sync` at its end. The driver
 * would end each statement with one, upon which the server writes its answer and wakes this process. It would also ask
 * the server to describe the columns of the same statement each time.
 *
 * All statements after one that failed fail with its error: the server skips those of the same batch, and later ones
 * are not sent.
 */
export class Batches {
  readonly #client: PgClient;
  #collected: Pending[] = [];
  #running: Promise<void> | undefined;
  #failure: { error: unknown } | undefined;

  constructor(client: PgClient) {
    this.#client = client;
  }

  run(query: PgQuery): Promise<PgResult> {
    const { promise, resolve, reject } = Promise.withResolvers<PgResult>();
    this.#collected.push({ query, resolve, reject });
    this.#running ??= this.#run();
    return promise;
  }

  async #run(): Promise<void> {
    for (;;) {
      // Until then, what waited for the answers of the batch before may call more.
      await endOfTick();
      const collected = this.#collected.splice(0);
      if (collected.length === 0) break;
      if (this.#failure) for (const { reject } of collected) reject(this.#failure.error);
      else this.#failure = await new Batch(this.#client, collected).ended();
    }
    this.#running = undefined;
  }
}

/** After all microtasks. */
function endOfTick(): Promise<void> {
  return new Promise((resolve) => process.nextTick(resolve));
}

/** Statements whose answers the server sends together; the driver delegates to it how they are sent and received. */
class Batch implements Submittable {
  readonly #statements: Statement[];
  readonly #client: PgClient;
  readonly #ended = Promise.withResolvers<{ error: unknown } | undefined>();
  #completed = 0;
  /** Set by the driver, to end the time-out of the batch. */
  callback: ((error: unknown) => void) | undefined;

  constructor(client: PgClient, pending: Pending[]) {
    const known = preparedBy.get(client) ?? new Map<string, Prepared>();
    preparedBy.set(client, known);
    this.#client = client;
    this.#statements = pending.map((one) => new Statement(one, known));
  }

  /** Sends it. Resolves when all statements have ended, with the error of the first that failed. */
  ended(): Promise<{ error: unknown } | undefined> {
    void this.#client.query(this);
    return this.#ended.promise;
  }

  submit(connection: PgConnection): void {
    connection.stream.cork?.();
    try {
      for (const statement of this.#statements) statement.submit(connection);
      connection.sync();
    } finally {
      connection.stream.uncork?.();
    }
  }

  handleRowDescription({ fields }: { fields: { name: string; dataTypeID: number }[] }): void {
    const each = fields.map(({ name, dataTypeID }) => ({
      name,
      parse: this.#client.getTypeParser(dataTypeID, 'text'),
    }));
    this.#current?.describe({ each, blank: Object.fromEntries(fields.map(({ name }) => [name, null])) });
  }

  handleDataRow({ fields }: { fields: (string | null)[] }): void {
    this.#current?.add(fields);
  }

  handleCommandComplete({ text }: { text: string }): void {
    this.#current?.complete(text);
    this.#completed += 1;
  }

  handleReadyForQuery(): void {
    this.#end(undefined);
  }

  /** An error of the server, which skips the statements after it, or of the connection. */
  handleError(error: unknown): void {
    this.#end({ error });
  }

  get #current(): Statement | undefined {
    return this.#statements[this.#completed];
  }

  #end(failure: { error: unknown } | undefined): void {
    for (const [i, statement] of this.#statements.entries()) {
      if (failure && i >= this.#completed) statement.fail(failure.error);
      else statement.succeed();
    }
    this.callback?.(failure?.error ?? null);
    this.#ended.resolve(failure);
  }
}

class Statement {
  readonly #pending: Pending;
  readonly #prepared: Prepared;
  readonly #result: PgResult = { rows: [], rowCount: null };
  #isFirst = false;

  constructor(pending: Pending, known: Map<string, Prepared>) {
    this.#pending = pending;
    const { name } = pending.query;
    const prepared = (name && known.get(name)) || { state: 'new', columns: undefined };
    this.#prepared = prepared;
    // Without a name, the server keeps it until the next one.
    if (name) known.set(name, prepared);
  }

  submit(connection: PgConnection): void {
    const { text, name = '', values = [] } = this.#pending.query;
    const { state, columns } = this.#prepared;
    this.#isFirst = state !== 'prepared';
    if (state === 'uncertain') connection.close({ type: 'S', name });
    if (this.#isFirst) connection.parse({ text, name });
    connection.bind({ portal: '', statement: name, values, valueMapper: parameterOf });
    if (!columns) connection.describe({ type: 'P', name: '' });
    connection.execute({ portal: '' });
    this.#prepared.state = 'prepared';
  }

  describe(columns: Columns): void {
    this.#prepared.columns = columns;
  }

  add(cells: (string | null)[]): void {
    const { each, blank } = this.#prepared.columns ?? NO_COLUMNS;
    const row = { ...blank };
    for (const [i, { name, parse }] of each.entries()) {
      const text = cells[i] ?? null;
      if (text !== null) row[name] = parse(text);
    }
    this.#result.rows.push(row);
  }

  /** `tag`: the command and, for some, the number of rows. */
  complete(tag: string): void {
    this.#prepared.columns ??= NO_COLUMNS;
    const rows = / (\d+)$/.exec(tag);
    if (rows) this.#result.rowCount = Number(rows[1]);
  }

  succeed(): void {
    this.#pending.resolve(this.#result);
  }

  fail(error: unknown): void {
    if (this.#isFirst) this.#prepared.state = 'uncertain';
    this.#pending.reject(error);
  }
}

/** Texts are sent in the text format, buffers in the binary one. */
function parameterOf(value: unknown): string | Buffer | null {
  if (value === null || value === undefined) return null;
  if (ArrayBuffer.isView(value)) return Buffer.from(value.buffer, value.byteOffset, value.byteLength);
  return String(value);
}
