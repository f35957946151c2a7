/** The first turn of an owner's hosts, with one index lookup per pace. */
const firstTurnOf = (row: 'NEW' | 'OLD'): string => {
  const each = [0, 1, 2, 3].map(
    (pace) => `SELECT min(turn_ms) AS turn_ms FROM due_hosts WHERE owner = ${row}.owner AND pace = ${pace}`,
  );
  return `(SELECT min(turn_ms) FROM (${each.join(' UNION ALL ')}) AS firsts)`;
};

/**
 * The schedule of deliveries: a row of `due_deliveries` for each unfinished delivery, of `due_hosts` for each owner
 * and host of these, and of `due_owners` for each owner. Triggers derive the rows from `deliveries`; the program sets
 * turns and paces (0 quick, 1 new, 2 slow, 3 unknown).
 *
 * A turn is a time: that of the first delivery, or when the host or owner was last served, whichever is later. The
 * next turn is found by one index lookup, and an owner that was served goes behind all that were due before. Turns in the
 * same millisecond are ordered by their number.
 */
export const DUE_SCHEMA: string = `
CREATE TABLE due_deliveries (
  delivery_id TEXT PRIMARY KEY REFERENCES deliveries,
  owner TEXT NOT NULL,
  host TEXT NOT NULL,
  due_at_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX due_to_host ON due_deliveries (owner, host, due_at_ms, delivery_id);
CREATE INDEX due_in_order ON due_deliveries (due_at_ms);

CREATE TABLE due_hosts (
  owner TEXT NOT NULL,
  host TEXT NOT NULL,
  pace INTEGER NOT NULL CHECK (pace BETWEEN 0 AND 3),
  turn_ms INTEGER NOT NULL,
  turn_number INTEGER NOT NULL,
  PRIMARY KEY (owner, host)
) STRICT, WITHOUT ROWID;
CREATE INDEX due_hosts_in_turn ON due_hosts (owner, pace, turn_ms, turn_number, host);

CREATE TABLE due_owners (
  owner TEXT PRIMARY KEY,
  turn_ms INTEGER NOT NULL,
  turn_number INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX due_owners_in_turn ON due_owners (turn_ms, turn_number, owner);

CREATE TRIGGER deliveries_become_due AFTER INSERT ON deliveries WHEN NEW.due_at_ms IS NOT NULL
BEGIN INSERT INTO due_deliveries VALUES (NEW.delivery_id, NEW.owner, NEW.host, NEW.due_at_ms); END;
CREATE TRIGGER deliveries_become_due_again AFTER UPDATE OF due_at_ms ON deliveries WHEN NEW.due_at_ms <> OLD.due_at_ms
BEGIN UPDATE due_deliveries SET due_at_ms = NEW.due_at_ms WHERE delivery_id = NEW.delivery_id; END;
CREATE TRIGGER deliveries_end AFTER UPDATE OF due_at_ms ON deliveries
WHEN NEW.due_at_ms IS NULL AND OLD.due_at_ms IS NOT NULL
BEGIN DELETE FROM due_deliveries WHERE delivery_id = NEW.delivery_id; END;

CREATE TRIGGER due_hosts_get_more AFTER INSERT ON due_deliveries
BEGIN
  INSERT INTO due_hosts VALUES (NEW.owner, NEW.host, 3, NEW.due_at_ms, 0)
  ON CONFLICT (owner, host) DO UPDATE SET turn_ms = NEW.due_at_ms, turn_number = 0 WHERE turn_ms > NEW.due_at_ms;
END;
CREATE TRIGGER due_hosts_change AFTER UPDATE OF due_at_ms ON due_deliveries
BEGIN
  UPDATE due_hosts SET turn_ms = NEW.due_at_ms, turn_number = 0
  WHERE owner = NEW.owner AND host = NEW.host AND turn_ms > NEW.due_at_ms;
  UPDATE due_hosts SET turn_ms = (SELECT min(due_at_ms) FROM due_deliveries WHERE owner = NEW.owner AND host = NEW.host), turn_number = 0
  WHERE owner = NEW.owner AND host = NEW.host
    AND turn_ms < (SELECT min(due_at_ms) FROM due_deliveries WHERE owner = NEW.owner AND host = NEW.host);
END;
CREATE TRIGGER due_hosts_get_less AFTER DELETE ON due_deliveries
BEGIN
  DELETE FROM due_hosts WHERE owner = OLD.owner AND host = OLD.host
    AND NOT EXISTS (SELECT 1 FROM due_deliveries WHERE owner = OLD.owner AND host = OLD.host);
  UPDATE due_hosts SET turn_ms = (SELECT min(due_at_ms) FROM due_deliveries WHERE owner = OLD.owner AND host = OLD.host), turn_number = 0
  WHERE owner = OLD.owner AND host = OLD.host
    AND turn_ms < (SELECT min(due_at_ms) FROM due_deliveries WHERE owner = OLD.owner AND host = OLD.host);
END;

CREATE TRIGGER due_owners_get_more AFTER INSERT ON due_hosts
BEGIN
  INSERT INTO due_owners VALUES (NEW.owner, NEW.turn_ms, 0)
  ON CONFLICT (owner) DO UPDATE SET turn_ms = NEW.turn_ms, turn_number = 0 WHERE turn_ms > NEW.turn_ms;
END;
CREATE TRIGGER due_owners_change AFTER UPDATE OF turn_ms ON due_hosts
BEGIN
  UPDATE due_owners SET turn_ms = NEW.turn_ms, turn_number = 0 WHERE owner = NEW.owner AND turn_ms > NEW.turn_ms;
  UPDATE due_owners SET turn_ms = ${firstTurnOf('NEW')}, turn_number = 0
  WHERE owner = NEW.owner AND turn_ms < ${firstTurnOf('NEW')};
END;
CREATE TRIGGER due_owners_get_less AFTER DELETE ON due_hosts
BEGIN
  DELETE FROM due_owners WHERE owner = OLD.owner
    AND NOT EXISTS (SELECT 1 FROM due_hosts WHERE owner = OLD.owner);
  UPDATE due_owners SET turn_ms = ${firstTurnOf('OLD')}, turn_number = 0
  WHERE owner = OLD.owner AND turn_ms < ${firstTurnOf('OLD')};
END;
`;

/** Removes it: the sender finds what is due by indexes, and knows itself whose turn it is. */
export const WITHOUT_DUE_SCHEMA: string = `
DROP TRIGGER deliveries_become_due;
DROP TRIGGER deliveries_become_due_again;
DROP TRIGGER deliveries_end;
DROP TABLE due_deliveries;
DROP TABLE due_hosts;
DROP TABLE due_owners;
`;
