import { DELIVERY_TABLES } from './deliveries.ts';
import { JOB_TABLES } from './jobs.ts';
import { LEDGER_TABLES } from './ledger.ts';
import { LIST_INDEXES } from './list-indexes.ts';
import { QUEUE_TABLES } from './queue.ts';
import { SIGN_IN_TABLES } from './sign-in.ts';

/**
 * The first migration of both databases, in the words of SQLite; `inPostgres` translates it. Never edit it or the texts in
 * this folder: append a migration in `../sqlite/schema.ts` and `../postgres/schema.ts`.
 *
 * Times are epoch milliseconds. `checksum` is the CRC-32 of a row's other columns, in their order, checked whenever
 * the row is read: SQLite's pages have none. `texts` is the user content of a row, encrypted with the key of
 * `text_key_id`.
 */
export const SHARED_TABLES: string =
  JOB_TABLES + LEDGER_TABLES + DELIVERY_TABLES + QUEUE_TABLES + SIGN_IN_TABLES + LIST_INDEXES;
