/**
 * The queue: a row of `queue` for each waiting or running job, and a row of `turns` for each owner of one.
 *
 * `ready` counts waiting jobs that are not suspects. Triggers maintain the counts, so they cannot diverge from the
 * rows. A claim moves its owner behind all others, in the update that counts it; otherwise the program sets the turns.
 * `precedence`: 0 in good standing, 1 not; plus 2 for owners that yield. `is_ready` is for the index: what most updates of
 * the counts do not change.
 */
export const QUEUE_SCHEMA: string = `
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
  is_ready INTEGER GENERATED ALWAYS AS (ready > 0) VIRTUAL
) STRICT, WITHOUT ROWID;
CREATE INDEX turns_in_order ON turns (turn);
CREATE INDEX turns_to_serve ON turns (precedence, turn, running) WHERE is_ready = 1;
CREATE TABLE queue_totals (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  waiting INTEGER NOT NULL CHECK (waiting >= 0),
  running INTEGER NOT NULL CHECK (running >= 0),
  owners INTEGER NOT NULL CHECK (owners BETWEEN 0 AND waiting)
) STRICT;
INSERT INTO queue_totals VALUES (1, 0, 0, 0);

CREATE TRIGGER queue_counts_more AFTER INSERT ON queue
BEGIN
  INSERT INTO turns VALUES (
    NEW.owner, coalesce((SELECT turn FROM turns ORDER BY turn DESC LIMIT 1), 0) + 1, 0,
    NEW.worker IS NULL, NEW.worker IS NULL AND NEW.not_before_ms IS NULL, NEW.worker IS NOT NULL
  ) ON CONFLICT (owner) DO UPDATE
    SET waiting = waiting + excluded.waiting, ready = ready + excluded.ready, running = running + excluded.running;
END;
CREATE TRIGGER queue_counts_anew AFTER UPDATE OF worker, not_before_ms ON queue
WHEN (NEW.worker IS NULL) <> (OLD.worker IS NULL) OR (NEW.not_before_ms IS NULL) <> (OLD.not_before_ms IS NULL)
BEGIN
  UPDATE turns SET waiting = waiting + (NEW.worker IS NULL) - (OLD.worker IS NULL),
    ready = ready + (NEW.worker IS NULL AND NEW.not_before_ms IS NULL)
      - (OLD.worker IS NULL AND OLD.not_before_ms IS NULL),
    running = running + (NEW.worker IS NOT NULL) - (OLD.worker IS NOT NULL),
    turn = iif(OLD.worker IS NULL AND NEW.worker IS NOT NULL,
      (SELECT turn FROM turns ORDER BY turn DESC LIMIT 1) + 1, turn)
  WHERE owner = NEW.owner;
END;
CREATE TRIGGER queue_counts_less AFTER DELETE ON queue
BEGIN
  UPDATE turns SET waiting = waiting - (OLD.worker IS NULL),
    ready = ready - (OLD.worker IS NULL AND OLD.not_before_ms IS NULL), running = running - (OLD.worker IS NOT NULL)
  WHERE owner = OLD.owner;
  DELETE FROM turns WHERE owner = OLD.owner AND waiting = 0 AND running = 0;
END;
CREATE TRIGGER first_turns_add_up AFTER INSERT ON turns
BEGIN
  UPDATE queue_totals SET waiting = waiting + NEW.waiting, running = running + NEW.running,
    owners = owners + (NEW.waiting > 0);
END;
CREATE TRIGGER turns_add_up AFTER UPDATE OF waiting, running ON turns
BEGIN
  UPDATE queue_totals SET waiting = waiting + NEW.waiting - OLD.waiting, running = running + NEW.running - OLD.running,
    owners = owners + (NEW.waiting > 0) - (OLD.waiting > 0);
END;
`;
