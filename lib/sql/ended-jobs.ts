import type { FailedBy } from '../model/failures.ts';
import type { EndedRender, JobPhase, JobRecord } from '../model/job.ts';
import type { EndedSum } from '../model/usage.ts';
import type { SqlDatabase } from '../storage/sql.ts';

interface EndedRow {
  owner: string;
  phase: JobPhase;
  failed_by: NonNullable<JobRecord['failedBy']> | null;
  duration_ms: number | null;
  completed_at_ms: number | null;
}

interface SumRow {
  day: number;
  key_id: string | null;
  failed_by: FailedBy | null;
  renders: number;
  duration_ms: number;
  credits_cost: number;
}

const OF_PHASE = `SELECT completed_at_ms / 86400000 AS day, key_id, failed_by, duration_ms, credits_cost FROM jobs
  WHERE owner = ? AND phase = ? AND job_id > ?`;
const SUMS = `SELECT day, key_id, failed_by, count(*) AS renders, coalesce(sum(duration_ms), 0) AS duration_ms,
  sum(credits_cost) AS credits_cost FROM (${OF_PHASE} UNION ALL ${OF_PHASE}) AS found
  GROUP BY day, key_id, failed_by`;

/** The ended jobs of an owner whose ids sort behind `after`, summed by the day of their end, key and failure. */
export async function endedSums(database: SqlDatabase, owner: string, after: string): Promise<EndedSum[]> {
  const rows = await database.all<SumRow>(SUMS, owner, 'completed', after, owner, 'failed', after);
  return rows.map((row) => ({
    day: Number(row.day),
    keyId: row.key_id,
    failedBy: row.failed_by,
    renders: Number(row.renders),
    durationMs: Number(row.duration_ms),
    creditsCost: Number(row.credits_cost),
  }));
}

/** Terminal jobs whose ids sort behind `after`, newest first; at most `limit`. */
export async function recentEnds(
  database: SqlDatabase,
  { after, limit }: { after: string; limit: number },
): Promise<EndedRender[]> {
  const each = `SELECT * FROM (SELECT job_id, owner, phase, failed_by, duration_ms, completed_at_ms FROM jobs
    WHERE phase = ? AND job_id > ? ORDER BY job_id DESC LIMIT ?) AS page`;
  const rows = await database.all<EndedRow>(
    `${each} UNION ALL ${each} ORDER BY job_id DESC LIMIT ?`,
    ...['completed', after, limit],
    ...['failed', after, limit],
    limit,
  );
  return rows.map((row) => ({
    owner: row.owner,
    phase: row.phase,
    ...(row.failed_by !== null && { failedBy: row.failed_by }),
    durationMs: row.duration_ms,
    completedAtMs: row.completed_at_ms,
  }));
}
