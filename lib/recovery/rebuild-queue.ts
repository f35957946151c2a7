import { isSuspect } from '../queue/suspects.ts';
import { queueProblems } from '../sql/audit.ts';
import { COUNT_QUEUE } from '../sql/owner-turns.ts';
import { QUEUE } from '../sql/tables.ts';
import type { Connection } from '../storage/sqlite/connection.ts';

const PAGE = 500;
/** The worker of claims written by a recovery, all of which have expired. */
const NOBODY = 'recovery';

interface Job {
  job_id: string;
  owner: string;
  phase: 'queued' | 'running';
  token: number | null;
  interruptions: number | null;
}

/** Fills an empty queue from the queued and running jobs. */
export function rebuildQueue(target: Connection): void {
  for (let after = ''; ; ) {
    const jobs = target.all<Job>(
      `SELECT job_id, owner, phase, token, interruptions FROM jobs
       WHERE phase IN ('queued', 'running') AND job_id > ? ORDER BY job_id LIMIT ${PAGE}`,
      [after],
    );
    for (const { job_id: jobId, owner, phase, token, interruptions: times } of jobs) {
      const interruptions = times ?? 0;
      const isRunning = phase === 'running';
      const row = {
        jobId,
        owner,
        interruptions,
        token: token ?? 0,
        notBeforeMs: !isRunning && isSuspect({ interruptions }) ? 0 : null,
        worker: isRunning ? NOBODY : null,
        lapsesAtMs: isRunning ? 0 : null,
      };
      target.run(QUEUE.insert, QUEUE.row(row));
    }
    const last = jobs.at(-1);
    if (!last) break;
    after = last.job_id;
  }
  target.run(COUNT_QUEUE, []);
}

/** Checks a queue for damaged rows, missing jobs and wrong counts. */
export function queueFaults(source: Connection): string[] {
  try {
    const faults = queueProblems((text) => source.all(text, []));
    for (const row of source.all<{ job_id: string }>('SELECT * FROM queue', [])) {
      try {
        QUEUE.record(row);
      } catch {
        faults.push(`the row ${row.job_id} of the table queue is not as it was written`);
      }
    }
    return faults;
  } catch (error) {
    const { cause, message } = error as Error;
    return [`queue: ${cause instanceof Error ? cause.message : message}`];
  }
}
