/** Deliveries of webhooks. They do not reference `jobs`: a recovery keeps the webhooks of a job that is lost. */
export const DELIVERY_TABLES: string = `
CREATE TABLE deliveries (
  delivery_id TEXT PRIMARY KEY,
  job_id TEXT NOT NULL,
  owner TEXT NOT NULL,
  key_id TEXT,
  secret_sealed TEXT,
  event TEXT NOT NULL CHECK (event IN ('completed', 'failed')),
  host TEXT NOT NULL,
  created_at_ms INTEGER NOT NULL,
  repeats TEXT,
  most_attempts INTEGER NOT NULL CHECK (most_attempts BETWEEN 1 AND 4),
  token INTEGER NOT NULL CHECK (token >= 0),
  attempts TEXT NOT NULL CHECK (json_array_length(attempts) <= most_attempts),
  due_at_ms INTEGER,
  delivered_at_ms INTEGER,
  checksum INTEGER NOT NULL,
  text_key_id INTEGER NOT NULL REFERENCES text_keys,
  texts BLOB NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX deliveries_of_owner ON deliveries (owner, delivery_id);
CREATE INDEX deliveries_of_job ON deliveries (job_id, delivery_id);
CREATE INDEX deliveries_with_secrets ON deliveries (delivery_id) WHERE secret_sealed IS NOT NULL;
CREATE UNIQUE INDEX one_automatic_delivery_of_job ON deliveries (job_id) WHERE repeats IS NULL;
-- Unfinished deliveries, by time: whether any is due; and by owner, host and time: one lookup finds each owner, each of its
-- hosts, and the first due delivery to it.
CREATE INDEX unfinished_by_time ON deliveries (due_at_ms) WHERE due_at_ms IS NOT NULL;
CREATE INDEX unfinished_by_host ON deliveries (owner, host, due_at_ms, delivery_id) WHERE due_at_ms IS NOT NULL;
CREATE TRIGGER deliveries_stay BEFORE DELETE ON deliveries
BEGIN SELECT RAISE(ABORT, 'a delivery stays'); END;
CREATE TRIGGER delivery_tokens_grow BEFORE UPDATE ON deliveries
WHEN NEW.token < OLD.token OR (OLD.due_at_ms IS NULL AND (NEW.due_at_ms IS NOT NULL OR NEW.token <> OLD.token))
BEGIN SELECT RAISE(ABORT, 'a claim on a delivery has a greater token, and one that is over is not claimed'); END;

CREATE TABLE delivery_bodies (
  delivery_id TEXT PRIMARY KEY REFERENCES deliveries,
  checksum INTEGER NOT NULL,
  text_key_id INTEGER NOT NULL REFERENCES text_keys,
  texts BLOB NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE delivery_exchanges (
  delivery_id TEXT PRIMARY KEY REFERENCES deliveries,
  checksum INTEGER NOT NULL,
  text_key_id INTEGER NOT NULL REFERENCES text_keys,
  texts BLOB NOT NULL
) STRICT, WITHOUT ROWID;
`;
