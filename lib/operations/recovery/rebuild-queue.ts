import { reasonOf } from '../../data-folder/documents/lost-row.ts';
import type { Connection } from '../../databases/sqlite/connection.ts';
import { queueProblems } from '../../sql/audit.ts';
import { COUNT_QUEUE } from '../../sql/owner-turns.ts';
import { QUEUE } from '../../sql/row-formats.ts';
import { isSuspect } from '../../storage/queue/suspects.ts';

/** The worker of claims written by a recovery, all of which have expired. */
const NOBODY = 'recovery';
const UNFINISHED = `
  SELECT job_id AS jobId, owner, phase, coalesce(token, 0) AS token, coalesce(interruptions, 0) AS interruptions
  FROM jobs WHERE phase IN ('queued', 'running') ORDER BY job_id`;

interface Job {
  jobId: string;
  owner: string;
  phase: 'queued' | 'running';
  token: number;
  interruptions: number;
}

/** Fills an empty queue from the queued and running jobs. */
export function rebuildQueue(target: Connection): void {
  for (const { phase, ...job } of target.all<Job>(UNFINISHED, [])) {
    const isRunning = phase === 'running';
    const notBeforeMs = !isRunning && isSuspect(job) ? 0 : null;
    const claim = { worker: isRunning ? NOBODY : null, lapsesAtMs: isRunning ? 0 : null };
    target.run(QUEUE.insert, QUEUE.row({ ...job, notBeforeMs, ...claim }));
  }
  target.run(COUNT_QUEUE, []);
}

/** Checks a queue for damaged rows, missing jobs and wrong counts. */
export function queueFaults(source: Connection): string[] {
  try {
    for (const row of source.all('SELECT * FROM queue', [])) QUEUE.record(row);
    return queueProblems((text) => source.all(text, []));
  } catch (error) {
    return [`queue: ${reasonOf(error)}`];
  }
}
