/** Links under which others watch videos. A link is found by the hash of its token; the token itself is among the texts. */
export const SHARES_TABLES: string = `
CREATE TABLE shares (
  share_id TEXT PRIMARY KEY,
  owner TEXT NOT NULL,
  token_hash TEXT NOT NULL,
  visibility TEXT NOT NULL CHECK (visibility IN ('private', 'link', 'public')),
  allow_download INTEGER NOT NULL CHECK (allow_download IN (0, 1)),
  created_at_ms INTEGER NOT NULL,
  expires_at_ms INTEGER,
  revoked_at_ms INTEGER,
  checksum INTEGER NOT NULL,
  text_key_id INTEGER NOT NULL REFERENCES text_keys,
  texts BLOB NOT NULL
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX shares_by_token ON shares (token_hash);
CREATE INDEX shares_of_owner ON shares (owner, share_id);
CREATE TABLE share_jobs (
  share_id TEXT NOT NULL REFERENCES shares,
  place INTEGER NOT NULL CHECK (place >= 0),
  job_id TEXT NOT NULL REFERENCES jobs,
  checksum INTEGER NOT NULL,
  PRIMARY KEY (share_id, place)
) STRICT, WITHOUT ROWID;
CREATE INDEX shares_of_job ON share_jobs (job_id, share_id);
CREATE TABLE share_views (
  share_id TEXT PRIMARY KEY REFERENCES shares,
  views INTEGER NOT NULL CHECK (views >= 0),
  checksum INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
`;
