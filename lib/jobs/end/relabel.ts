import { ScenepressError } from '../../base/errors.ts';
import type { JobRecord } from '../../model/job.ts';
import type { JobLabels } from '../../model/requests.ts';
import { findJob } from '../../storage/find-job.ts';
import type { Storage } from '../../storage/storage.ts';
import type { Clock } from '../../time/clock.ts';

interface Parts {
  storage: Storage;
  clock: Clock;
}

/** Changes the labels of a job in any state. Errors: `not_found`; `conflict` once it is forgotten. */
export async function relabelJob(
  { storage, clock }: Parts,
  jobId: string,
  { labels, owner }: { labels: JobLabels; owner?: string | undefined },
): Promise<JobRecord> {
  await findJob(storage, jobId, owner);
  return storage.transaction(async (tx) => {
    const job = await storage.getJob(jobId, tx);
    if (!job) throw new ScenepressError('not_found', 'There is no such job.');
    if (job.forgottenAtMs !== undefined) {
      throw new ScenepressError(
        'conflict',
        `Job ${jobId} is forgotten. Its title, tags and project are erased.`,
      );
    }
    const { title = job.title, tags, starred = job.starred, project = job.project } = labels;
    const changed = { ...job, title, starred: starred || null, project, tags: tagsOf(tags, job) };
    await storage.relabelJob(tx, changed, clock.now());
    return changed;
  });
}

function tagsOf(tags: JobLabels['tags'], { tags: before }: JobRecord): JobRecord['tags'] {
  if (tags === undefined) return before;
  return tags.length > 0 ? [...tags] : null;
}
