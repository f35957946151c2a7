import assert from 'node:assert/strict';
import type { Claim, ClaimRequest, Lease, Precedence, QueueCaps, Wanted } from '../storage/queue/queue.ts';
import type { Storage } from '../storage/storage.ts';
import { jobRecord } from './job-record.ts';
import { type Behaviour, behaviours, EMPTY_STORAGE, type Opened, type SuiteOptions } from './suite.ts';

const FIRST: Precedence = { yields: false, inGoodStanding: true };
const OTHERS: Precedence = { yields: false, inGoodStanding: false };
const LAST: Precedence = { yields: true, inGoodStanding: true };
const ALL = 1000;

/**
 * Behaviors of the queue of a {@link Storage}. `open` returns a new, empty, started one.
 *
 * ```ts
 * const open = async () => ({ subject: await MyStorage.open(), close: async () => {} });
 * for (const { title, run } of queueSuite(open)) test(title, run);
 * ```
 */
export function queueSuite(open: () => Promise<Opened<Storage>>, options: SuiteOptions = {}): Behaviour[] {
  const suite = { name: 'queueSuite', open, options, ...EMPTY_STORAGE };
  return behaviours(suite, {
    async 'gives owners turns, and the jobs of each in order'(storage) {
      await admit(storage, 'a1', 'a2', 'a3', 'b1', 'c1', 'c2');
      assert.deepEqual(await claimAll(storage), ['a1', 'b1', 'c1', 'a2', 'c2', 'a3']);
      assert.deepEqual(await claimAll(storage), []);
    },

    async 'lets a late owner wait for one round, not for the whole queue'(storage) {
      await admit(storage, 'a1', 'a2', 'a3');
      assert.deepEqual(idsOf(await claim(storage, { most: 1 })), ['a1']);
      await admit(storage, 'b1');
      assert.deepEqual(await claimAll(storage), ['a2', 'b1', 'a3']);
    },

    async "puts a requeued job before its owner's others, and its owner before other owners"(storage) {
      await admit(storage, 'a1', 'b1', 'b2', 'c1');
      const [, b1] = await claim(storage, { most: 2 });
      await putBack(storage, b1);
      assert.deepEqual(await claimAll(storage), ['b1', 'c1', 'b2']);
    },

    async 'skips an owner at its limit of running jobs, who keeps its turn'(storage) {
      await admit(storage, 'a1', 'a2', 'b1', 'c1');
      const [a1] = await claim(storage, { most: 1 });
      const most = { most: 2, maxRunningPerOwner: 1 };
      assert.deepEqual(idsOf(await claim(storage, most)), ['b1', 'c1']);
      assert.deepEqual(idsOf(await claim(storage, most, 'another worker')), []);
      await remove(storage, a1);
      assert.deepEqual(idsOf(await claim(storage, most)), ['a2']);
    },

    async 'claims jobs of the wanted qualities only, with turns and limits as for all'(storage) {
      const precedenceOf = (owner: string) => (owner === 'g' ? FIRST : OTHERS);
      await admit(storage, 'a1', 'a2k', 'a3k', 'b1', 'c1k', 'g1', 'g2k');
      const request = { precedenceOf, qualities: ['fourk' as const] };
      assert.deepEqual(idsOf(await claim(storage, { ...request, most: 2 })), ['a2k', 'c1k']);
      await admit(storage, 'd1k');
      const others = { ...request, mostOfOthers: 0 };
      assert.deepEqual(idsOf(await claim(storage, others)), ['g2k']);
      assert.deepEqual(idsOf(await claim(storage, { ...request, maxRunningPerOwner: 1 })), ['d1k']);
      assert.deepEqual(idsOf(await claim(storage, { ...request, mostOfOthers: 1 })), ['a3k']);
      assert.deepEqual(idsOf(await claim(storage, request)), []);
      assert.deepEqual((await claimAll(storage)).sort(), ['a1', 'b1', 'g1']);
    },

    async 'claims a suspect of the wanted qualities only'(storage) {
      await admit(storage, 'a1k', 'b1');
      for (const held of await claim(storage))
        await putBack(storage, held, { interruptions: 2, notBeforeMs: 10 });
      const request = { qualities: ['fourk' as const], nowMs: 20 };
      assert.deepEqual(idsOf(await claim(storage, { ...request, maySuspect: false })), []);
      assert.deepEqual(idsOf(await claim(storage, request)), ['a1k']);
      assert.deepEqual(idsOf(await claim(storage, request)), []);
    },

    async 'limits the claims of owners who are not in good standing'(storage) {
      const precedenceOf = (owner: string) => (owner === 'g' ? FIRST : OTHERS);
      await admit(storage, 'a1', 'b1', 'g1', 'g2');
      const request = { precedenceOf, mostOfOthers: 1 };
      assert.deepEqual(idsOf(await claim(storage, request)), ['a1', 'g1', 'g2']);
      assert.deepEqual(idsOf(await claim(storage, { ...request, mostOfOthers: 0 })), []);
      assert.deepEqual(idsOf(await claim(storage, request)), ['b1']);
    },

    async 'serves owners who yield when no other job may start'(storage) {
      const precedenceOf = (owner: string) => (owner === 'y' ? LAST : FIRST);
      await admit(storage, 'f1', 'f2');
      await claim(storage, { most: 1 });
      await admit(storage, 'y1', 'a1', 'a2');
      const request = { precedenceOf, maxRunningPerOwner: 1 };
      assert.deepEqual(idsOf(await claim(storage, request)), ['a1', 'y1']);
    },

    async 'uses the current precedence of owners'(storage) {
      let late = 'a';
      const precedenceOf = (owner: string) => (owner === late ? LAST : FIRST);
      await admit(storage, 'a1', 'a2', 'a3', 'b1', 'b2', 'b3');
      assert.deepEqual(idsOf(await claim(storage, { most: 1, precedenceOf })), ['b1']);
      late = 'b';
      assert.deepEqual(idsOf(await claim(storage, { most: 1, precedenceOf, changed: ['a', 'b'] })), ['a1']);
      assert.deepEqual(await storage.queue.owners({ after: '', limit: 5 }), [
        { owner: 'a', ...FIRST },
        { owner: 'b', ...LAST },
      ]);
      assert.deepEqual(await storage.queue.owners({ after: 'a', limit: 1 }), [{ owner: 'b', ...LAST }]);
    },

    async 'gives each claim of a job a greater token, and only the last claim is valid'(storage) {
      await admit(storage, 'a1');
      const claims: Claim[] = [];
      for (let count = 0; count < 3; count += 1) {
        const [a1] = (await claim(storage)) as [Claim];
        assert.ok(a1.token > (claims.at(-1)?.token ?? 0));
        claims.push(a1);
        if (count < 2) await putBack(storage, a1);
      }
      assert.deepEqual(await Promise.all(claims.map((claim) => holds(storage, claim))), [false, false, true]);
      await putBack(storage, claims[2]);
      assert.equal(await holds(storage, claims[2] as Claim), false, 'put back');
      const [last] = (await claim(storage)) as [Claim];
      await remove(storage, last);
      assert.equal(await holds(storage, last), false, 'removed');
    },

    async 'renews claims that are still valid'(storage) {
      await admit(storage, 'a1', 'a2', 'a3');
      const [a1, a2, a3] = (await claim(storage)) as [Claim, Claim, Claim];
      await putBack(storage, a1);
      await remove(storage, a2);
      const held = await storage.transaction((tx) => storage.queue.renew(tx, [a1, a2, a3], 5000));
      assert.deepEqual(held, [a3]);
      await claim(storage);
      assert.deepEqual(await lapsed(storage, 4999), ['a1']);
      assert.deepEqual(await lapsed(storage, 5000), ['a1', 'a3']);
    },

    async 'returns lapsed leases, except those of the given jobs'(storage) {
      await admit(storage, 'a1', 'a2', 'b1');
      await claim(storage, { most: 1, lapsesAtMs: 100 }, 'one');
      await claim(storage, { most: 1, lapsesAtMs: 200 }, 'two');
      assert.deepEqual(await lapsed(storage, 99), []);
      assert.deepEqual(await lapsed(storage, 100), ['a1']);
      assert.deepEqual(await lapsed(storage, 200), ['a1', 'b1']);
      assert.deepEqual(await lapsed(storage, 200, { most: 1 }), ['a1']);
      assert.deepEqual(await lapsed(storage, 200, { except: ['a1'] }), ['b1']);
    },

    async 'holds suspects back until their time, but not other jobs'(storage) {
      await admit(storage, 'a1', 'a2', 'b1');
      await putBack(storage, (await claim(storage, { most: 1 }))[0], {
        interruptions: 2,
        notBeforeMs: 1000,
      });
      assert.equal((await storage.queue.state()).waiting, 3);
      assert.deepEqual(idsOf(await claim(storage, { most: 1, nowMs: 999 })), ['b1']);
      assert.deepEqual(idsOf(await claim(storage, { nowMs: 1000, maySuspect: false })), ['a2']);
      const [suspect] = await claim(storage, { nowMs: 1000 });
      assert.deepEqual(suspect, { jobId: 'a1', owner: 'a', token: 2, interruptions: 2 });
    },

    async 'claims one suspect at a time, the least likely one first, before other jobs'(storage) {
      await admit(storage, 'a1', 'b1', 'c1', 'd1');
      const claims = await claim(storage, { most: 3 });
      for (const [index, interruptions] of [4, 2, 3].entries())
        await putBack(storage, claims[index], { interruptions, notBeforeMs: 1000 });
      const request = { nowMs: 1000, maxRunningPerOwner: 1 };
      assert.deepEqual(idsOf(await claim(storage, request)), ['b1', 'd1']);
      await admit(storage, 'c2');
      await claim(storage, { ...request, maySuspect: false });
      assert.deepEqual(idsOf(await claim(storage, request)), ['a1'], 'more of c may not run');
      assert.deepEqual(idsOf(await claim(storage, { ...request, maxRunningPerOwner: 2 })), ['c1']);
    },

    async 'limits how long a suspect is held back'(storage) {
      await admit(storage, 'a1');
      const [a1] = await claim(storage);
      await putBack(storage, a1, { interruptions: 2, notBeforeMs: Date.UTC(2040, 0, 1) });
      assert.deepEqual(idsOf(await claim(storage, { nowMs: Date.UTC(2026, 0, 1) })), ['a1']);
    },

    async 'does not claim removed jobs'(storage) {
      await admit(storage, 'a1', 'a2', 'b1');
      const [a1] = await claim(storage, { most: 1 });
      for (const jobId of ['a2', 'b1', 'b1', 'x']) await remove(storage, { jobId });
      await remove(storage, a1);
      assert.deepEqual(await claimAll(storage), []);
      assert.deepEqual(await storage.queue.state(), { waiting: 0, running: 0, owners: 0, oldest: null });
      assert.deepEqual(await storage.queue.owners({ after: '', limit: 5 }), []);
    },

    async 'enforces its caps, except for an owner with less than an equal share'(storage) {
      const caps = { maxQueued: 6, maxQueuedPerOwner: 5 };
      await admit(storage, 'g1', 'g2', 'g3', 'g4', 'g5');
      await assert.rejects(admitWithin(storage, caps, 'g6'), { code: 'queue_full' }, 'its own cap');
      await admitWithin(storage, caps, 'h1');
      for (const jobId of ['m1', 'm2']) await admitWithin(storage, caps, jobId);
      await assert.rejects(admitWithin(storage, caps, 'm3'), { code: 'queue_full' }, 'a third is its share');
      await admitWithin(storage, caps, 'n1');
      assert.deepEqual(await storage.queue.state(), { waiting: 9, running: 0, owners: 4, oldest: 'g1' });
      await claim(storage, { most: 4 });
      await admitWithin(storage, caps, 'g7');
    },

    async 'enforces its caps for concurrent admissions'(storage) {
      const caps = { maxQueued: 1000, maxQueuedPerOwner: 5 };
      const jobIds = Array.from({ length: 20 }, (_, index) => `a${index}`);
      const admissions = await Promise.allSettled(jobIds.map((jobId) => admitWithin(storage, caps, jobId)));
      assert.equal(admissions.filter(({ status }) => status === 'fulfilled').length, 5);
      assert.equal((await storage.queue.state()).waiting, 5);
    },

    async 'gives a job to one of several concurrent claims'(storage) {
      const jobIds = Array.from({ length: 20 }, (_, index) => `${'abcd'.charAt(index % 4)}${index}`);
      await admit(storage, ...jobIds);
      const workers = ['one', 'two', 'three'];
      const claims = await Promise.all(workers.map((worker) => claim(storage, { most: 8 }, worker)));
      assert.deepEqual(claims.flatMap(idsOf).sort(), jobIds.sort());
    },

    async 'changes nothing in a transaction that throws'(storage) {
      await admit(storage, 'a1', 'b1');
      const before = await storage.queue.state();
      const failing = storage.transaction(async (tx) => {
        const [claimed] = (await storage.queue.claim(tx, 'w', requestOf({ most: 1 }))) as [Claim];
        await storage.queue.remove(tx, 'b1');
        assert.equal(await storage.queue.holds(tx, claimed), true);
        throw new Error('no');
      });
      await assert.rejects(failing, { message: 'no' });
      assert.deepEqual(await storage.queue.state(), before);
      assert.deepEqual(await claimAll(storage), ['a1', 'b1']);
    },

    async 'counts waiting and running jobs'(storage) {
      await admit(storage, 'a1', 'a2', 'b1');
      assert.deepEqual(await storage.queue.state(), { waiting: 3, running: 0, owners: 2, oldest: 'a1' });
      const [a1, b1] = await claim(storage, { most: 2 });
      assert.deepEqual(await storage.queue.state(), { waiting: 1, running: 2, owners: 1, oldest: 'a2' });
      await putBack(storage, a1, { interruptions: 3, notBeforeMs: 5 });
      await remove(storage, b1);
      assert.deepEqual(await storage.queue.state(), { waiting: 2, running: 0, owners: 1, oldest: 'a1' });
    },

    async 'keeps its state across a restart'(storage) {
      await admit(storage, 'a1', 'a2', 'b1');
      const [a1] = (await claim(storage, { most: 1 })) as [Claim];
      const before = await storage.queue.state();
      await storage.stop();
      await storage.start();
      assert.deepEqual(await storage.queue.state(), before);
      assert.equal(await holds(storage, a1), true);
      await putBack(storage, a1);
      assert.deepEqual(await claimAll(storage), ['a1', 'b1', 'a2']);
    },

    async 'runs a task exclusively'(storage) {
      const gate = Promise.withResolvers<string>();
      const begun = Promise.withResolvers<void>();
      const first = storage.alone('upkeep', () => {
        begun.resolve();
        return gate.promise;
      });
      await begun.promise;
      assert.equal(await storage.alone('upkeep', async () => 'second'), undefined);
      assert.equal(await storage.alone('grants', async () => 'other'), 'other');
      gate.resolve('first');
      assert.equal(await first, 'first');
      await assert.rejects(
        storage.alone('upkeep', async () => {
          throw new Error('no');
        }),
        { message: 'no' },
      );
      assert.equal(await storage.alone('upkeep', async () => 'third'), 'third');
    },
  });
}

