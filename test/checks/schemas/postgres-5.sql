
ALTER TABLE api_keys ADD COLUMN scopes text COLLATE "C";
ALTER TABLE api_keys ADD COLUMN expires_at_ms bigint;
