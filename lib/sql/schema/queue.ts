/**
 * The queue: a row of `queue` for each waiting or running job, and a row of `turns` for each owner of one.
 *
 * `ready` counts waiting jobs that are not suspects. `precedence`: 0 in good standing, 1 not; plus 2 for owners that yield.
 * `is_ready` is for the index: it is what most updates of the counts do not change. No index contains a count, so that a
 * new or an ended job changes no index of the owner's row.
 */
export const QUEUE_TABLES: string = `
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
`;
