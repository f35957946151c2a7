import type { Quality } from '../model/qualities.ts';
import type { SqlDatabase } from '../storage/sql.ts';

/** Completed jobs of a quality whose durations are averaged. */
const RECENT = 50;

/** How much work of a quality waits. */
export interface WaitingWork {
  /** The quality of the jobs. */
  quality: Quality;
  /** Jobs that wait. */
  waiting: number;
  /** Mean duration of the renders that completed last, in milliseconds; null when none has. */
  meanMs: number | null;
}

/** The work that waits, by quality. Its cost grows with the number of waiting jobs: some 20 ms for 100,000. */
export async function waitingWork(
  database: SqlDatabase,
  qualities: readonly Quality[],
): Promise<WaitingWork[]> {
  const counts = await database.all<{ quality: string; waiting: number }>(
    "SELECT quality, count(*) AS waiting FROM jobs WHERE phase = 'queued' GROUP BY quality",
  );
  const means = await Promise.all(
    qualities.map((quality) =>
      database.get<{ mean: number | null }>(
        `SELECT avg(duration_ms) AS mean FROM (SELECT duration_ms FROM jobs WHERE phase = 'completed' AND quality = ?
           ORDER BY job_id DESC LIMIT ${RECENT}) AS recent`,
        quality,
      ),
    ),
  );
  return qualities.map((quality, i) => ({
    quality,
    waiting: counts.find((row) => row.quality === quality)?.waiting ?? 0,
    meanMs: means[i]?.mean ?? null,
  }));
}
