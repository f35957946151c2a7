/**
 * Jobs: tables, indexes for every listing, and constraints: a terminal job does not change, except for erasing its content.
 *
 * Part of the first migration, which is never edited. To add a column or an index, append a migration in
 * `../sqlite/schema.ts` and `../postgres/schema.ts`.
 *
 * `jobs_with_artifacts` starts with a constant column: otherwise SQLite's planner would choose `jobs_in_phase` and read all
 * terminal jobs.
 */
export const JOB_TABLES: string = `
CREATE TABLE text_keys (
  text_key_id INTEGER PRIMARY KEY,
  content BLOB NOT NULL CHECK (length(content) = 32)
) STRICT;
CREATE TRIGGER text_keys_become_blank BEFORE UPDATE ON text_keys
WHEN NEW.text_key_id <> OLD.text_key_id OR NEW.content <> zeroblob(32)
BEGIN SELECT RAISE(ABORT, 'a text key is only made blank'); END;
CREATE TRIGGER text_keys_stay BEFORE DELETE ON text_keys
BEGIN SELECT RAISE(ABORT, 'a text key stays'); END;

CREATE TABLE jobs (
  job_id TEXT PRIMARY KEY,
  owner TEXT NOT NULL,
  phase TEXT NOT NULL CHECK (phase IN ('reserving', 'queued', 'running', 'settling', 'completed', 'failed')),
  quality TEXT NOT NULL,
  aspect_ratio TEXT NOT NULL,
  fps REAL NOT NULL,
  key_id TEXT,
  webhook_secret_sealed TEXT,
  reserve_credits INTEGER NOT NULL CHECK (reserve_credits >= 0),
  attempts INTEGER NOT NULL CHECK (attempts >= 0),
  interruptions INTEGER CHECK (interruptions > 0),
  token INTEGER CHECK (token > 0),
  created_at_ms INTEGER NOT NULL,
  started_at_ms INTEGER,
  completed_at_ms INTEGER,
  duration_ms INTEGER,
  credits_cost INTEGER NOT NULL CHECK (credits_cost >= 0),
  artifacts TEXT NOT NULL,
  failed_by TEXT,
  forgotten_at_ms INTEGER,
  checksum INTEGER NOT NULL,
  has_outcome INTEGER NOT NULL CHECK (has_outcome IN (0, 1)),
  has_error INTEGER NOT NULL CHECK (has_error IN (0, 1)),
  text_key_id INTEGER NOT NULL REFERENCES text_keys,
  texts BLOB NOT NULL,
  artifacts_removed_at_ms INTEGER,
  CHECK ((phase = 'settling') = (has_outcome = 1)),
  CHECK ((phase IN ('completed', 'failed')) = (completed_at_ms IS NOT NULL)),
  CHECK ((phase = 'failed') = (has_error = 1)),
  CHECK (credits_cost = 0 OR phase = 'completed')
) STRICT, WITHOUT ROWID;
CREATE INDEX jobs_of_owner ON jobs (owner, phase, job_id);
CREATE INDEX jobs_in_phase ON jobs (phase, job_id);
CREATE INDEX jobs_with_artifacts ON jobs (phase, job_id)
  WHERE phase = 'completed' AND artifacts <> '[]' AND artifacts_removed_at_ms IS NULL;
CREATE INDEX jobs_with_secrets ON jobs (job_id) WHERE webhook_secret_sealed IS NOT NULL;

CREATE TRIGGER jobs_end_once BEFORE UPDATE ON jobs
WHEN OLD.phase IN ('completed', 'failed') AND (
  NEW.job_id <> OLD.job_id OR NEW.owner <> OLD.owner OR NEW.phase <> OLD.phase OR NEW.quality <> OLD.quality
  OR NEW.aspect_ratio <> OLD.aspect_ratio OR NEW.fps <> OLD.fps OR NEW.key_id IS NOT OLD.key_id
  OR NEW.reserve_credits <> OLD.reserve_credits OR NEW.attempts <> OLD.attempts
  OR NEW.interruptions IS NOT OLD.interruptions OR NEW.token IS NOT OLD.token
  OR NEW.created_at_ms <> OLD.created_at_ms OR NEW.started_at_ms IS NOT OLD.started_at_ms
  OR NEW.completed_at_ms <> OLD.completed_at_ms OR NEW.duration_ms IS NOT OLD.duration_ms
  OR NEW.credits_cost <> OLD.credits_cost OR NEW.artifacts <> OLD.artifacts
  OR NEW.failed_by IS NOT OLD.failed_by OR NEW.text_key_id <> OLD.text_key_id
  OR (NEW.forgotten_at_ms IS NULL AND (OLD.forgotten_at_ms IS NOT NULL OR NEW.texts <> OLD.texts))
)
BEGIN SELECT RAISE(ABORT, 'a job that is over does not change'); END;
CREATE TRIGGER jobs_stay BEFORE DELETE ON jobs WHEN OLD.phase <> 'reserving'
BEGIN SELECT RAISE(ABORT, 'only a job that was never visible is removed'); END;

CREATE TABLE sources (
  job_id TEXT PRIMARY KEY REFERENCES jobs ON DELETE CASCADE,
  checksum INTEGER NOT NULL,
  text_key_id INTEGER NOT NULL REFERENCES text_keys,
  texts BLOB NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE timelines (
  job_id TEXT PRIMARY KEY REFERENCES jobs ON DELETE CASCADE,
  checksum INTEGER NOT NULL,
  text_key_id INTEGER NOT NULL REFERENCES text_keys,
  texts BLOB NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE idempotent_requests (
  owner TEXT NOT NULL,
  key_hash TEXT NOT NULL,
  fingerprint TEXT NOT NULL,
  job_id TEXT NOT NULL REFERENCES jobs ON DELETE CASCADE,
  created_at_ms INTEGER NOT NULL,
  checksum INTEGER NOT NULL,
  PRIMARY KEY (owner, key_hash)
) STRICT, WITHOUT ROWID;
CREATE INDEX idempotent_requests_by_time ON idempotent_requests (created_at_ms);
CREATE INDEX idempotent_requests_of_job ON idempotent_requests (job_id);
`;
