/** A page of a list. */
export interface Page {
  /** Maximum number of rows; default {@link DEFAULT_PAGE}. */
  limit?: number;
  /** Only rows after this one: the id of the last row of the previous page. */
  after?: string;
}

export const DEFAULT_PAGE = 50;

const LARGE_PAGE = 1000;

/** All rows of a list, read page by page. */
export async function* allPages<Row>(
  list: (page: Page) => Promise<Row[]>,
  idOf: (row: Row) => string,
): AsyncGenerator<Row> {
  for await (const page of pagesOf(list, idOf, LARGE_PAGE)) yield* page;
}

/** The pages of a list, each of up to `limit` rows. */
export async function* pagesOf<Row>(
  list: (page: Page) => Promise<Row[]>,
  idOf: (row: Row) => string,
  limit: number,
): AsyncGenerator<Row[]> {
  for (let after: string | undefined; ; ) {
    const page = await list({ limit, ...(after !== undefined && { after }) });
    yield page;
    const last = page.at(-1);
    if (last === undefined || page.length < limit) return;
    after = idOf(last);
  }
}

/** All rows of a list that limits its pages itself: `list` returns the next rows after an id, and none at the end. */
export async function* allRowsAfter<Row>(
  list: (after: string) => Promise<Row[]>,
  idOf: (row: Row) => string,
): AsyncGenerator<Row> {
  for (let after = ''; ; ) {
    const rows = await list(after);
    const last = rows.at(-1);
    if (last === undefined) return;
    yield* rows;
    after = idOf(last);
  }
}
