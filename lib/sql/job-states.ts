import type { JobState } from '../model/job.ts';
import type { SqlDatabase } from '../storage/sql.ts';

/** A statement has always as many places, so that the database keeps its plan. */
const PLACES = 100;
const STATES = `SELECT job_id, phase, attempts FROM jobs WHERE job_id IN (${Array(PLACES).fill('?').join()})`;

interface StateRow extends Pick<JobState, 'phase'> {
  job_id: string;
  attempts: number;
}

/** The states of the jobs with these ids, in a few statements. */
export async function jobStates(database: SqlDatabase, jobIds: readonly string[]): Promise<JobState[]> {
  const states: JobState[] = [];
  for (let from = 0; from < jobIds.length; from += PLACES) {
    const ids = jobIds.slice(from, from + PLACES);
    const repeated = Array.from({ length: PLACES }, (_, at) => ids[at] ?? ids[0] ?? '');
    const rows = await database.all<StateRow>(STATES, ...repeated);
    states.push(
      ...rows.map((row) => ({ jobId: row.job_id, phase: row.phase, attempts: Number(row.attempts) })),
    );
  }
  return states;
}
