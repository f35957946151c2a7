import t from 'tap';
import type { ClaimRequest } from '../../../lib/storage/queue/queue.ts';
import type { SqlTransaction } from '../../../lib/storage/sql.ts';
import { jobRecord } from '../../fixtures/job-record.ts';
import { lockAwaited, openPostgres, run } from '../../fixtures/postgres/database.ts';

const REQUEST: ClaimRequest = {
  wanted: () => ({ most: 1, mostOfOthers: 1 }),
  maxRunningPerOwner: 1,
  qualities: ['fourk'],
  maySuspect: true,
  precedenceOf: () => ({ yields: false, inGoodStanding: false }),
  lease: { nowMs: 0, lapsesAtMs: 30_000 },
};

t.test('a worker without jobs of its qualities does not wait for other claims', async (t) => {
  const storage = await openPostgres(t);
  const { queue } = storage;
  const precedence = { yields: false, inGoodStanding: true };
  const add = (jobId: string, quality: 'low' | 'fourk') =>
    storage.transaction(async (tx) => {
      await storage.insertJob(tx, jobRecord(jobId, { quality }), 'x');
      await queue.admit(tx, { jobId, owner: 'a', precedence });
    });
  const claim = (request: Partial<ClaimRequest> = {}) =>
    storage.transaction((tx) => queue.claim(tx, 'w', { ...REQUEST, ...request }));
  await add('1', 'low');
  await storage.transaction(async (tx) => {
    await (tx as SqlTransaction).lock('claims');
    t.same(await claim(), []);
  });
  t.same(await claim({ changed: ['a'] }), []);
  t.same(await run('SELECT precedence FROM turns', storage), [{ precedence: '1' }], 'a change is recorded');
  await add('2', 'fourk');
  t.match(await claim(), [{ jobId: '2' }]);
});

t.test('a claim that waited for others takes jobs for the workers that are idle by then', async (t) => {
  const storage = await openPostgres(t);
  const { queue } = storage;
  const precedenceOf = (owner: string) => ({ yields: false, inGoodStanding: owner < 'm' });
  const jobIds = ['a1', 'z1', 'b1', 'a2', 'z2', 'b2'];
  for (const jobId of jobIds) {
    const owner = jobId.charAt(0);
    await storage.transaction(async (tx) => {
      await storage.insertJob(tx, jobRecord(jobId, { owner }), 'x');
      await queue.admit(tx, { jobId, owner, precedence: precedenceOf(owner) });
    });
  }
  let idle = 1;
  const wanted = () => ({ most: idle, mostOfOthers: idle - 1 });
  const { qualities: _, ...request } = { ...REQUEST, maxRunningPerOwner: 2, wanted, precedenceOf };
  const { claiming } = await storage.transaction(async (tx) => {
    await (tx as SqlTransaction).lock('claims');
    const claiming = storage.transaction((tx) => queue.claim(tx, 'w', request));
    await lockAwaited('claims', storage);
    idle = 4;
    return { claiming };
  });
  t.same(
    (await claiming).map(({ jobId }) => jobId),
    jobIds.slice(0, 4),
  );
});

t.test('whether a quality has queued jobs is found in an index', async (t) => {
  const storage = await openPostgres(t);
  await storage.transaction(async (tx) => {
    for (let i = 0; i < 500; i++) await storage.insertJob(tx, jobRecord(`${i}`, { quality: 'low' }), 'x');
  });
  await run('ANALYZE jobs', storage);
  const plan = await run(
    "EXPLAIN SELECT 1 FROM jobs WHERE phase = 'queued' AND quality IN ('twok', 'fourk') LIMIT 1",
    storage,
  );
  t.match(JSON.stringify(plan), /queued_of_quality/);
});
