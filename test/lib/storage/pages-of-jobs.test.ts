import t from 'tap';
import { pagesOfJobs } from '../../../lib/storage/pages-of-jobs.ts';
import { jobRecord } from '../../fixtures/job-record.ts';

t.test('jobs are listed in pages, each after the last of the page before', async (t) => {
  const queries: object[] = [];
  const jobs = ['3', '2', '1'].map((jobId) => jobRecord(jobId));
  const storage = {
    listJobs: async ({ before, limit, ...others }: { before?: string; limit?: number }) => {
      queries.push({ before, limit, ...others });
      return jobs.filter(({ jobId }) => before === undefined || jobId < before).slice(0, limit);
    },
  };
  const pages = await Array.fromAsync(pagesOfJobs(storage, { owner: 'ada', limit: 2 }));
  t.same(
    pages.map((page) => page.map(({ jobId }) => jobId)),
    [['3', '2'], ['1']],
  );
  t.strictSame(queries, [
    { before: undefined, limit: 2, metadata: false, owner: 'ada' },
    { before: '2', limit: 2, metadata: false, owner: 'ada' },
  ]);

  queries.length = 0;
  await Array.fromAsync(pagesOfJobs(storage, { limit: 4 }));
  t.strictSame(queries, [{ before: undefined, limit: 4, metadata: false }], 'of all owners');
});
