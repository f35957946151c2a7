import { pagesOf } from '../base/pages.ts';
import type { JobRecord } from '../model/job.ts';
import type { Storage } from './storage.ts';

/** All jobs of an owner, or of all owners, without metadata; the newest first, in pages of up to `limit`. */
export function pagesOfJobs(
  storage: Pick<Storage, 'listJobs'>,
  { owner, limit }: { owner?: string; limit: number },
): AsyncGenerator<JobRecord[]> {
  return pagesOf(
    ({ after, ...page }) =>
      storage.listJobs({
        ...page,
        metadata: false,
        ...(owner !== undefined && { owner }),
        ...(after !== undefined && { before: after }),
      }),
    ({ jobId }) => jobId,
    limit,
  );
}
