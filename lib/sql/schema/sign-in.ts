/** Sessions of the dashboard, the record of acts, and the last use of each key. */
export const SIGN_IN_TABLES: string = `
CREATE TABLE sessions (
  token_hash TEXT PRIMARY KEY CHECK (length(token_hash) = 64),
  account_id TEXT NOT NULL,
  created_at_ms INTEGER NOT NULL,
  expires_at_ms INTEGER NOT NULL,
  checksum INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX sessions_of_account ON sessions (account_id);
CREATE INDEX sessions_by_expiry ON sessions (expires_at_ms);
CREATE TRIGGER sessions_keep_their_account BEFORE UPDATE ON sessions
WHEN NEW.token_hash <> OLD.token_hash OR NEW.account_id <> OLD.account_id OR NEW.created_at_ms <> OLD.created_at_ms
BEGIN SELECT RAISE(ABORT, 'only the expiry of a session changes'); END;

CREATE TABLE acts (
  act_id TEXT PRIMARY KEY,
  at_ms INTEGER NOT NULL,
  actor TEXT,
  action TEXT NOT NULL CHECK (action <> ''),
  subject TEXT,
  address TEXT,
  checksum INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX acts_of_actor ON acts (actor, act_id) WHERE actor IS NOT NULL;
CREATE TRIGGER acts_stay_as_they_are BEFORE UPDATE ON acts
WHEN NEW.act_id <> OLD.act_id OR NEW.at_ms <> OLD.at_ms OR NEW.actor IS NOT OLD.actor
  OR NEW.action <> OLD.action OR NEW.subject IS NOT OLD.subject OR NEW.address IS NOT NULL
BEGIN SELECT RAISE(ABORT, 'an act does not change'); END;
CREATE TRIGGER acts_stay BEFORE DELETE ON acts
BEGIN SELECT RAISE(ABORT, 'an act stays'); END;

-- With row ids: the index on key_id shows a damaged key_id, which no checksum would, because its row is not found.
CREATE TABLE key_uses (
  key_id TEXT PRIMARY KEY,
  used_at_ms INTEGER NOT NULL,
  checksum INTEGER NOT NULL
) STRICT;
CREATE TRIGGER key_uses_grow BEFORE UPDATE ON key_uses WHEN NEW.used_at_ms < OLD.used_at_ms
BEGIN SELECT RAISE(ABORT, 'a use replaces an earlier one'); END;
`;
