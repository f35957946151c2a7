import { Schema } from '../../databases/sqlite/migrated-schema.ts';
import { CLASSROOM_TABLES } from '../schema/classroom.ts';
import { EARLIER_JOBS } from '../schema/earlier-jobs.ts';
import { FILES_TABLES } from '../schema/files.ts';
import { SHARED_TABLES } from '../schema/first-migration.ts';
import { JOBS_KEEP_OUTCOMES, RELABELED_JOBS } from '../schema/relabeled-jobs.ts';
import { SCENES_TABLES } from '../schema/scenes.ts';
import { SHARES_TABLES } from '../schema/shares.ts';
import { SNAPSHOTS_TABLE } from '../schema/snapshots.ts';
import { SESSION_ORIGINS } from '../schema/two-factor.ts';
import { VIDEO_INDEXES } from '../schema/video-indexes.ts';

/** The tables of jobs, ledger, queue, deliveries and the dashboard. */
export const SQLITE_SCHEMA: Schema = new Schema([
  SHARED_TABLES,
  VIDEO_INDEXES,
  EARLIER_JOBS,
  SNAPSHOTS_TABLE,
  FILES_TABLES,
  SHARES_TABLES,
  `DROP TRIGGER jobs_end_once;${RELABELED_JOBS}${JOBS_KEEP_OUTCOMES}`,
  SCENES_TABLES,
  CLASSROOM_TABLES,
  SESSION_ORIGINS,
]);
