/**
 * Indexes of the filters of lists, and of what an account was charged in a period. Ended jobs are added to an index once;
 * the others are few.
 */
export const LIST_INDEXES: string = `
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

CREATE INDEX charges_of_owner ON ledger_entries (owner, at_ms, charged_credits) WHERE kind = 'settle';
`;
