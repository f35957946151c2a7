import { Schema } from '../../storage/sqlite/schema.ts';
import { UNFINISHED_SCHEMA } from '../unfinished-schema.ts';
import { DUE_SCHEMA, WITHOUT_DUE_SCHEMA } from './due-schema.ts';
import { LIST_SCHEMA } from './list-schema.ts';
import { MAIN_SCHEMA } from './main-schema.ts';
import { QUEUE_SCHEMA } from './queue-schema.ts';
import { SIGN_IN_SCHEMA } from './sign-in-schema.ts';

/** The tables of jobs, queue, deliveries and books; those of the dashboard; indexes of its lists. */
export const SQLITE_SCHEMA: Schema = new Schema([
  MAIN_SCHEMA + QUEUE_SCHEMA + DUE_SCHEMA + SIGN_IN_SCHEMA + LIST_SCHEMA,
  WITHOUT_DUE_SCHEMA + UNFINISHED_SCHEMA,
]);
