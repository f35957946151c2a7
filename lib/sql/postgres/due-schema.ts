import { lockOf } from '../../postgres-database/locks.ts';
import { TEXT } from '../schema/postgres.ts';

/** The first turn of an owner's hosts, with one index lookup per pace. */
const firstTurnOf = (row: 'NEW' | 'OLD'): string => {
  const each = [0, 1, 2, 3].map(
    (pace) => `SELECT min(turn_ms) AS turn_ms FROM due_hosts WHERE owner = ${row}.owner AND pace = ${pace}`,
  );
  return `(SELECT min(turn_ms) FROM (${each.join(' UNION ALL ')}) AS firsts)`;
};

const firstDueOf = (row: 'NEW' | 'OLD'): string =>
  `(SELECT min(due_at_ms) FROM due_deliveries WHERE owner = ${row}.owner AND host = ${row}.host)`;

/** Waits for other transactions that change the owner's due deliveries: the following statements depend on them. */
const lockOwner = (row: 'NEW' | 'OLD'): string =>
  `PERFORM pg_advisory_xact_lock(${lockOf(`TG_TABLE_SCHEMA || ' due ' || ${row}.owner`)});`;

/** A trigger, and its function of the same name. */
function trigger(name: string, event: string, table: string, { when = '', body = '' }): string {
  return `
CREATE FUNCTION ${name}() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  ${body.trim()}
  RETURN NULL;
END $$;
CREATE TRIGGER ${name} AFTER ${event} ON ${table} FOR EACH ROW ${when && `WHEN (${when})`} EXECUTE FUNCTION ${name}();`;
}

/** The schedule of deliveries, as in `../sqlite/due-schema.ts`. */
export const DUE_SCHEMA: string = `
CREATE TABLE due_deliveries (
  delivery_id ${TEXT} PRIMARY KEY REFERENCES deliveries,
  owner ${TEXT} NOT NULL,
  host ${TEXT} NOT NULL,
  due_at_ms bigint NOT NULL
);
CREATE INDEX due_to_host ON due_deliveries (owner, host, due_at_ms, delivery_id);
CREATE INDEX due_in_order ON due_deliveries (due_at_ms);

CREATE TABLE due_hosts (
  owner ${TEXT} NOT NULL,
  host ${TEXT} NOT NULL,
  pace bigint NOT NULL CHECK (pace BETWEEN 0 AND 3),
  turn_ms bigint NOT NULL,
  turn_number bigint NOT NULL,
  PRIMARY KEY (owner, host)
);
CREATE INDEX due_hosts_in_turn ON due_hosts (owner, pace, turn_ms, turn_number, host);

CREATE TABLE due_owners (
  owner ${TEXT} PRIMARY KEY,
  turn_ms bigint NOT NULL,
  turn_number bigint NOT NULL
);
CREATE INDEX due_owners_in_turn ON due_owners (turn_ms, turn_number, owner);
${trigger('deliveries_become_due', 'INSERT', 'deliveries', {
  when: 'NEW.due_at_ms IS NOT NULL',
  body: 'INSERT INTO due_deliveries VALUES (NEW.delivery_id, NEW.owner, NEW.host, NEW.due_at_ms);',
})}
${trigger('deliveries_become_due_again', 'UPDATE', 'deliveries', {
  when: 'NEW.due_at_ms <> OLD.due_at_ms',
  body: 'UPDATE due_deliveries SET due_at_ms = NEW.due_at_ms WHERE delivery_id = NEW.delivery_id;',
})}
${trigger('deliveries_end', 'UPDATE', 'deliveries', {
  when: 'NEW.due_at_ms IS NULL AND OLD.due_at_ms IS NOT NULL',
  body: 'DELETE FROM due_deliveries WHERE delivery_id = NEW.delivery_id;',
})}
${trigger('due_hosts_get_more', 'INSERT', 'due_deliveries', {
  body: `
  ${lockOwner('NEW')}
  INSERT INTO due_hosts AS h VALUES (NEW.owner, NEW.host, 3, NEW.due_at_ms, 0)
  ON CONFLICT (owner, host) DO UPDATE SET turn_ms = NEW.due_at_ms, turn_number = 0 WHERE h.turn_ms > NEW.due_at_ms;`,
})}
${trigger('due_hosts_change', 'UPDATE', 'due_deliveries', {
  when: 'NEW.due_at_ms <> OLD.due_at_ms',
  body: `
  ${lockOwner('NEW')}
  UPDATE due_hosts SET turn_ms = NEW.due_at_ms, turn_number = 0
  WHERE owner = NEW.owner AND host = NEW.host AND turn_ms > NEW.due_at_ms;
  UPDATE due_hosts SET turn_ms = ${firstDueOf('NEW')}, turn_number = 0
  WHERE owner = NEW.owner AND host = NEW.host AND turn_ms < ${firstDueOf('NEW')};`,
})}
${trigger('due_hosts_get_less', 'DELETE', 'due_deliveries', {
  body: `
  ${lockOwner('OLD')}
  DELETE FROM due_hosts WHERE owner = OLD.owner AND host = OLD.host
    AND NOT EXISTS (SELECT 1 FROM due_deliveries WHERE owner = OLD.owner AND host = OLD.host);
  UPDATE due_hosts SET turn_ms = ${firstDueOf('OLD')}, turn_number = 0
  WHERE owner = OLD.owner AND host = OLD.host AND turn_ms < ${firstDueOf('OLD')};`,
})}
${trigger('due_owners_get_more', 'INSERT', 'due_hosts', {
  body: `
  INSERT INTO due_owners AS o VALUES (NEW.owner, NEW.turn_ms, 0)
  ON CONFLICT (owner) DO UPDATE SET turn_ms = NEW.turn_ms, turn_number = 0 WHERE o.turn_ms > NEW.turn_ms;`,
})}
${trigger('due_owners_change', 'UPDATE', 'due_hosts', {
  when: 'NEW.turn_ms <> OLD.turn_ms',
  body: `
  ${lockOwner('NEW')}
  UPDATE due_owners SET turn_ms = NEW.turn_ms, turn_number = 0 WHERE owner = NEW.owner AND turn_ms > NEW.turn_ms;
  UPDATE due_owners SET turn_ms = ${firstTurnOf('NEW')}, turn_number = 0
  WHERE owner = NEW.owner AND turn_ms < ${firstTurnOf('NEW')};`,
})}
${trigger('due_owners_get_less', 'DELETE', 'due_hosts', {
  body: `
  DELETE FROM due_owners WHERE owner = OLD.owner
    AND NOT EXISTS (SELECT 1 FROM due_hosts WHERE owner = OLD.owner);
  UPDATE due_owners SET turn_ms = ${firstTurnOf('OLD')}, turn_number = 0
  WHERE owner = OLD.owner AND turn_ms < ${firstTurnOf('OLD')};`,
})}
`;
