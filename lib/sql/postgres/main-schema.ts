import { REFUSE, refuseDelete, refuseUpdate, refuseUpdateOfSome, TEXT } from './refusals.ts';

/**
 * Tables, indexes for every listing, and constraints, as in `../sqlite/main-schema.ts`, which describes the columns.
 * Whole numbers are `bigint`: the numbers of the program have 53 bits.
 */
export const MAIN_SCHEMA: string = `
${REFUSE}
CREATE TABLE text_keys (
  text_key_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  content bytea NOT NULL CHECK (length(content) = 32)
);
${refuseUpdate(
  'text_keys_become_blank',
  'text_keys',
  "NEW.text_key_id <> OLD.text_key_id OR NEW.content <> decode(repeat('00', 32), 'hex')",
  'a text key is only made blank',
)}
${refuseDelete('text_keys_stay', 'text_keys', 'a text key stays')}

CREATE TABLE jobs (
  job_id ${TEXT} PRIMARY KEY,
  owner ${TEXT} NOT NULL,
  phase ${TEXT} NOT NULL CHECK (phase IN ('reserving', 'queued', 'running', 'settling', 'completed', 'failed')),
  quality ${TEXT} NOT NULL,
  aspect_ratio ${TEXT} NOT NULL,
  fps double precision NOT NULL,
  key_id ${TEXT},
  webhook_secret_sealed ${TEXT},
  reserve_credits bigint NOT NULL CHECK (reserve_credits >= 0),
  attempts bigint NOT NULL CHECK (attempts >= 0),
  interruptions bigint CHECK (interruptions > 0),
  token bigint CHECK (token > 0),
  created_at_ms bigint NOT NULL,
  started_at_ms bigint,
  completed_at_ms bigint,
  duration_ms bigint,
  credits_cost bigint NOT NULL CHECK (credits_cost >= 0),
  artifacts ${TEXT} NOT NULL,
  failed_by ${TEXT},
  forgotten_at_ms bigint,
  checksum bigint NOT NULL,
  has_outcome bigint NOT NULL,
  has_error bigint NOT NULL,
  text_key_id bigint NOT NULL REFERENCES text_keys,
  texts bytea NOT NULL,
  artifacts_removed_at_ms bigint,
  CHECK ((phase = 'settling')::int = has_outcome),
  CHECK ((phase IN ('completed', 'failed')) = (completed_at_ms IS NOT NULL)),
  CHECK ((phase = 'failed')::int = has_error),
  CHECK (credits_cost = 0 OR phase = 'completed')
);
CREATE INDEX jobs_of_owner ON jobs (owner, phase, job_id);
CREATE INDEX jobs_in_phase ON jobs (phase, job_id);
CREATE INDEX jobs_with_artifacts ON jobs (job_id)
  WHERE phase = 'completed' AND artifacts <> '[]' AND artifacts_removed_at_ms IS NULL;
CREATE INDEX jobs_with_secrets ON jobs (job_id) WHERE webhook_secret_sealed IS NOT NULL;

${refuseUpdateOfSome('jobs_end_once', 'jobs', {
  first: "OLD.phase IN ('completed', 'failed')",
  when: `NEW.job_id <> OLD.job_id OR NEW.owner <> OLD.owner OR NEW.phase <> OLD.phase OR NEW.quality <> OLD.quality
  OR NEW.aspect_ratio <> OLD.aspect_ratio OR NEW.fps <> OLD.fps OR NEW.key_id IS DISTINCT FROM OLD.key_id
  OR NEW.reserve_credits <> OLD.reserve_credits OR NEW.attempts <> OLD.attempts
  OR NEW.interruptions IS DISTINCT FROM OLD.interruptions OR NEW.token IS DISTINCT FROM OLD.token
  OR NEW.created_at_ms <> OLD.created_at_ms OR NEW.started_at_ms IS DISTINCT FROM OLD.started_at_ms
  OR NEW.completed_at_ms <> OLD.completed_at_ms OR NEW.duration_ms IS DISTINCT FROM OLD.duration_ms
  OR NEW.credits_cost <> OLD.credits_cost OR NEW.artifacts <> OLD.artifacts
  OR NEW.failed_by IS DISTINCT FROM OLD.failed_by OR NEW.text_key_id <> OLD.text_key_id
  OR (NEW.forgotten_at_ms IS NULL AND (OLD.forgotten_at_ms IS NOT NULL OR NEW.texts <> OLD.texts))`,
  message: 'a job that is over does not change',
})}
${refuseDelete('jobs_stay', 'jobs', 'only a job that was never visible is removed', "OLD.phase <> 'reserving'")}

CREATE TABLE sources (
  job_id ${TEXT} PRIMARY KEY REFERENCES jobs ON DELETE CASCADE,
  checksum bigint NOT NULL,
  text_key_id bigint NOT NULL REFERENCES text_keys,
  texts bytea NOT NULL
);
CREATE TABLE timelines (
  job_id ${TEXT} PRIMARY KEY REFERENCES jobs ON DELETE CASCADE,
  checksum bigint NOT NULL,
  text_key_id bigint NOT NULL REFERENCES text_keys,
  texts bytea NOT NULL
);

CREATE TABLE idempotent_requests (
  owner ${TEXT} NOT NULL,
  key_hash ${TEXT} NOT NULL,
  fingerprint ${TEXT} NOT NULL,
  job_id ${TEXT} NOT NULL REFERENCES jobs ON DELETE CASCADE,
  created_at_ms bigint NOT NULL,
  checksum bigint NOT NULL,
  PRIMARY KEY (owner, key_hash)
);
CREATE INDEX idempotent_requests_by_time ON idempotent_requests (created_at_ms);
CREATE INDEX idempotent_requests_of_job ON idempotent_requests (job_id);

CREATE TABLE deliveries (
  delivery_id ${TEXT} PRIMARY KEY,
  job_id ${TEXT} NOT NULL,
  owner ${TEXT} NOT NULL,
  key_id ${TEXT},
  secret_sealed ${TEXT},
  event ${TEXT} NOT NULL CHECK (event IN ('completed', 'failed')),
  host ${TEXT} NOT NULL,
  created_at_ms bigint NOT NULL,
  repeats ${TEXT},
  most_attempts bigint NOT NULL CHECK (most_attempts BETWEEN 1 AND 4),
  token bigint NOT NULL CHECK (token >= 0),
  attempts ${TEXT} NOT NULL CHECK (json_array_length(attempts::json) <= most_attempts),
  due_at_ms bigint,
  delivered_at_ms bigint,
  checksum bigint NOT NULL,
  text_key_id bigint NOT NULL REFERENCES text_keys,
  texts bytea NOT NULL
);
CREATE INDEX deliveries_of_owner ON deliveries (owner, delivery_id);
CREATE INDEX deliveries_of_job ON deliveries (job_id, delivery_id);
CREATE INDEX deliveries_with_secrets ON deliveries (delivery_id) WHERE secret_sealed IS NOT NULL;
CREATE UNIQUE INDEX one_automatic_delivery_of_job ON deliveries (job_id) WHERE repeats IS NULL;
${refuseDelete('deliveries_stay', 'deliveries', 'a delivery stays')}
${refuseUpdate(
  'delivery_tokens_grow',
  'deliveries',
  'NEW.token < OLD.token OR (OLD.due_at_ms IS NULL AND (NEW.due_at_ms IS NOT NULL OR NEW.token <> OLD.token))',
  'a claim on a delivery has a greater token, and one that is over is not claimed',
)}

CREATE TABLE delivery_bodies (
  delivery_id ${TEXT} PRIMARY KEY REFERENCES deliveries,
  checksum bigint NOT NULL,
  text_key_id bigint NOT NULL REFERENCES text_keys,
  texts bytea NOT NULL
);
CREATE TABLE delivery_exchanges (
  delivery_id ${TEXT} PRIMARY KEY REFERENCES deliveries,
  checksum bigint NOT NULL,
  text_key_id bigint NOT NULL REFERENCES text_keys,
  texts bytea NOT NULL
);

-- For lists, as in '../sqlite/list-schema.ts'.
CREATE INDEX ended_jobs_of_quality ON jobs (phase, quality, job_id)
  WHERE phase = 'completed' OR phase = 'failed';
CREATE INDEX ended_jobs_of_owner_and_quality ON jobs (owner, phase, quality, job_id)
  WHERE phase = 'completed' OR phase = 'failed';
CREATE INDEX deliveries_of_key ON deliveries (key_id, delivery_id) WHERE key_id IS NOT NULL;
CREATE INDEX pending_deliveries ON deliveries (delivery_id) WHERE due_at_ms IS NOT NULL;
CREATE INDEX pending_of_owner ON deliveries (owner, delivery_id) WHERE due_at_ms IS NOT NULL;
CREATE INDEX pending_of_key ON deliveries (key_id, delivery_id) WHERE due_at_ms IS NOT NULL;
CREATE INDEX delivered_of_owner ON deliveries (owner, delivery_id) WHERE delivered_at_ms IS NOT NULL;
CREATE INDEX delivered_of_key ON deliveries (key_id, delivery_id) WHERE delivered_at_ms IS NOT NULL;
CREATE INDEX failed_deliveries ON deliveries (delivery_id) WHERE due_at_ms IS NULL AND delivered_at_ms IS NULL;
CREATE INDEX failed_of_owner ON deliveries (owner, delivery_id) WHERE due_at_ms IS NULL AND delivered_at_ms IS NULL;
CREATE INDEX failed_of_key ON deliveries (key_id, delivery_id) WHERE due_at_ms IS NULL AND delivered_at_ms IS NULL;
`;
