/**
 * A claim moves its owner behind all others, in the update that counts it. `is_ready` is for the index: what most
 * updates of the counts do not change.
 */
export const TURN_SCHEMA: string = `
ALTER TABLE turns ADD COLUMN is_ready INTEGER GENERATED ALWAYS AS (ready > 0) VIRTUAL;
DROP INDEX turns_to_serve;
CREATE INDEX turns_to_serve ON turns (precedence, turn, running) WHERE is_ready = 1;
DROP TRIGGER queue_counts_anew;
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
`;
