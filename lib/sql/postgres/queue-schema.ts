import { refuseDelete, refuseUpdate, TEXT } from './refusals.ts';

/** Rows that share the totals of the queue. */
const SHARES = 64;

/**
 * The queue, as in `../sqlite/queue-schema.ts`: triggers maintain the counts in `turns`. No index contains a count, so that
 * a new or an ended job changes no index of the owner's row.
 *
 * The totals are in several rows, of which each connection changes one, and at its commit: every transaction that adds
 * or ends a job changes them, and would otherwise wait for the flush of the one before. A share may be negative; their
 * sum is not.
 */
export const QUEUE_SCHEMA: string = `
CREATE TABLE queue (
  job_id ${TEXT} PRIMARY KEY REFERENCES jobs,
  owner ${TEXT} NOT NULL,
  interruptions bigint NOT NULL CHECK (interruptions >= 0),
  not_before_ms bigint,
  token bigint NOT NULL CHECK (token >= 0),
  worker ${TEXT},
  lapses_at_ms bigint,
  checksum bigint NOT NULL,
  CHECK ((worker IS NULL) = (lapses_at_ms IS NULL)),
  CHECK (worker IS NULL OR (token > 0 AND not_before_ms IS NULL))
);
CREATE INDEX ready_of_owner ON queue (owner, job_id) WHERE worker IS NULL AND not_before_ms IS NULL;
CREATE INDEX waiting ON queue (job_id) WHERE worker IS NULL;
CREATE INDEX suspects ON queue (interruptions, job_id) WHERE worker IS NULL AND not_before_ms IS NOT NULL;
CREATE INDEX claims ON queue (lapses_at_ms) WHERE worker IS NOT NULL;
${refuseUpdate(
  'tokens_grow',
  'queue',
  `NEW.job_id <> OLD.job_id OR NEW.owner <> OLD.owner OR NEW.token < OLD.token
  OR (OLD.worker IS NULL AND NEW.worker IS NOT NULL AND NEW.token = OLD.token)
  OR (OLD.worker IS NOT NULL AND NEW.worker IS NOT NULL AND (NEW.token <> OLD.token OR NEW.worker <> OLD.worker))`,
  'each claim of a job has a greater token',
)}
CREATE TRIGGER queue_not_emptied BEFORE TRUNCATE ON queue EXECUTE FUNCTION refuse('jobs leave the queue when they end');

CREATE TABLE turns (
  owner ${TEXT} PRIMARY KEY,
  turn bigint NOT NULL,
  precedence bigint NOT NULL CHECK (precedence BETWEEN 0 AND 3),
  waiting bigint NOT NULL CHECK (waiting >= 0),
  ready bigint NOT NULL CHECK (ready BETWEEN 0 AND waiting),
  running bigint NOT NULL CHECK (running >= 0),
  is_ready bigint GENERATED ALWAYS AS ((ready > 0)::int) STORED
) WITH (fillfactor = 50);
CREATE INDEX turns_in_order ON turns (turn);
CREATE INDEX turns_to_serve ON turns (precedence, turn) WHERE is_ready = 1;
${refuseDelete('turns_stay', 'turns', 'an owner has a turn while it has jobs', 'OLD.waiting > 0 OR OLD.running > 0')}

CREATE TABLE queue_shares (
  share bigint PRIMARY KEY,
  waiting bigint NOT NULL DEFAULT 0,
  running bigint NOT NULL DEFAULT 0,
  owners bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 50);
INSERT INTO queue_shares (share) SELECT generate_series(0, ${SHARES - 1});
${refuseDelete('queue_shares_stay', 'queue_shares', 'the totals of the queue stay')}
CREATE VIEW queue_totals AS
SELECT sum(waiting)::bigint AS waiting, sum(running)::bigint AS running, sum(owners)::bigint AS owners FROM queue_shares;

CREATE FUNCTION queue_counts_more() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  INSERT INTO turns AS t VALUES (
    NEW.owner, coalesce((SELECT turn FROM turns ORDER BY turn DESC LIMIT 1), 0) + 1, 0,
    (NEW.worker IS NULL)::int, (NEW.worker IS NULL AND NEW.not_before_ms IS NULL)::int, (NEW.worker IS NOT NULL)::int
  ) ON CONFLICT (owner) DO UPDATE
    SET waiting = t.waiting + excluded.waiting, ready = t.ready + excluded.ready, running = t.running + excluded.running;
  RETURN NULL;
END $$;
CREATE TRIGGER queue_counts_more AFTER INSERT ON queue FOR EACH ROW EXECUTE FUNCTION queue_counts_more();

CREATE FUNCTION queue_counts_anew() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  IF OLD.worker IS NULL AND NEW.worker IS NOT NULL THEN
    UPDATE turns SET waiting = waiting - 1, ready = ready - (OLD.not_before_ms IS NULL)::int, running = running + 1,
      turn = (SELECT turn FROM turns ORDER BY turn DESC LIMIT 1) + 1
    WHERE owner = NEW.owner;
  ELSE
    UPDATE turns SET waiting = waiting + (NEW.worker IS NULL)::int - (OLD.worker IS NULL)::int,
      ready = ready + (NEW.worker IS NULL AND NEW.not_before_ms IS NULL)::int
        - (OLD.worker IS NULL AND OLD.not_before_ms IS NULL)::int,
      running = running + (NEW.worker IS NOT NULL)::int - (OLD.worker IS NOT NULL)::int
    WHERE owner = NEW.owner;
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER queue_counts_anew AFTER UPDATE ON queue FOR EACH ROW
WHEN ((NEW.worker IS NULL) <> (OLD.worker IS NULL) OR (NEW.not_before_ms IS NULL) <> (OLD.not_before_ms IS NULL))
EXECUTE FUNCTION queue_counts_anew();

CREATE FUNCTION queue_counts_less() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
  jobs bigint;
BEGIN
  UPDATE turns SET waiting = waiting - (OLD.worker IS NULL)::int,
    ready = ready - (OLD.worker IS NULL AND OLD.not_before_ms IS NULL)::int,
    running = running - (OLD.worker IS NOT NULL)::int
  WHERE owner = OLD.owner RETURNING waiting + running INTO jobs;
  IF jobs = 0 THEN
    DELETE FROM turns WHERE owner = OLD.owner;
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER queue_counts_less AFTER DELETE ON queue FOR EACH ROW EXECUTE FUNCTION queue_counts_less();

CREATE FUNCTION turns_add_up() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
  waiting_before bigint := 0;
  running_before bigint := 0;
BEGIN
  IF TG_OP = 'UPDATE' THEN
    waiting_before := OLD.waiting;
    running_before := OLD.running;
  END IF;
  UPDATE queue_shares SET waiting = waiting + NEW.waiting - waiting_before,
    running = running + NEW.running - running_before,
    owners = owners + (NEW.waiting > 0)::int - (waiting_before > 0)::int
  WHERE share = pg_backend_pid() % ${SHARES};
  RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER first_turns_add_up AFTER INSERT ON turns DEFERRABLE INITIALLY DEFERRED
FOR EACH ROW EXECUTE FUNCTION turns_add_up();
CREATE CONSTRAINT TRIGGER turns_add_up AFTER UPDATE ON turns DEFERRABLE INITIALLY DEFERRED
FOR EACH ROW WHEN (NEW.waiting <> OLD.waiting OR NEW.running <> OLD.running) EXECUTE FUNCTION turns_add_up();
`;
