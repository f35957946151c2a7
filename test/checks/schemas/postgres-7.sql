
CREATE TABLE shares (
  share_id text COLLATE "C" PRIMARY KEY,
  owner text COLLATE "C" NOT NULL,
  token_hash text COLLATE "C" NOT NULL,
  visibility text COLLATE "C" NOT NULL CHECK (visibility IN ('private', 'link', 'public')),
  allow_download bigint NOT NULL CHECK (allow_download IN (0, 1)),
  created_at_ms bigint NOT NULL,
  expires_at_ms bigint,
  revoked_at_ms bigint,
  checksum bigint NOT NULL,
  text_key_id bigint NOT NULL REFERENCES text_keys,
  texts bytea NOT NULL
);
CREATE UNIQUE INDEX shares_by_token ON shares (token_hash);
CREATE INDEX shares_of_owner ON shares (owner, share_id);
CREATE TABLE share_jobs (
  share_id text COLLATE "C" NOT NULL REFERENCES shares,
  place bigint NOT NULL CHECK (place >= 0),
  job_id text COLLATE "C" NOT NULL REFERENCES jobs,
  checksum bigint NOT NULL,
  PRIMARY KEY (share_id, place)
);
CREATE INDEX shares_of_job ON share_jobs (job_id, share_id);
CREATE TABLE share_views (
  share_id text COLLATE "C" PRIMARY KEY REFERENCES shares,
  views bigint NOT NULL CHECK (views >= 0),
  checksum bigint NOT NULL
);
