import type { SqlReader, SqlTransaction } from '../storage/sql.ts';

/** Jobs whose labels were changed at a time or later. */
export interface RelabeledQuery {
  sinceMs: number;
  owner?: string;
  limit: number;
}

/** The time grows with each change: the trigger of ended jobs refuses other texts at the same time. */
const RELABEL = `UPDATE jobs SET texts = ?,
  relabeled_at_ms = CASE WHEN relabeled_at_ms >= ? THEN relabeled_at_ms + 1 ELSE ? END WHERE job_id = ?`;

/** Replaces the texts of a job by those with other labels. */
export function relabel(tx: SqlTransaction, jobId: string, texts: Uint8Array, atMs: number): void {
  const wholeMs = Math.floor(atMs);
  tx.write(RELABEL, texts, wholeMs, wholeMs, jobId);
}

/** An expression, so that the index of the times is used, not one that begins with the owner. */
const OF_OWNER = " AND owner || '' = ?";

/** The ids, oldest change first. */
export async function relabeledJobs(
  database: SqlReader,
  { sinceMs, owner, limit }: RelabeledQuery,
): Promise<string[]> {
  const ofOwner = owner === undefined ? '' : OF_OWNER;
  const rows = await database.all<{ job_id: string }>(
    `SELECT job_id FROM jobs WHERE relabeled_at_ms >= ?${ofOwner} ORDER BY relabeled_at_ms LIMIT ?`,
    Math.floor(sinceMs),
    ...(owner === undefined ? [] : [owner]),
    limit,
  );
  return rows.map(({ job_id }) => job_id);
}
