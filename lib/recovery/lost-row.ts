/** A row that cannot be saved. */
export interface LostRow {
  /** The table that contained it. */
  table: string;
  /** Its key. */
  key: string;
  /** Why it cannot be saved. */
  reason: string;
}
