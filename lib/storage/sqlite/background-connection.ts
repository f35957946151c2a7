import { Connection } from './connection.ts';

/** Opens a connection for slow statements: checkpoints, copies and full scans. */
export function openInBackground(path: string): Connection {
  const connection = Connection.open(path);
  connection.exec('PRAGMA synchronous=NORMAL; PRAGMA wal_autocheckpoint=0; PRAGMA cache_size=-8192');
  return connection;
}
