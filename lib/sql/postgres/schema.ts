import { CONFIRMATIONS } from '../../postgres-database/confirmations.ts';
import { LEADERS } from '../../postgres-database/leaders.ts';
import { PURGES } from '../../postgres-database/purges.ts';
import { PostgresSchema } from '../../postgres-database/schema.ts';
import { UNFINISHED_SCHEMA } from '../unfinished-schema.ts';
import { ACCOUNT_SCHEMA } from './account-schema.ts';
import { CLUSTER_SCHEMA } from './cluster-schema.ts';
import { DUE_SCHEMA, WITHOUT_DUE_SCHEMA } from './due-schema.ts';
import { INSTALLATION_SCHEMA } from './installation-schema.ts';
import { LEDGER_SCHEMA } from './ledger-schema.ts';
import { MACHINE_SCHEMA } from './machine-schema.ts';
import { MAIN_SCHEMA } from './main-schema.ts';
import { QUEUE_SCHEMA } from './queue-schema.ts';

/** The tables of jobs, books, queue, deliveries, accounts, keys and processes. */
export const POSTGRES_SCHEMA: PostgresSchema = new PostgresSchema({
  migrations: [
    MAIN_SCHEMA +
      LEDGER_SCHEMA +
      QUEUE_SCHEMA +
      DUE_SCHEMA +
      ACCOUNT_SCHEMA +
      CLUSTER_SCHEMA +
      CONFIRMATIONS +
      LEADERS +
      PURGES,
    { sql: INSTALLATION_SCHEMA, compatibleFrom: 1 },
    { sql: MACHINE_SCHEMA, compatibleFrom: 1 },
    WITHOUT_DUE_SCHEMA + UNFINISHED_SCHEMA,
  ],
  // The keys of forgotten texts, and what accounts and acts say about people.
  purgedTables: ['text_keys', 'accounts', 'acts'],
});
