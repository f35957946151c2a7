
ALTER TABLE jobs ADD COLUMN scene_digest bigint;
ALTER TABLE jobs ADD COLUMN index_digest text COLLATE "C";
CREATE INDEX jobs_of_scene ON jobs (scene_digest, job_id) WHERE scene_digest IS NOT NULL;
