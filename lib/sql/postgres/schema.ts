import { CONFIRMATIONS } from '../../databases/postgres/confirmations.ts';
import { LEADERS } from '../../databases/postgres/locks.ts';
import { PostgresSchema } from '../../databases/postgres/migrated-schema.ts';
import { PURGES } from '../../databases/postgres/purges.ts';
import { ACCOUNT_LIMITS } from '../schema/account-limits.ts';
import { ACCOUNT_TABLES } from '../schema/accounts.ts';
import { CLASSROOM_TABLES } from '../schema/classroom.ts';
import { EARLIER_JOBS } from '../schema/earlier-jobs.ts';
import { FILES_TABLES } from '../schema/files.ts';
import { SHARED_TABLES } from '../schema/first-migration.ts';
import { IDENTITIES } from '../schema/identities.ts';
import { KEY_LIMITS } from '../schema/key-limits.ts';
import { inPostgres, REFUSE } from '../schema/postgres.ts';
import { JOBS_KEEP_OUTCOMES, RELABELED_JOBS } from '../schema/relabeled-jobs.ts';
import { SCENE_LIMITS } from '../schema/scene-limits.ts';
import { SCENES_TABLES } from '../schema/scenes.ts';
import { SHARES_TABLES } from '../schema/shares.ts';
import { SNAPSHOTS_TABLE } from '../schema/snapshots.ts';
import { SESSION_ORIGINS, TWO_FACTOR } from '../schema/two-factor.ts';
import { VIDEO_INDEXES } from '../schema/video-indexes.ts';
import { CLUSTER_TABLES } from './cluster-tables.ts';

const DROP_END_ONCE = 'DROP TRIGGER jobs_end_once ON jobs; DROP FUNCTION jobs_end_once();';

/** The tables that SQLite has, too; accounts, keys and settings; and what the processes of a service share. */
export const POSTGRES_SCHEMA: PostgresSchema = new PostgresSchema({
  migrations: [
    REFUSE + inPostgres(SHARED_TABLES + ACCOUNT_TABLES) + CLUSTER_TABLES + CONFIRMATIONS + LEADERS + PURGES,
    { sql: inPostgres(VIDEO_INDEXES), compatibleFrom: 1 },
    { sql: inPostgres(EARLIER_JOBS), compatibleFrom: 1 },
    { sql: inPostgres(SNAPSHOTS_TABLE), compatibleFrom: 1 },
    // Earlier programs take a key with limits for damaged, and so accept none.
    { sql: inPostgres(KEY_LIMITS), compatibleFrom: 1 },
    // Earlier programs would render jobs without their files.
    inPostgres(FILES_TABLES + ACCOUNT_LIMITS + IDENTITIES),
    // Earlier programs would leave the links of a forgotten job.
    inPostgres(SHARES_TABLES),
    // Earlier programs would drop a project when a render begins.
    DROP_END_ONCE + inPostgres(RELABELED_JOBS + JOBS_KEEP_OUTCOMES),
    // Earlier programs would leave the scenes of an account that they delete.
    inPostgres(SCENES_TABLES),
    // Earlier programs could not remove a scene that is the copy of an assignment.
    inPostgres(CLASSROOM_TABLES),
    // Earlier programs take an account with such a limit for damaged.
    inPostgres(SCENE_LIMITS),
    // Earlier programs would let people sign in without their second factor.
    inPostgres(TWO_FACTOR + SESSION_ORIGINS),
  ],
  // The keys of forgotten texts, and what accounts, acts and sessions say about people.
  purgedTables: ['text_keys', 'accounts', 'acts', 'sessions'],
});
