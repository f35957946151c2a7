
DROP TRIGGER deliveries_become_due;
DROP TRIGGER deliveries_become_due_again;
DROP TRIGGER deliveries_end;
DROP TABLE due_deliveries;
DROP TABLE due_hosts;
DROP TABLE due_owners;

CREATE INDEX unfinished_by_time ON deliveries (due_at_ms) WHERE due_at_ms IS NOT NULL;
CREATE INDEX unfinished_by_host ON deliveries (owner, host, due_at_ms, delivery_id) WHERE due_at_ms IS NOT NULL;
