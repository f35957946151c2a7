/** Accounts, keys and settings. In Postgres only: a data folder has them in JSON files. */
export const ACCOUNT_TABLES: string = `
CREATE TABLE accounts (
  account_id TEXT PRIMARY KEY CHECK (account_id <> ''),
  email TEXT NOT NULL,
  created_at_ms INTEGER NOT NULL,
  disabled_at_ms INTEGER,
  deleted_at_ms INTEGER,
  password_hash TEXT,
  role TEXT CHECK (role IN ('admin', 'member')),
  max_queued INTEGER CHECK (max_queued >= 1),
  checksum INTEGER NOT NULL,
  address TEXT CHECK ((address IS NULL) = (email = ''))
) STRICT;
CREATE UNIQUE INDEX one_account_of_address ON accounts (address);
CREATE INDEX accounts_by_age ON accounts (created_at_ms, account_id) WHERE address IS NOT NULL;
CREATE TRIGGER accounts_keep_their_ids BEFORE UPDATE ON accounts
WHEN NEW.account_id <> OLD.account_id OR NEW.created_at_ms <> OLD.created_at_ms
BEGIN SELECT RAISE(ABORT, 'the id and the age of an account do not change'); END;
CREATE TRIGGER accounts_stay BEFORE DELETE ON accounts
BEGIN SELECT RAISE(ABORT, 'an account stays'); END;

CREATE TABLE api_keys (
  key_id TEXT PRIMARY KEY CHECK (key_id <> ''),
  account_id TEXT NOT NULL,
  name TEXT NOT NULL,
  prefix TEXT NOT NULL,
  hash TEXT NOT NULL UNIQUE CHECK (length(hash) = 64),
  webhook_url TEXT,
  webhook_secret_sealed TEXT NOT NULL,
  created_at_ms INTEGER NOT NULL,
  revoked_at_ms INTEGER,
  checksum INTEGER NOT NULL
) STRICT;
CREATE INDEX api_keys_by_age ON api_keys (created_at_ms, key_id);
CREATE INDEX api_keys_of_account ON api_keys (account_id, created_at_ms, key_id);
CREATE TRIGGER api_keys_keep_their_account BEFORE UPDATE ON api_keys
WHEN NEW.key_id <> OLD.key_id OR NEW.account_id <> OLD.account_id OR NEW.hash <> OLD.hash
  OR NEW.created_at_ms <> OLD.created_at_ms
BEGIN SELECT RAISE(ABORT, 'a key, its account and its age do not change'); END;
CREATE TRIGGER api_keys_stay BEFORE DELETE ON api_keys
BEGIN SELECT RAISE(ABORT, 'a key stays'); END;

CREATE TABLE settings (
  settings_id INTEGER PRIMARY KEY CHECK (settings_id = 1),
  queue_paused_at_ms INTEGER,
  checksum INTEGER NOT NULL
) STRICT;
`;
