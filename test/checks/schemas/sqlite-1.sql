
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

CREATE TABLE ledger_accounts (
  owner TEXT PRIMARY KEY,
  period TEXT NOT NULL,
  checksum INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX ledger_accounts_by_period ON ledger_accounts (period, owner);

CREATE TABLE grants (
  owner TEXT NOT NULL REFERENCES ledger_accounts,
  grant_id TEXT NOT NULL,
  source TEXT NOT NULL CHECK (source IN ('free', 'paid')),
  period TEXT,
  remaining_credits INTEGER NOT NULL CHECK (remaining_credits >= 0),
  checksum INTEGER NOT NULL,
  is_spent INTEGER NOT NULL CHECK (is_spent IN (0, 1)),
  PRIMARY KEY (owner, grant_id),
  CHECK ((is_spent = 1) = (remaining_credits = 0)),
  CHECK ((source = 'free') = (period IS NOT NULL))
) STRICT, WITHOUT ROWID;
CREATE INDEX grants_with_credits ON grants (owner, source, grant_id) WHERE is_spent = 0;
CREATE TRIGGER grants_stay BEFORE DELETE ON grants
BEGIN SELECT RAISE(ABORT, 'a grant stays'); END;

CREATE TABLE ledger_entries (
  owner TEXT NOT NULL REFERENCES ledger_accounts,
  entry_id TEXT NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('grant', 'expiry', 'reserve', 'settle', 'void')),
  amount_credits INTEGER NOT NULL,
  charged_credits INTEGER NOT NULL CHECK (charged_credits >= 0),
  job_id TEXT,
  parts TEXT NOT NULL,
  note TEXT,
  at_ms INTEGER NOT NULL,
  checksum INTEGER NOT NULL,
  grant_id TEXT,
  PRIMARY KEY (owner, entry_id),
  CHECK ((kind = 'grant') = (grant_id IS NOT NULL)),
  CHECK ((kind IN ('reserve', 'settle', 'void')) = (job_id IS NOT NULL)),
  CHECK (charged_credits = 0 OR kind = 'settle')
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX one_entry_of_grant ON ledger_entries (owner, grant_id) WHERE grant_id IS NOT NULL;
CREATE UNIQUE INDEX one_reserve_and_end_of_job ON ledger_entries (job_id, (kind = 'reserve')) WHERE job_id IS NOT NULL;
CREATE TRIGGER ledger_entries_stay_as_they_are BEFORE UPDATE ON ledger_entries
BEGIN SELECT RAISE(ABORT, 'ledger entries are immutable'); END;
CREATE TRIGGER ledger_entries_stay BEFORE DELETE ON ledger_entries
BEGIN SELECT RAISE(ABORT, 'ledger entries are immutable'); END;
CREATE VIEW reserves AS
SELECT r.job_id, r.owner, -r.amount_credits AS reserved_credits,
  CASE e.kind WHEN 'settle' THEN 'settled' WHEN 'void' THEN 'voided' ELSE 'open' END AS state,
  coalesce(e.charged_credits, 0) AS charged_credits, coalesce(e.amount_credits, 0) AS returned_credits
FROM ledger_entries AS r LEFT JOIN ledger_entries AS e ON e.job_id = r.job_id AND e.kind IN ('settle', 'void')
WHERE r.kind = 'reserve';

CREATE TABLE deliveries (
  delivery_id TEXT PRIMARY KEY,
  job_id TEXT NOT NULL,
  owner TEXT NOT NULL,
  key_id TEXT,
  secret_sealed TEXT,
  event TEXT NOT NULL CHECK (event IN ('completed', 'failed')),
  host TEXT NOT NULL,
  created_at_ms INTEGER NOT NULL,
  repeats TEXT,
  most_attempts INTEGER NOT NULL CHECK (most_attempts BETWEEN 1 AND 4),
  token INTEGER NOT NULL CHECK (token >= 0),
  attempts TEXT NOT NULL CHECK (json_array_length(attempts) <= most_attempts),
  due_at_ms INTEGER,
  delivered_at_ms INTEGER,
  checksum INTEGER NOT NULL,
  text_key_id INTEGER NOT NULL REFERENCES text_keys,
  texts BLOB NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX deliveries_of_owner ON deliveries (owner, delivery_id);
CREATE INDEX deliveries_of_job ON deliveries (job_id, delivery_id);
CREATE INDEX deliveries_with_secrets ON deliveries (delivery_id) WHERE secret_sealed IS NOT NULL;
CREATE UNIQUE INDEX one_automatic_delivery_of_job ON deliveries (job_id) WHERE repeats IS NULL;
-- Unfinished deliveries, by time: whether any is due; and by owner, host and time: one lookup finds each owner, each of its
-- hosts, and the first due delivery to it.
CREATE INDEX unfinished_by_time ON deliveries (due_at_ms) WHERE due_at_ms IS NOT NULL;
CREATE INDEX unfinished_by_host ON deliveries (owner, host, due_at_ms, delivery_id) WHERE due_at_ms IS NOT NULL;
CREATE TRIGGER deliveries_stay BEFORE DELETE ON deliveries
BEGIN SELECT RAISE(ABORT, 'a delivery stays'); END;
CREATE TRIGGER delivery_tokens_grow BEFORE UPDATE ON deliveries
WHEN NEW.token < OLD.token OR (OLD.due_at_ms IS NULL AND (NEW.due_at_ms IS NOT NULL OR NEW.token <> OLD.token))
BEGIN SELECT RAISE(ABORT, 'a claim on a delivery has a greater token, and one that is over is not claimed'); END;

CREATE TABLE delivery_bodies (
  delivery_id TEXT PRIMARY KEY REFERENCES deliveries,
  checksum INTEGER NOT NULL,
  text_key_id INTEGER NOT NULL REFERENCES text_keys,
  texts BLOB NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE delivery_exchanges (
  delivery_id TEXT PRIMARY KEY REFERENCES deliveries,
  checksum INTEGER NOT NULL,
  text_key_id INTEGER NOT NULL REFERENCES text_keys,
  texts BLOB NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE queue (
  job_id TEXT PRIMARY KEY REFERENCES jobs,
  owner TEXT NOT NULL,
  interruptions INTEGER NOT NULL CHECK (interruptions >= 0),
  not_before_ms INTEGER,
  token INTEGER NOT NULL CHECK (token >= 0),
  worker TEXT,
  lapses_at_ms INTEGER,
  checksum INTEGER NOT NULL,
  CHECK ((worker IS NULL) = (lapses_at_ms IS NULL)),
  CHECK (worker IS NULL OR (token > 0 AND not_before_ms IS NULL))
) STRICT, WITHOUT ROWID;
CREATE INDEX ready_of_owner ON queue (owner, job_id) WHERE worker IS NULL AND not_before_ms IS NULL;
CREATE INDEX suspects ON queue (interruptions, job_id) WHERE worker IS NULL AND not_before_ms IS NOT NULL;
CREATE INDEX claims ON queue (lapses_at_ms) WHERE worker IS NOT NULL;
CREATE TRIGGER tokens_grow BEFORE UPDATE ON queue
WHEN NEW.job_id <> OLD.job_id OR NEW.owner <> OLD.owner OR NEW.token < OLD.token
  OR (OLD.worker IS NULL AND NEW.worker IS NOT NULL AND NEW.token = OLD.token)
  OR (OLD.worker IS NOT NULL AND NEW.worker IS NOT NULL AND (NEW.token <> OLD.token OR NEW.worker <> OLD.worker))
BEGIN SELECT RAISE(ABORT, 'each claim of a job has a greater token'); END;

CREATE TABLE turns (
  owner TEXT PRIMARY KEY,
  turn INTEGER NOT NULL,
  precedence INTEGER NOT NULL CHECK (precedence BETWEEN 0 AND 3),
  waiting INTEGER NOT NULL CHECK (waiting >= 0),
  ready INTEGER NOT NULL CHECK (ready BETWEEN 0 AND waiting),
  running INTEGER NOT NULL CHECK (running >= 0),
  is_ready INTEGER GENERATED ALWAYS AS (CASE WHEN ready > 0 THEN 1 ELSE 0 END) VIRTUAL
) STRICT, WITHOUT ROWID;
CREATE INDEX turns_in_order ON turns (turn);
CREATE INDEX turns_to_serve ON turns (precedence, turn) WHERE is_ready = 1;
CREATE TRIGGER turns_stay BEFORE DELETE ON turns WHEN OLD.waiting > 0 OR OLD.running > 0
BEGIN SELECT RAISE(ABORT, 'an owner has a turn while it has jobs'); END;

CREATE TABLE sessions (
  token_hash TEXT PRIMARY KEY CHECK (length(token_hash) = 64),
  account_id TEXT NOT NULL,
  created_at_ms INTEGER NOT NULL,
  expires_at_ms INTEGER NOT NULL,
  checksum INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX sessions_of_account ON sessions (account_id);
CREATE INDEX sessions_by_expiry ON sessions (expires_at_ms);
CREATE TRIGGER sessions_keep_their_account BEFORE UPDATE ON sessions
WHEN NEW.token_hash <> OLD.token_hash OR NEW.account_id <> OLD.account_id OR NEW.created_at_ms <> OLD.created_at_ms
BEGIN SELECT RAISE(ABORT, 'only the expiry of a session changes'); END;

CREATE TABLE acts (
  act_id TEXT PRIMARY KEY,
  at_ms INTEGER NOT NULL,
  actor TEXT,
  action TEXT NOT NULL CHECK (action <> ''),
  subject TEXT,
  address TEXT,
  checksum INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX acts_of_actor ON acts (actor, act_id) WHERE actor IS NOT NULL;
CREATE TRIGGER acts_stay_as_they_are BEFORE UPDATE ON acts
WHEN NEW.act_id <> OLD.act_id OR NEW.at_ms <> OLD.at_ms OR NEW.actor IS NOT OLD.actor
  OR NEW.action <> OLD.action OR NEW.subject IS NOT OLD.subject OR NEW.address IS NOT NULL
BEGIN SELECT RAISE(ABORT, 'an act does not change'); END;
CREATE TRIGGER acts_stay BEFORE DELETE ON acts
BEGIN SELECT RAISE(ABORT, 'an act stays'); END;

-- With row ids: the index on key_id shows a damaged key_id, which no checksum would, because its row is not found.
CREATE TABLE key_uses (
  key_id TEXT PRIMARY KEY,
  used_at_ms INTEGER NOT NULL,
  checksum INTEGER NOT NULL
) STRICT;
CREATE TRIGGER key_uses_grow BEFORE UPDATE ON key_uses WHEN NEW.used_at_ms < OLD.used_at_ms
BEGIN SELECT RAISE(ABORT, 'a use replaces an earlier one'); END;

CREATE INDEX ended_jobs_of_quality ON jobs (phase, quality, job_id)
  WHERE phase = 'completed' OR phase = 'failed';
CREATE INDEX ended_jobs_of_owner_and_quality ON jobs (owner, phase, quality, job_id)
  WHERE phase = 'completed' OR phase = 'failed';

CREATE INDEX deliveries_of_key ON deliveries (key_id, delivery_id) WHERE key_id IS NOT NULL;
CREATE INDEX pending_deliveries ON deliveries (delivery_id) WHERE due_at_ms IS NOT NULL;
CREATE INDEX pending_of_owner ON deliveries (owner, delivery_id) WHERE due_at_ms IS NOT NULL;
CREATE INDEX pending_of_key ON deliveries (key_id, delivery_id) WHERE due_at_ms IS NOT NULL;
CREATE INDEX delivered_of_owner ON deliveries (owner, delivery_id) WHERE delivered_at_ms IS NOT NULL;
CREATE INDEX delivered_of_key ON deliveries (key_id, delivery_id) WHERE delivered_at_ms IS NOT NULL;
CREATE INDEX failed_deliveries ON deliveries (delivery_id) WHERE due_at_ms IS NULL AND delivered_at_ms IS NULL;
CREATE INDEX failed_of_owner ON deliveries (owner, delivery_id) WHERE due_at_ms IS NULL AND delivered_at_ms IS NULL;
CREATE INDEX failed_of_key ON deliveries (key_id, delivery_id) WHERE due_at_ms IS NULL AND delivered_at_ms IS NULL;

CREATE INDEX charges_of_owner ON ledger_entries (owner, at_ms, charged_credits) WHERE kind = 'settle';
