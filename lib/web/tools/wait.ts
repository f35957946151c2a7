import Joi from 'joi';
import type { Job } from '../../model/job.ts';
import type { ToolCall } from './route.ts';

/** Proxies close connections on which nothing is sent for a minute. */
const LONGEST_SECONDS = 60;

/** How long a request may wait. */
export const WAIT_SECONDS: Joi.NumberSchema = Joi.number().min(0).max(LONGEST_SECONDS);

/** The job when it has ended, or as it is when the seconds are over. Errors: those of `service.wait`. */
export async function waited(
  { service, caller: { owner }, signal, streams, clock }: ToolCall,
  jobId: string,
  seconds: number,
): Promise<Job> {
  const giveBack = streams.take(owner);
  const over = new AbortController();
  const timer = clock.after(seconds * 1000, () => over.abort());
  try {
    return await service.wait(jobId, { owner, signal: AbortSignal.any([signal, over.signal]) });
  } catch (error) {
    if (!over.signal.aborted) throw error;
    return await service.get(jobId, { owner });
  } finally {
    timer.cancel();
    giveBack();
  }
}

/** Whether a job changes no more. */
export function isEnded({ status }: Job): boolean {
  return status === 'completed' || status === 'failed';
}
