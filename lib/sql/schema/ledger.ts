/** The ledger: no negative balances, one end per reserve, append-only entries. */
export const LEDGER_TABLES: string = `
CREATE TABLE ledger_accounts (
  owner TEXT PRIMARY KEY,
  period TEXT NOT NULL,
  checksum INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX ledger_accounts_by_period ON ledger_accounts (period, owner);

CREATE TABLE grants (
  owner TEXT NOT NULL REFERENCES ledger_accounts,
  grant_id TEXT NOT NULL,
  source TEXT NOT NULL CHECK (source IN ('free', 'paid')),
  period TEXT,
  remaining_credits INTEGER NOT NULL CHECK (remaining_credits >= 0),
  checksum INTEGER NOT NULL,
  is_spent INTEGER NOT NULL CHECK (is_spent IN (0, 1)),
  PRIMARY KEY (owner, grant_id),
  CHECK ((is_spent = 1) = (remaining_credits = 0)),
  CHECK ((source = 'free') = (period IS NOT NULL))
) STRICT, WITHOUT ROWID;
CREATE INDEX grants_with_credits ON grants (owner, source, grant_id) WHERE is_spent = 0;
CREATE TRIGGER grants_stay BEFORE DELETE ON grants
BEGIN SELECT RAISE(ABORT, 'a grant stays'); END;

CREATE TABLE ledger_entries (
  owner TEXT NOT NULL REFERENCES ledger_accounts,
  entry_id TEXT NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('grant', 'expiry', 'reserve', 'settle', 'void')),
  amount_credits INTEGER NOT NULL,
  charged_credits INTEGER NOT NULL CHECK (charged_credits >= 0),
  job_id TEXT,
  parts TEXT NOT NULL,
  note TEXT,
  at_ms INTEGER NOT NULL,
  checksum INTEGER NOT NULL,
  grant_id TEXT,
  PRIMARY KEY (owner, entry_id),
  CHECK ((kind = 'grant') = (grant_id IS NOT NULL)),
  CHECK ((kind IN ('reserve', 'settle', 'void')) = (job_id IS NOT NULL)),
  CHECK (charged_credits = 0 OR kind = 'settle')
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX one_entry_of_grant ON ledger_entries (owner, grant_id) WHERE grant_id IS NOT NULL;
CREATE UNIQUE INDEX one_reserve_and_end_of_job ON ledger_entries (job_id, (kind = 'reserve')) WHERE job_id IS NOT NULL;
CREATE TRIGGER ledger_entries_stay_as_they_are BEFORE UPDATE ON ledger_entries
BEGIN SELECT RAISE(ABORT, 'ledger entries are immutable'); END;
CREATE TRIGGER ledger_entries_stay BEFORE DELETE ON ledger_entries
BEGIN SELECT RAISE(ABORT, 'ledger entries are immutable'); END;
CREATE VIEW reserves AS
SELECT r.job_id, r.owner, -r.amount_credits AS reserved_credits,
  CASE e.kind WHEN 'settle' THEN 'settled' WHEN 'void' THEN 'voided' ELSE 'open' END AS state,
  coalesce(e.charged_credits, 0) AS charged_credits, coalesce(e.amount_credits, 0) AS returned_credits
FROM ledger_entries AS r LEFT JOIN ledger_entries AS e ON e.job_id = r.job_id AND e.kind IN ('settle', 'void')
WHERE r.kind = 'reserve';
`;
