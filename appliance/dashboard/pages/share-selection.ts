import { MOST_JOBS_OF_SHARE } from '../../../lib/internal.ts';
import type { JobInfo } from '../../admin/administration-views.ts';
import { forEachJob } from '../../admin/many.ts';
import { texts } from '../language/texts.ts';
import type { Answer, Visit } from '../route.ts';
import { sharePath } from './share-views.ts';

/**
 * Makes one link to the videos of selected jobs, oldest first: lists begin with the newest. `refuse`: the answer if there is
 * nothing to share.
 */
export async function shareSelected(
  { admin }: Visit,
  jobIds: string[],
  refuse: (text: string) => Answer,
): Promise<Answer> {
  const { shares: t, counts } = texts();
  const found = new Map<string, JobInfo>();
  await forEachJob(jobIds, async (request) => {
    found.set(request.jobId, await admin.jobs.show(request));
  });
  const selected = [...new Set(jobIds)].toReversed();
  const jobs = selected
    .map((jobId) => found.get(jobId))
    .filter((job): job is JobInfo => job?.status === 'completed' && job.forgottenAt === null);
  const [first] = jobs;
  if (!first) return refuse(t.noVideos);
  if (jobs.length > MOST_JOBS_OF_SHARE) return refuse(t.tooManyVideos(MOST_JOBS_OF_SHARE));
  if (jobs.some(({ account }) => account !== first.account)) return refuse(t.severalAccounts);
  const { shareId } = await admin.shares.create({
    account: first.account,
    jobIds: jobs.map(({ jobId }) => jobId),
  });
  const left = selected.length - jobs.length;
  const text = t.createdOf(counts.videos(jobs.length)) + (left > 0 ? t.leftOut(left) : '');
  return { to: sharePath(shareId), tell: { note: { kind: left > 0 ? 'warn' : 'good', text } } };
}
