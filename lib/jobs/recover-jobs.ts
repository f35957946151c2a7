import type { ServiceParts } from '../service-parts.ts';
import { withSpareSpace } from './with-spare-space.ts';

/** Completes the transitions that an earlier process left unfinished. */
export async function recoverJobs({
  book,
  cancellations,
  discards,
}: Pick<ServiceParts, 'book' | 'cancellations' | 'discards'>): Promise<void> {
  const { orphans, stuck } = await withSpareSpace(() => book.recover());
  discards.add(orphans);
  for (const jobId of stuck) void cancellations.complete(jobId);
}
