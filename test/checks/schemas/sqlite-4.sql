
CREATE TABLE snapshots (
  snapshot_id TEXT PRIMARY KEY,
  owner TEXT NOT NULL,
  phase TEXT NOT NULL CHECK (phase IN ('drawing', 'settling', 'kept', 'removed')),
  reserve_credits INTEGER NOT NULL CHECK (reserve_credits >= 0),
  cost_credits INTEGER CHECK (cost_credits >= 0),
  created_at_ms INTEGER NOT NULL,
  due_at_ms INTEGER,
  files TEXT NOT NULL,
  checksum INTEGER NOT NULL,
  CHECK ((phase = 'drawing') = (cost_credits IS NULL)),
  CHECK ((phase = 'removed') = (due_at_ms IS NULL))
) STRICT, WITHOUT ROWID;
CREATE INDEX snapshots_due ON snapshots (due_at_ms) WHERE due_at_ms IS NOT NULL;
CREATE INDEX snapshots_of_owner ON snapshots (owner) WHERE due_at_ms IS NOT NULL;
