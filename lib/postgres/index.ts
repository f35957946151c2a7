/** Storage in Postgres. Start at {@link postgres}. */
import '../node-version.ts';
import '../bundled.ts';

export type { MasterKeyRecords, StoredMasterKey } from '../keys/stored-master-key.ts';
export type { PostgresOptions } from '../postgres-database/options.ts';
export type { PostgresRights } from './postgres-rights.ts';
export { type PostgresStorage, postgres } from './postgres-storage.ts';
