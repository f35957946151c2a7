/** The type of texts: compared byte by byte, whatever the database's order is. */
export const TEXT = 'text COLLATE "C"';

/** The function of triggers that refuse a statement; their argument is the message. */
export const REFUSE = `
CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION USING MESSAGE = TG_ARGV[0], ERRCODE = 'integrity_constraint_violation';
END $$;
`;

/** A trigger that refuses updates for which a condition is true. */
export function refuseUpdate(name: string, table: string, when: string, message: string): string {
  return `CREATE TRIGGER ${name} BEFORE UPDATE ON ${table} FOR EACH ROW WHEN (${when}) EXECUTE FUNCTION refuse('${message}');`;
}

/** Triggers that refuse to delete rows, or those for which a condition is true, and to empty the table. */
export function refuseDelete(name: string, table: string, message: string, when?: string): string {
  const condition = when === undefined ? '' : `WHEN (${when}) `;
  return `CREATE TRIGGER ${name} BEFORE DELETE ON ${table} FOR EACH ROW ${condition}EXECUTE FUNCTION refuse('${message}');
CREATE TRIGGER ${table}_not_emptied BEFORE TRUNCATE ON ${table} EXECUTE FUNCTION refuse('${message}');`;
}

/**
 * As {@link refuseUpdate}, with a condition that is evaluated for few rows: those for which `first` is true. The server
 * prepares the condition of a trigger at each statement, which takes longer than an update if it is long; that of a
 * function it prepares once.
 */
export function refuseUpdateOfSome(
  name: string,
  table: string,
  { first, when, message }: { first: string; when: string; message: string },
): string {
  return `CREATE FUNCTION ${name}() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF ${when} THEN
    RAISE EXCEPTION USING MESSAGE = '${message}', ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER ${name} BEFORE UPDATE ON ${table} FOR EACH ROW WHEN (${first}) EXECUTE FUNCTION ${name}();`;
}
