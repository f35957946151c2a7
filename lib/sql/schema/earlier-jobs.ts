/** From which job's video a job copies equal frames, if its request named one. */
export const EARLIER_JOBS: string = `
ALTER TABLE jobs ADD COLUMN earlier_job_id TEXT;
`;
