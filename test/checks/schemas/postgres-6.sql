
CREATE TABLE files (
  file_id text COLLATE "C" PRIMARY KEY,
  owner text COLLATE "C" NOT NULL,
  name text COLLATE "C" NOT NULL,
  phase text COLLATE "C" NOT NULL CHECK (phase IN ('storing', 'stored', 'sent', 'removed', 'discarding')),
  kind text COLLATE "C" NOT NULL,
  size_bytes bigint NOT NULL CHECK (size_bytes >= 0),
  sha256 text COLLATE "C" NOT NULL,
  content_id text COLLATE "C" NOT NULL,
  created_at_ms bigint NOT NULL,
  due_at_ms bigint,
  checksum bigint NOT NULL,
  CHECK ((phase = 'stored') = (due_at_ms IS NULL))
);
CREATE UNIQUE INDEX files_by_name ON files (owner, name) WHERE phase = 'stored';
CREATE INDEX files_by_content ON files (owner, sha256);
CREATE INDEX files_of_content ON files (content_id);
CREATE INDEX files_due ON files (due_at_ms) WHERE due_at_ms IS NOT NULL;
CREATE TABLE file_sets (
  set_id text COLLATE "C" PRIMARY KEY,
  owner text COLLATE "C" NOT NULL,
  entries text COLLATE "C" NOT NULL,
  checksum bigint NOT NULL,
  size bigint NOT NULL
);
CREATE INDEX file_sets_of_owner ON file_sets (owner, size);
CREATE TABLE set_files (
  file_id text COLLATE "C" NOT NULL,
  set_id text COLLATE "C" NOT NULL,
  PRIMARY KEY (file_id, set_id)
);
CREATE TABLE job_files (
  job_id text COLLATE "C" PRIMARY KEY,
  set_id text COLLATE "C" NOT NULL,
  checksum bigint NOT NULL
);
CREATE INDEX job_files_of_set ON job_files (set_id);

ALTER TABLE accounts ADD COLUMN max_files_mb bigint CHECK (max_files_mb >= 1);

ALTER TABLE accounts ADD COLUMN issuer text COLLATE "C";
ALTER TABLE accounts ADD COLUMN subject text COLLATE "C" CHECK ((subject IS NULL) = (issuer IS NULL));
CREATE UNIQUE INDEX one_account_of_identity ON accounts (issuer, subject);