/** Adds jobs whose ids start with their owner; those that end with `k` have the quality `fourk`. */
async function admit(storage: Storage, ...jobIds: string[]): Promise<void> {
  for (const jobId of jobIds) await admitWithin(storage, { maxQueued: ALL, maxQueuedPerOwner: ALL }, jobId);
}

function admitWithin(storage: Storage, caps: QueueCaps, jobId: string): Promise<void> {
  const owner = jobId.charAt(0);
  return storage.transaction(async (tx) => {
    await storage.queue.assertCapacity(tx, owner, caps);
    await storage.insertJob(
      tx,
      jobRecord(jobId, { owner, ...(jobId.endsWith('k') && { quality: 'fourk' }) }),
      'x',
    );
    await storage.queue.admit(tx, { jobId, owner, precedence: FIRST });
  });
}

type Request = Omit<ClaimRequest, 'wanted' | 'lease'> & Wanted & Lease;

function requestOf({
  most = ALL,
  mostOfOthers = ALL,
  nowMs = 0,
  lapsesAtMs = 1000,
  ...request
}: Partial<Request>): ClaimRequest {
  return {
    wanted: () => ({ most, mostOfOthers }),
    maxRunningPerOwner: Number.POSITIVE_INFINITY,
    maySuspect: true,
    precedenceOf: () => FIRST,
    lease: { nowMs, lapsesAtMs },
    ...request,
  };
}

