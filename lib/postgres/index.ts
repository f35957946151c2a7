/** Storage in Postgres. Start at {@link postgres}. */
import '../base/node-version.ts';
import '../base/bundled.ts';

export type { PostgresOptions } from '../databases/postgres/options.ts';
export type { MasterKeyRecords, StoredMasterKey } from '../keys/stored-master-key.ts';
export type { PostgresRights } from './postgres-rights.ts';
export { type PostgresStorage, postgres } from './postgres-storage.ts';
