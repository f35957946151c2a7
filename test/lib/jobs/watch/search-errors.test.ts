import t from 'tap';
import { searchErrors } from '../../../../lib/jobs/watch/search-errors.ts';
import { validJobQuery } from '../../../../lib/jobs/watch/valid-job-query.ts';
import { firstIdAt } from '../../../../lib/model/ids.ts';
import type { JobRecord } from '../../../../lib/model/job.ts';
import type { JobQuery } from '../../../../lib/model/job-list-query.ts';
import { jobRecord } from '../../../fixtures/job-record.ts';

/** 250 failed jobs, of which every hundredth has another error. */
const FAILED: JobRecord[] = Array.from({ length: 250 }, (_, index) =>
  jobRecord(String(1000 + index), { phase: 'failed', error: index % 100 === 0 ? 'NameError: x' : 'other' }),
).reverse();

const storage = {
  async listJobs({ before = '~', after = '', limit = 50, status }: JobQuery) {
    t.equal(status, 'failed');
    return FAILED.filter(({ jobId }) => jobId < before && jobId > after).slice(0, limit);
  },
};

const idsOf = ({ jobs }: { jobs: { jobId: string }[] }) => jobs.map(({ jobId }) => jobId);

t.test('errors are searched in any case, newest first', async (t) => {
  const found = await searchErrors(storage, { text: 'nameerror' });
  t.same(idsOf(found), ['1200', '1100', '1000']);
  t.match(found, { examined: 250, next: null });
});

t.test('a search reads a bounded number of jobs and continues where it ended', async (t) => {
  const first = await searchErrors(storage, { text: 'NameError', mostExamined: 150 });
  t.same(idsOf(first), ['1200', '1100']);
  t.match(first, { examined: 150, next: '1100' });
  const second = await searchErrors(storage, { text: 'NameError', before: first.next ?? '' });
  t.same(idsOf(second), ['1000']);
  t.match(second, { examined: 100, next: null });
});

t.test('a signal ends a search between two reads', async (t) => {
  const giveUp = new AbortController();
  let reads = 0;
  const listJobs = (query: JobQuery) => {
    reads += 1;
    giveUp.abort();
    return storage.listJobs(query);
  };
  const search = searchErrors({ listJobs }, { text: 'NameError', signal: giveUp.signal });
  await t.rejects(search, { name: 'AbortError' });
  t.equal(reads, 1);
});

t.test('a full page continues behind its last job', async (t) => {
  const first = await searchErrors(storage, { text: 'NameError', limit: 1 });
  t.match(first, { jobs: [{ jobId: '1200' }], examined: 50, next: '1200' });
});

t.test('times become bounds of ids, and the earlier bound wins', async (t) => {
  t.same(validJobQuery({ owner: 'ada', sinceMs: 5, untilMs: 9 }), {
    owner: 'ada',
    after: firstIdAt(5),
    before: firstIdAt(9),
  });
  t.equal(validJobQuery({ untilMs: 9, before: firstIdAt(4) }).before, firstIdAt(4));
  t.equal(validJobQuery({ untilMs: 3, before: firstIdAt(4) }).before, firstIdAt(3));
});
