import { refuseDelete, refuseUpdate, TEXT } from './refusals.ts';

/**
 * The contents of the JSON files of a data folder: accounts, keys and settings; and sessions, the record of acts and the last use
 * of each key, as in `../sqlite/sign-in-schema.ts`.
 */
export const ACCOUNT_SCHEMA: string = `
CREATE TABLE accounts (
  account_id ${TEXT} PRIMARY KEY CHECK (account_id <> ''),
  email ${TEXT} NOT NULL,
  created_at_ms bigint NOT NULL,
  disabled_at_ms bigint,
  deleted_at_ms bigint,
  password_hash ${TEXT},
  role ${TEXT} CHECK (role IN ('admin', 'member')),
  max_queued bigint CHECK (max_queued >= 1),
  checksum bigint NOT NULL,
  address ${TEXT} CHECK ((address IS NULL) = (email = ''))
);
CREATE UNIQUE INDEX one_account_of_address ON accounts (address);
CREATE INDEX accounts_by_age ON accounts (created_at_ms, account_id) WHERE address IS NOT NULL;
${refuseUpdate(
  'accounts_keep_their_ids',
  'accounts',
  'NEW.account_id <> OLD.account_id OR NEW.created_at_ms <> OLD.created_at_ms',
  'the id and the age of an account do not change',
)}
${refuseDelete('accounts_stay', 'accounts', 'an account stays')}

CREATE TABLE api_keys (
  key_id ${TEXT} PRIMARY KEY CHECK (key_id <> ''),
  account_id ${TEXT} NOT NULL,
  name ${TEXT} NOT NULL,
  prefix ${TEXT} NOT NULL,
  hash ${TEXT} NOT NULL UNIQUE CHECK (length(hash) = 64),
  webhook_url ${TEXT},
  webhook_secret_sealed ${TEXT} NOT NULL,
  created_at_ms bigint NOT NULL,
  revoked_at_ms bigint,
  checksum bigint NOT NULL
);
CREATE INDEX api_keys_by_age ON api_keys (created_at_ms, key_id);
CREATE INDEX api_keys_of_account ON api_keys (account_id, created_at_ms, key_id);
${refuseUpdate(
  'api_keys_keep_their_account',
  'api_keys',
  `NEW.key_id <> OLD.key_id OR NEW.account_id <> OLD.account_id OR NEW.hash <> OLD.hash
  OR NEW.created_at_ms <> OLD.created_at_ms`,
  'a key, its account and its age do not change',
)}
${refuseDelete('api_keys_stay', 'api_keys', 'a key stays')}

CREATE TABLE settings (
  settings_id bigint PRIMARY KEY CHECK (settings_id = 1),
  queue_paused_at_ms bigint,
  checksum bigint NOT NULL
);

CREATE TABLE sessions (
  token_hash ${TEXT} PRIMARY KEY CHECK (length(token_hash) = 64),
  account_id ${TEXT} NOT NULL,
  created_at_ms bigint NOT NULL,
  expires_at_ms bigint NOT NULL,
  checksum bigint NOT NULL
);
CREATE INDEX sessions_of_account ON sessions (account_id);
CREATE INDEX sessions_by_expiry ON sessions (expires_at_ms);
${refuseUpdate(
  'sessions_keep_their_account',
  'sessions',
  'NEW.token_hash <> OLD.token_hash OR NEW.account_id <> OLD.account_id OR NEW.created_at_ms <> OLD.created_at_ms',
  'only the expiry of a session changes',
)}

CREATE TABLE acts (
  act_id ${TEXT} PRIMARY KEY,
  at_ms bigint NOT NULL,
  actor ${TEXT},
  action ${TEXT} NOT NULL CHECK (action <> ''),
  subject ${TEXT},
  address ${TEXT},
  checksum bigint NOT NULL
);
CREATE INDEX acts_of_actor ON acts (actor, act_id) WHERE actor IS NOT NULL;
${refuseUpdate(
  'acts_stay_as_they_are',
  'acts',
  `NEW.act_id <> OLD.act_id OR NEW.at_ms <> OLD.at_ms OR NEW.actor IS DISTINCT FROM OLD.actor
  OR NEW.action <> OLD.action OR NEW.subject IS DISTINCT FROM OLD.subject OR NEW.address IS NOT NULL`,
  'an act does not change',
)}
${refuseDelete('acts_stay', 'acts', 'an act stays')}

CREATE TABLE key_uses (
  key_id ${TEXT} PRIMARY KEY,
  used_at_ms bigint NOT NULL,
  checksum bigint NOT NULL
);
${refuseUpdate('key_uses_grow', 'key_uses', 'NEW.used_at_ms < OLD.used_at_ms', 'a use replaces an earlier one')}
`;
