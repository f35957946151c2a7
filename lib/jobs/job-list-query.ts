import { firstIdAt } from '../ids.ts';
import type { JobQuery } from '../storage/storage.ts';

/** A query for jobs by their time of creation, newest first. */
export interface JobListQuery extends JobQuery {
  /** Only jobs that were created at this time (epoch milliseconds) or later. */
  sinceMs?: number;
  /** Only jobs that were created before this time. */
  untilMs?: number;
}

/** Ids sort by time, so times become limits of ids. */
export function jobQueryOf({ sinceMs, untilMs, ...query }: JobListQuery): JobQuery {
  const untilId = untilMs === undefined ? undefined : firstIdAt(untilMs);
  const { before } = query;
  const earlier = untilId === undefined || (before !== undefined && before < untilId) ? before : untilId;
  return {
    ...query,
    ...(earlier !== undefined && { before: earlier }),
    ...(sinceMs !== undefined && { after: firstIdAt(sinceMs) }),
  };
}
