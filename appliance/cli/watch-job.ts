import { setTimeout as delay } from 'node:timers/promises';
import type { ShownJob } from '../admin/administration-views.ts';
import type { Config } from '../config/config.ts';
import { withAdministration } from '../runtime/with-administration.ts';
import { UserError } from '../support/user-error.ts';
import { ProgressLine } from './progress-line.ts';

const POLL_MS = 200;

/** Shows the progress of a job until it has ended. Throws if it hasn't ended and no server is running. */
export async function watchJob(config: Config, jobId: string): Promise<ShownJob> {
  const interrupted = new AbortController();
  const interrupt = () => interrupted.abort();
  process.once('SIGINT', interrupt);
  const line = new ProgressLine('Waiting');
  line.start();
  try {
    return await withAdministration(config, async (admin, { served }) => {
      for (;;) {
        const job = await admin.jobs.show({ jobId });
        if (job.completedAt !== null) return job;
        if (!served)
          throw new UserError(`Job ${jobId} is ${job.status}, but no server is running to render it.`);
        line.show(job.progress);
        await delay(POLL_MS, undefined, { signal: interrupted.signal });
      }
    });
  } catch (error) {
    if (!interrupted.signal.aborted) throw error;
    throw new UserError('Interrupted; the job continues.', { exitCode: 130, cause: error });
  } finally {
    line.stop();
    process.off('SIGINT', interrupt);
  }
}
