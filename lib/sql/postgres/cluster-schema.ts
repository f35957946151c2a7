import { TEXT } from './refusals.ts';

/**
 * Shared state of the processes of a service besides its data: the check of the master key, and the machines.
 * Times are those of the server.
 */
export const CLUSTER_SCHEMA: string = `
CREATE TABLE master_keys (
  name ${TEXT} PRIMARY KEY CHECK (name IN ('check', 'next')),
  content ${TEXT} NOT NULL
);

-- One row when the data was moved elsewhere.
CREATE TABLE moved (
  moved_id bigint PRIMARY KEY CHECK (moved_id = 1),
  target ${TEXT} NOT NULL
);

-- For workers that render some qualities only.
CREATE INDEX queued_of_quality ON jobs (quality, owner, job_id) WHERE phase = 'queued';

CREATE UNLOGGED TABLE machines (
  machine_id ${TEXT} PRIMARY KEY,
  name ${TEXT} NOT NULL,
  roles ${TEXT} NOT NULL,
  qualities ${TEXT},
  version ${TEXT} NOT NULL,
  state ${TEXT} NOT NULL,
  workers bigint NOT NULL,
  busy_workers bigint NOT NULL,
  warm_workers bigint NOT NULL,
  started_at timestamptz NOT NULL,
  seen_at timestamptz NOT NULL,
  drain_requested_at timestamptz
) WITH (fillfactor = 50);
`;
