
CREATE TABLE snapshots (
  snapshot_id text COLLATE "C" PRIMARY KEY,
  owner text COLLATE "C" NOT NULL,
  phase text COLLATE "C" NOT NULL CHECK (phase IN ('drawing', 'settling', 'kept', 'removed')),
  reserve_credits bigint NOT NULL CHECK (reserve_credits >= 0),
  cost_credits bigint CHECK (cost_credits >= 0),
  created_at_ms bigint NOT NULL,
  due_at_ms bigint,
  files text COLLATE "C" NOT NULL,
  checksum bigint NOT NULL,
  CHECK ((phase = 'drawing') = (cost_credits IS NULL)),
  CHECK ((phase = 'removed') = (due_at_ms IS NULL))
);
CREATE INDEX snapshots_due ON snapshots (due_at_ms) WHERE due_at_ms IS NOT NULL;
CREATE INDEX snapshots_of_owner ON snapshots (owner) WHERE due_at_ms IS NOT NULL;
