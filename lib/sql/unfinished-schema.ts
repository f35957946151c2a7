/**
 * Indexes of unfinished deliveries, in the dialects of SQLite and Postgres: by time, to see whether any is due; and by
 * owner, host and time, in which the owners, their hosts and the first due delivery of each are found by one lookup each.
 */
export const UNFINISHED_SCHEMA: string = `
CREATE INDEX unfinished_by_time ON deliveries (due_at_ms) WHERE due_at_ms IS NOT NULL;
CREATE INDEX unfinished_by_host ON deliveries (owner, host, due_at_ms, delivery_id) WHERE due_at_ms IS NOT NULL;
`;
