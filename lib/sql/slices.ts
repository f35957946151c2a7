/** The texts of each row may have 200 KiB: reading, decrypting and parsing them takes up to a millisecond. */
const ROWS = 5;

/**
 * The rows of a list, up to `limit`: read a few at a time, so that large ones do not block the event loop for long. `read`:
 * the next rows after one; the first without it.
 */
export async function readInSlices<Row>(
  limit: number,
  read: (limit: number, last: Row | undefined) => Promise<Row[]>,
): Promise<Row[]> {
  const rows: Row[] = [];
  while (rows.length < limit) {
    const most = Math.min(ROWS, limit - rows.length);
    const next = await read(most, rows.at(-1));
    for (const row of next) rows.push(row);
    if (next.length < most) break;
  }
  return rows;
}
