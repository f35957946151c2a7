import type { Cancellations } from './cancellations.ts';
import type { Discards } from './discards.ts';
import type { JobBook } from './job-book.ts';
import { withSpareSpace } from './with-spare-space.ts';

/** Completes the transitions that an earlier process left unfinished. */
export async function recoverJobs({
  book,
  cancellations,
  discards,
}: {
  book: Pick<JobBook, 'recover'>;
  cancellations: Pick<Cancellations, 'complete'>;
  discards: Pick<Discards, 'add'>;
}): Promise<void> {
  const { orphans, stuck } = await withSpareSpace(() => book.recover());
  discards.add(orphans);
  for (const jobId of stuck) void cancellations.complete(jobId);
}
