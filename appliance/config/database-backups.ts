/** How to back up an installation with a database, for which there is no `backup`. */
export const DATABASE_BACKUPS: string =
  'The data is in a Postgres database: back it up as any other, with pg_dump or base backups and a WAL archive, and the ' +
  'artifacts with the tools of their bucket or file system. “Backup and failover” of appliance/cluster.md has the commands.';
