import type { Storage } from '../storage/storage.ts';
import { isTerminal, type JobRecord } from './job.ts';

const PAGE = 1_000;
const MOST_JOBS = 10_000;

/**
 * Yields terminal jobs created at or after `sinceMs` (epoch milliseconds), newest first; reads at most 10,000 jobs.
 */
export async function* recentEnds(storage: Storage, sinceMs: number): AsyncGenerator<JobRecord> {
  let before: string | undefined;
  for (let seen = 0; seen < MOST_JOBS; seen += PAGE) {
    const jobs = await storage.listJobs({ limit: PAGE, ...(before !== undefined && { before }) });
    for (const job of jobs) {
      if (job.createdAtMs < sinceMs) return;
      if (isTerminal(job.phase)) yield job;
    }
    if (jobs.length < PAGE) return;
    before = jobs.at(-1)?.jobId;
  }
}
