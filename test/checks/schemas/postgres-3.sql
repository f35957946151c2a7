
ALTER TABLE machines SET LOGGED;
ALTER TABLE machines
  ADD COLUMN settings text COLLATE "C",
  ADD COLUMN limits text COLLATE "C",
  ADD COLUMN clock_ahead_ms bigint,
  ADD COLUMN works boolean NOT NULL DEFAULT true;
