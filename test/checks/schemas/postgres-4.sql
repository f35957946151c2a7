
DROP TABLE due_deliveries, due_hosts, due_owners;
DROP FUNCTION deliveries_become_due, deliveries_become_due_again, deliveries_end, due_hosts_get_more, due_hosts_change,
  due_hosts_get_less, due_owners_get_more, due_owners_change, due_owners_get_less CASCADE;

CREATE INDEX unfinished_by_time ON deliveries (due_at_ms) WHERE due_at_ms IS NOT NULL;
CREATE INDEX unfinished_by_host ON deliveries (owner, host, due_at_ms, delivery_id) WHERE due_at_ms IS NOT NULL;
