DROP TRIGGER jobs_end_once;
ALTER TABLE jobs ADD COLUMN relabeled_at_ms INTEGER;
CREATE INDEX jobs_relabeled ON jobs (relabeled_at_ms) WHERE relabeled_at_ms IS NOT NULL;

CREATE TRIGGER jobs_keep_outcomes BEFORE UPDATE ON jobs
WHEN OLD.phase IN ('completed', 'failed') AND (
  NEW.job_id <> OLD.job_id OR NEW.owner <> OLD.owner OR NEW.phase <> OLD.phase OR NEW.quality <> OLD.quality
  OR NEW.aspect_ratio <> OLD.aspect_ratio OR NEW.fps <> OLD.fps OR NEW.key_id IS NOT OLD.key_id
  OR NEW.reserve_credits <> OLD.reserve_credits OR NEW.attempts <> OLD.attempts
  OR NEW.interruptions IS NOT OLD.interruptions OR NEW.token IS NOT OLD.token
  OR NEW.created_at_ms <> OLD.created_at_ms OR NEW.started_at_ms IS NOT OLD.started_at_ms
  OR NEW.completed_at_ms <> OLD.completed_at_ms OR NEW.duration_ms IS NOT OLD.duration_ms
  OR NEW.credits_cost <> OLD.credits_cost OR NEW.artifacts <> OLD.artifacts
  OR NEW.failed_by IS NOT OLD.failed_by OR NEW.text_key_id <> OLD.text_key_id
  OR (NEW.forgotten_at_ms IS NULL AND (OLD.forgotten_at_ms IS NOT NULL OR (NEW.texts <> OLD.texts AND NEW.relabeled_at_ms IS NOT DISTINCT FROM OLD.relabeled_at_ms)))
)
BEGIN SELECT RAISE(ABORT, 'a job that is over does not change'); END;
