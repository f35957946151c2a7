/** A row that cannot be saved. */
export interface LostRow {
  table: string;
  key: string;
  reason: string;
}
