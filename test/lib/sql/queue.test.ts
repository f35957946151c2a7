import { join } from 'node:path';
import t, { type Test } from 'tap';
import { DataFolder } from '../../../lib/index.ts';
import type { Claim, ClaimRequest, Precedence } from '../../../lib/storage/queue/queue.ts';
import type { Storage } from '../../../lib/storage/storage.ts';
import { deepTest } from '../../fixtures/depth.ts';
import { jobRecord } from '../../fixtures/job-record.ts';
import { testFolder } from '../../fixtures/test-folder.ts';

const CAPS = { maxQueued: 1_000_000, maxQueuedPerOwner: 1_000_000 };
const FIRST: Precedence = { yields: false, inGoodStanding: true };
const REQUEST: ClaimRequest = {
  wanted: () => ({ most: 1, mostOfOthers: 1 }),
  maxRunningPerOwner: Number.POSITIVE_INFINITY,
  maySuspect: true,
  precedenceOf: () => FIRST,
  lease: { nowMs: 0, lapsesAtMs: 30_000 },
};

let folders = 0;

async function openStorage(t: Test): Promise<Storage> {
  const folder = new DataFolder(join(t.testdirName, String(folders++)));
  await folder.start();
  t.teardown(() => folder.stop());
  return folder.storage;
}

async function admit(storage: Storage, jobId: string, owner: string, precedence = FIRST): Promise<void> {
  await storage.transaction(async (tx) => {
    await storage.queue.assertCapacity(tx, owner, CAPS);
    await storage.insertJob(tx, jobRecord(jobId, { owner }), 'x');
    await storage.queue.admit(tx, { jobId, owner, precedence });
  });
}

const claim = (storage: Storage, worker: string, request: Partial<ClaimRequest> = {}): Promise<Claim[]> =>
  storage.transaction((tx) => storage.queue.claim(tx, worker, { ...REQUEST, ...request }));

t.test('claims of an earlier run lapse immediately, because the folder has one owner', async (t) => {
  testFolder(t);
  const storage = await openStorage(t);
  for (const jobId of ['1', '2', '3']) await admit(storage, jobId, 'a');
  await claim(storage, 'of the first run');
  await storage.stop();
  await storage.start();
  await claim(storage, 'mine');
  await claim(storage, 'beside me');
  const lapsed = (nowMs: number) =>
    storage.transaction((tx) => storage.queue.lapsed(tx, { nowMs, most: 10, except: ['2'] }));
  t.match(await lapsed(0), [{ jobId: '1', token: 1 }]);
  t.same(
    (await lapsed(30_000)).map(({ jobId }) => jobId),
    ['1', '3'],
    'another worker of this process may still be dead',
  );
});

for (const [kind, qualities] of [
  ['of all qualities', undefined],
  ['of some qualities', [jobRecord('1').quality]],
] as const) {
  t.test(`a rank that another process records during a round ${kind} is corrected`, async (t) => {
    testFolder(t);
    const storage = await openStorage(t);
    await admit(storage, '1', 'y');
    const claims = await storage.transaction(async (tx) => {
      await storage.insertJob(tx, jobRecord('2', { owner: 'x' }), 'x');
      const others: Precedence = { yields: false, inGoodStanding: false };
      let late: Promise<void> | undefined;
      const precedenceOf = (owner: string) => {
        // As if another process committed it at this moment.
        if (owner === 'y') late ??= storage.queue.admit(tx, { jobId: '2', owner: 'x', precedence: others });
        return FIRST;
      };
      const wanted = () => ({ most: 3, mostOfOthers: 1 });
      const request = { ...REQUEST, wanted, changed: ['x'], precedenceOf, qualities };
      const claims = await storage.queue.claim(tx, 'w', request);
      await late;
      return claims;
    });
    t.same(
      claims.map(({ jobId }) => jobId),
      ['1', '2'],
    );
  });
}

/** The shortest time of a step, in milliseconds, as other processes share the CPU. */
async function shortestMs(steps: number, step: (index: number) => Promise<unknown>): Promise<number> {
  const times: number[] = [];
  for (let index = 0; index < steps; index++) {
    const begunMs = performance.now();
    await step(index);
    times.push(performance.now() - begunMs);
  }
  return Math.min(...times);
}

const STEPS = 60;

/** Measures admission and claims while that many owners, who yield or may not run more, have queued jobs. */
async function timesWith(t: Test, owners: number) {
  const storage = await openStorage(t);
  const ranks: Precedence[] = [
    { yields: false, inGoodStanding: false },
    { yields: true, inGoodStanding: false },
  ];
  const rankOf = (owner: string) => ranks[Number(owner) % ranks.length] as Precedence;
  const precedenceOf = (owner: string) => (owner === 'good' ? FIRST : rankOf(owner));
  await Promise.all(
    Array.from({ length: owners }, (_, index) =>
      admit(storage, `a${index}`, String(index), rankOf(String(index))),
    ),
  );
  const admitMs = await shortestMs(STEPS, (index) => admit(storage, `b${index}`, 'good'));
  let claimed = 0;
  const claimOne = async (mostOfOthers: number) => {
    claimed += (await claim(storage, 'w', { wanted: () => ({ most: 1, mostOfOthers }), precedenceOf }))
      .length;
  };
  const claimMs = await shortestMs(STEPS, () => claimOne(0));
  t.equal(claimed, STEPS);
  const inVainMs = await shortestMs(STEPS, () => claimOne(0));
  t.equal(claimed, STEPS, 'no other job may run');
  const stateMs = await shortestMs(STEPS, () => storage.queue.state());
  return { times: { admitMs, claimMs, inVainMs }, stateMs };
}

deepTest(t, '10,000 owners cost no more time than ten', async (t) => {
  testFolder(t);
  const few = await timesWith(t, 10);
  const many = await timesWith(t, 10_000);
  t.comment(JSON.stringify({ few, many }));
  // A scan of all of them would take hundreds of times as long.
  for (const [what, ms] of Object.entries(few.times)) {
    const factor = (many.times[what as keyof typeof many.times] ?? 0) / Math.max(ms, 0.02);
    t.ok(factor < 10, `${what}: ${factor.toFixed(1)} times`);
  }
  t.ok(many.stateMs < 5, `the sums over all owners: ${many.stateMs.toFixed(1)} ms`);
});
