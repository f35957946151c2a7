/** A row that cannot be saved, or several. */
export interface LostRow {
  /** The table that contained it. */
  table: string;
  /** Its key; of rows that cannot be read, the keys between which they are. */
  key: string;
  /** Why it cannot be saved completely. */
  reason: string;
}

/** SQLite's message, because ours would advise to run a recovery. */
export function reasonOf(error: unknown): string {
  const { message, cause } = error as Error;
  const reason = cause instanceof Error ? cause.message : message;
  return reason === 'FOREIGN KEY constraint failed' ? 'what it belongs to is lost' : reason;
}
