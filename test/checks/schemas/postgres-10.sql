
CREATE TABLE assignments (
  assignment_id text COLLATE "C" PRIMARY KEY,
  owner text COLLATE "C" NOT NULL,
  token_hash text COLLATE "C" NOT NULL,
  class_link_id text COLLATE "C",
  created_at_ms bigint NOT NULL,
  expires_at_ms bigint,
  revoked_at_ms bigint,
  checksum bigint NOT NULL,
  text_key_id bigint NOT NULL REFERENCES text_keys,
  texts bytea NOT NULL
);
CREATE UNIQUE INDEX assignments_by_token ON assignments (token_hash);
CREATE INDEX assignments_of_owner ON assignments (owner, assignment_id);
CREATE TABLE assignment_copies (
  assignment_id text COLLATE "C" NOT NULL REFERENCES assignments,
  owner text COLLATE "C" NOT NULL,
  scene_id text COLLATE "C" NOT NULL REFERENCES scenes,
  opened_at_ms bigint NOT NULL,
  checksum bigint NOT NULL,
  PRIMARY KEY (assignment_id, owner)
);
CREATE UNIQUE INDEX assignment_of_scene ON assignment_copies (scene_id);
CREATE TABLE class_links (
  class_link_id text COLLATE "C" PRIMARY KEY,
  owner text COLLATE "C" NOT NULL,
  token_hash text COLLATE "C" NOT NULL,
  seats bigint NOT NULL CHECK (seats >= 1),
  credits_per_seat bigint NOT NULL CHECK (credits_per_seat >= 0),
  created_at_ms bigint NOT NULL,
  expires_at_ms bigint,
  revoked_at_ms bigint,
  checksum bigint NOT NULL,
  text_key_id bigint NOT NULL REFERENCES text_keys,
  texts bytea NOT NULL
);
CREATE UNIQUE INDEX class_links_by_token ON class_links (token_hash);
CREATE INDEX class_links_of_owner ON class_links (owner, class_link_id);
CREATE TABLE class_seats (
  class_link_id text COLLATE "C" NOT NULL REFERENCES class_links,
  account_id text COLLATE "C" NOT NULL,
  taken_at_ms bigint NOT NULL,
  joined_at_ms bigint,
  checksum bigint NOT NULL,
  PRIMARY KEY (class_link_id, account_id)
);
