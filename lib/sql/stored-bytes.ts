import { allRowsAfter } from '../base/pages.ts';
import type { Artifact, JobPhase } from '../model/job.ts';
import type { SqlDatabase } from '../storage/sql.ts';

const PAGE = 500;
const SIZES = `SELECT j.job_id, length(j.texts) + coalesce(length(s.texts), 0) + coalesce(length(t.texts), 0) AS bytes,
    CASE WHEN j.artifacts_removed_at_ms IS NULL THEN j.artifacts ELSE '[]' END AS artifacts
  FROM jobs AS j LEFT JOIN sources AS s ON s.job_id = j.job_id LEFT JOIN timelines AS t ON t.job_id = j.job_id
  WHERE j.owner = ? AND j.phase = ? AND j.job_id > ? ORDER BY j.job_id LIMIT ?`;

interface SizeRow {
  job_id: string;
  bytes: number;
  artifacts: string;
}

/** As `Storage.storedBytes`, for the jobs in these phases. */
export async function storedBytesOf(
  database: SqlDatabase,
  owner: string,
  phases: JobPhase[],
): Promise<number> {
  let sum = 0;
  for (const phase of phases) {
    const rows = allRowsAfter(
      (after) => database.all<SizeRow>(SIZES, owner, phase, after, PAGE),
      ({ job_id }) => job_id,
    );
    for await (const { bytes, artifacts } of rows) {
      sum += bytes;
      for (const { sizeBytes } of JSON.parse(artifacts) as Artifact[]) sum += sizeBytes;
    }
  }
  return sum;
}
