
ALTER TABLE accounts ADD COLUMN max_scenes bigint CHECK (max_scenes >= 1);
