import Joi from 'joi';
import { COUNT, checked, type Schemas, TEXT } from '../../base/checked.ts';
import { firstIdAt } from '../../model/ids.ts';
import type { JobListQuery, JobQuery } from '../../model/job-list-query.ts';
import { QUALITY_NAMES } from '../../model/qualities.ts';
import type { UsageQuery } from '../../model/usage.ts';

export const JOB_QUERY: Schemas<JobListQuery> = {
  owner: TEXT,
  status: Joi.valid('queued', 'running', 'completed', 'failed'),
  quality: Joi.valid(...QUALITY_NAMES),
  canceled: Joi.boolean(),
  limit: COUNT,
  before: TEXT,
  after: TEXT,
  metadata: Joi.boolean(),
  sinceMs: Joi.number().integer(),
  untilMs: Joi.number().integer(),
};
const SCHEMA = Joi.object<JobListQuery>(JOB_QUERY);
const USAGE_QUERY = Joi.object<UsageQuery>({ owner: TEXT.required(), sinceMs: Joi.number().integer() });
const OWNER = Joi.object({ owner: TEXT.required() });

/** Checks a query, whose parts may come from a request. Error: `invalid_request`. */
export function validJobQuery(query: JobListQuery): JobQuery {
  return withoutTimes(checked('A query for jobs', query, SCHEMA));
}

/** Ids sort by time, so times become limits of ids. */
function withoutTimes({ sinceMs, untilMs, ...query }: JobListQuery): JobQuery {
  const untilId = untilMs === undefined ? undefined : firstIdAt(untilMs);
  // `sort` leaves undefined to the end.
  const [earlier] = [query.before, untilId].sort();
  return {
    ...query,
    ...(earlier !== undefined && { before: earlier }),
    ...(sinceMs !== undefined && { after: firstIdAt(sinceMs) }),
  };
}

/** Error: `invalid_request`. */
export function validUsageQuery(query: UsageQuery): UsageQuery {
  return checked('usage', query, USAGE_QUERY);
}

/** The owner of a call. Error: `invalid_request`. */
export function validOwner(owner: string): string {
  return checked('A call', { owner }, OWNER).owner;
}
