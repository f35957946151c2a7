
CREATE TABLE assignments (
  assignment_id TEXT PRIMARY KEY,
  owner TEXT NOT NULL,
  token_hash TEXT NOT NULL,
  class_link_id TEXT,
  created_at_ms INTEGER NOT NULL,
  expires_at_ms INTEGER,
  revoked_at_ms INTEGER,
  checksum INTEGER NOT NULL,
  text_key_id INTEGER NOT NULL REFERENCES text_keys,
  texts BLOB NOT NULL
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX assignments_by_token ON assignments (token_hash);
CREATE INDEX assignments_of_owner ON assignments (owner, assignment_id);
CREATE TABLE assignment_copies (
  assignment_id TEXT NOT NULL REFERENCES assignments,
  owner TEXT NOT NULL,
  scene_id TEXT NOT NULL REFERENCES scenes,
  opened_at_ms INTEGER NOT NULL,
  checksum INTEGER NOT NULL,
  PRIMARY KEY (assignment_id, owner)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX assignment_of_scene ON assignment_copies (scene_id);
CREATE TABLE class_links (
  class_link_id TEXT PRIMARY KEY,
  owner TEXT NOT NULL,
  token_hash TEXT NOT NULL,
  seats INTEGER NOT NULL CHECK (seats >= 1),
  credits_per_seat INTEGER NOT NULL CHECK (credits_per_seat >= 0),
  created_at_ms INTEGER NOT NULL,
  expires_at_ms INTEGER,
  revoked_at_ms INTEGER,
  checksum INTEGER NOT NULL,
  text_key_id INTEGER NOT NULL REFERENCES text_keys,
  texts BLOB NOT NULL
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX class_links_by_token ON class_links (token_hash);
CREATE INDEX class_links_of_owner ON class_links (owner, class_link_id);
CREATE TABLE class_seats (
  class_link_id TEXT NOT NULL REFERENCES class_links,
  account_id TEXT NOT NULL,
  taken_at_ms INTEGER NOT NULL,
  joined_at_ms INTEGER,
  checksum INTEGER NOT NULL,
  PRIMARY KEY (class_link_id, account_id)
) STRICT, WITHOUT ROWID;
