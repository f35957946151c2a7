
ALTER TABLE jobs ADD COLUMN earlier_job_id text COLLATE "C";
