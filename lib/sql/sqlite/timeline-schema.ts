/** The plays of each scene; see `main-schema.ts` for checksums and texts. */
export const TIMELINE_SCHEMA: string = `
CREATE TABLE timelines (
  job_id TEXT PRIMARY KEY REFERENCES jobs ON DELETE CASCADE,
  checksum INTEGER NOT NULL,
  text_key_id INTEGER NOT NULL REFERENCES text_keys,
  texts BLOB NOT NULL
) STRICT, WITHOUT ROWID;
`;
