
CREATE TABLE files (
  file_id TEXT PRIMARY KEY,
  owner TEXT NOT NULL,
  name TEXT NOT NULL,
  phase TEXT NOT NULL CHECK (phase IN ('storing', 'stored', 'sent', 'removed', 'discarding')),
  kind TEXT NOT NULL,
  size_bytes INTEGER NOT NULL CHECK (size_bytes >= 0),
  sha256 TEXT NOT NULL,
  content_id TEXT NOT NULL,
  created_at_ms INTEGER NOT NULL,
  due_at_ms INTEGER,
  checksum INTEGER NOT NULL,
  CHECK ((phase = 'stored') = (due_at_ms IS NULL))
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX files_by_name ON files (owner, name) WHERE phase = 'stored';
CREATE INDEX files_by_content ON files (owner, sha256);
CREATE INDEX files_of_content ON files (content_id);
CREATE INDEX files_due ON files (due_at_ms) WHERE due_at_ms IS NOT NULL;
CREATE TABLE file_sets (
  set_id TEXT PRIMARY KEY,
  owner TEXT NOT NULL,
  entries TEXT NOT NULL,
  checksum INTEGER NOT NULL,
  size INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX file_sets_of_owner ON file_sets (owner, size);
CREATE TABLE set_files (
  file_id TEXT NOT NULL,
  set_id TEXT NOT NULL,
  PRIMARY KEY (file_id, set_id)
) STRICT, WITHOUT ROWID;
CREATE TABLE job_files (
  job_id TEXT PRIMARY KEY,
  set_id TEXT NOT NULL,
  checksum INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX job_files_of_set ON job_files (set_id);
