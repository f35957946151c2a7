/**
 * Which completed jobs left a video whose frames a later render of the same scene can copy, until the artifacts are removed.
 * Class names are encrypted, so that jobs of a scene are found by a short digest, which others may have, too.
 */
export const VIDEO_INDEXES: string = `
ALTER TABLE jobs ADD COLUMN scene_digest INTEGER;
ALTER TABLE jobs ADD COLUMN index_digest TEXT;
CREATE INDEX jobs_of_scene ON jobs (scene_digest, job_id) WHERE scene_digest IS NOT NULL;
`;
