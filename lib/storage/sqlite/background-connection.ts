import { statSync } from 'node:fs';
import { identityOf, isInPlace } from '../../disk.ts';
import { Connection } from './connection.ts';

/**
 * Opens a connection for slow statements: checkpoints, copies and full scans. `identity`: of the file, instead of which
 * there may be another one meanwhile.
 */
export function openInBackground(path: string, identity: string = identityOf(statSync(path))): Connection {
  if (!isInPlace({ path, identity })) throw new Error(`${path} was moved or replaced`);
  const connection = Connection.open(path);
  connection.exec('PRAGMA synchronous=NORMAL; PRAGMA wal_autocheckpoint=0; PRAGMA cache_size=-8192');
  return connection;
}
