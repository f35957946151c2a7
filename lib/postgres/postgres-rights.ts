import type { SqlDatabase } from '../storage/sql.ts';

/** What a process that only renders must not read or change: with it, scenes that escape could act as administrators. */
const GUARDED = ['accounts', 'acts', 'api_keys', 'key_uses', 'master_keys', 'sessions'];

/** What the user of a connection may do beyond rendering. */
export interface PostgresRights {
  /** The name of the user. */
  user: string;
  /** May do everything in all databases of the server. */
  isSuperuser: boolean;
  /** Owns the schema, or is a member of its owner: may change and remove the tables. */
  isOwner: boolean;
  /** The tables of accounts, keys, sessions, acts and master keys that it may read or change. */
  guardedTables: string[];
}

const USER = `SELECT current_user::text AS "user", rolsuper AS "isSuperuser",
    pg_has_role(nspowner, 'MEMBER') AS "isOwner"
  FROM pg_roles, pg_namespace WHERE rolname = current_user AND nspname = current_schema()`;
const TABLES = `SELECT relname::text AS name FROM pg_class
  WHERE relnamespace = current_schema()::regnamespace
    AND relname IN (${GUARDED.map((name) => `'${name}'`).join(', ')})
    AND (has_any_column_privilege(oid, 'SELECT, INSERT, UPDATE') OR has_table_privilege(oid, 'DELETE, TRUNCATE'))
  ORDER BY relname`;

/** The rights of the user whose connections these are. */
export async function rightsOf(database: SqlDatabase): Promise<PostgresRights> {
  const user = await database.get<Omit<PostgresRights, 'guardedTables'>>(USER);
  const tables = await database.all<{ name: string }>(TABLES);
  if (!user) throw new Error('Postgres names no user.');
  return { ...user, guardedTables: tables.map(({ name }) => name) };
}
