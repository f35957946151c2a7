import { refuseTruncate, TEXT } from '../schema/postgres.ts';

/**
 * What only Postgres has: shared state of the processes of a service besides its data, as the check of the master key, and
 * the machines; and what its tables need to be fast.
 *
 * Times are those of the server. `installation`: which installation the data belongs to, once it has claimed an asset
 * store (`InstallationRecord`). `moved`: one row when the data was moved elsewhere. In `machines`, `settings`, `limits` and
 * `clock_ahead_ms` are what machines are compared by.
 */
export const CLUSTER_TABLES: string = `
CREATE TABLE master_keys (
  name ${TEXT} PRIMARY KEY CHECK (name IN ('check', 'next')),
  content ${TEXT} NOT NULL
);

CREATE TABLE installation (
  row_id bigint PRIMARY KEY CHECK (row_id = 1),
  installation_id ${TEXT} NOT NULL,
  place ${TEXT} NOT NULL,
  stamp bigint NOT NULL
);

CREATE TABLE moved (
  moved_id bigint PRIMARY KEY CHECK (moved_id = 1),
  target ${TEXT} NOT NULL
);

CREATE TABLE machines (
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
  drain_requested_at timestamptz,
  settings ${TEXT},
  limits ${TEXT},
  clock_ahead_ms bigint,
  works boolean NOT NULL DEFAULT true
) WITH (fillfactor = 50);

-- For workers that render some qualities only.
CREATE INDEX queued_of_quality ON jobs (quality, owner, job_id) WHERE phase = 'queued';

-- Space in its pages for new versions of its rows.
ALTER TABLE turns SET (fillfactor = 50);
${refuseTruncate('queue', 'jobs leave the queue when they end')}
`;