function claim(storage: Storage, request: Partial<Request> = {}, worker = 'w'): Promise<Claim[]> {
  return storage.transaction((tx) => storage.queue.claim(tx, worker, requestOf(request)));
}

async function claimAll(storage: Storage): Promise<string[]> {
  return idsOf(await claim(storage));
}

function putBack(
  storage: Storage,
  claim: Claim | undefined,
  how: { interruptions: number; notBeforeMs?: number } = { interruptions: 0 },
): Promise<void> {
  assert(claim, 'it was claimed');
  return storage.transaction((tx) => storage.queue.putBack(tx, claim.jobId, how));
}

function remove(storage: Storage, job: { jobId: string } | undefined): Promise<void> {
  assert(job, 'it was claimed');
  return storage.transaction((tx) => storage.queue.remove(tx, job.jobId));
}

function holds(storage: Storage, claim: Claim): Promise<boolean> {
  return storage.transaction((tx) => storage.queue.holds(tx, claim));
}

async function lapsed(
  storage: Storage,
  nowMs: number,
  { most = ALL, except = [] }: { most?: number; except?: string[] } = {},
): Promise<string[]> {
  const query = { nowMs, most, except };
  return idsOf(await storage.transaction((tx) => storage.queue.lapsed(tx, query)));
}

function idsOf(claims: Claim[]): string[] {
  return claims.map(({ jobId }) => jobId);
}
