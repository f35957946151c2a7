import { Schema } from '../../storage/sqlite/schema.ts';
import { DUE_SCHEMA } from './due-schema.ts';
import { MAIN_SCHEMA } from './main-schema.ts';
import { QUEUE_SCHEMA } from './queue-schema.ts';

/** The tables of jobs, queue, deliveries and books. */
export const SQLITE_SCHEMA: Schema = new Schema([MAIN_SCHEMA + QUEUE_SCHEMA + DUE_SCHEMA]);
