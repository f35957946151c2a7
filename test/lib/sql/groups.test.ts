import { join } from 'node:path';
import t, { type Test } from 'tap';
import type { Random } from '../../../lib/base/random.ts';
import { SqliteDatabase } from '../../../lib/databases/sqlite/sqlite-database.ts';
import { StoredLedger, type Transaction } from '../../../lib/index.ts';
import type { LedgerAccount } from '../../../lib/ledger/ledger-store.ts';
import { SqlLedgerStore } from '../../../lib/sql/sql-ledger-store.ts';
import { SqlStorage } from '../../../lib/sql/sql-storage.ts';
import { SQLITE_SCHEMA } from '../../../lib/sql/sqlite/schema.ts';
import type { Claim, ClaimRequest } from '../../../lib/storage/queue/queue.ts';
import { systemClock } from '../../../lib/time/clock.ts';
import { jobRecord } from '../../fixtures/job-record.ts';
import { seededBytes, seededRandom } from '../../fixtures/seeded-random.ts';
import { testFolder } from '../../fixtures/test-folder.ts';

// Transactions that are committed together, of which some fail: what each reads must equal the tables at that moment.

const SEED = Number(process.env['SEED'] ?? Date.now() % 1_000_000);
const TIMES = 1_000;
const OWNERS = ['ada', 'eve', 'kim'];
const NO_LIMIT = Number.POSITIVE_INFINITY;
const RESERVED = `SELECT job_id AS "jobId", owner FROM ledger_entries
  WHERE job_id IS NOT NULL GROUP BY job_id, owner HAVING count(*) = 1`;
const FAILURE = new Error('this transaction fails');

interface Parts {
  database: SqliteDatabase;
  storage: SqlStorage;
  bytes: Random;
  random: () => number;
  /** Runs transactions at the same time, so that many are committed together; some fail. */
  atOnce: (work: (tx: Transaction, number: number) => Promise<void>) => Promise<void>;
}

async function partsOf(t: Test): Promise<Parts> {
  let groups = 0;
  const database = new SqliteDatabase(join(testFolder(t), 'database.sqlite'), SQLITE_SCHEMA, {
    clock: systemClock,
    onFlush: () => {
      groups += 1;
    },
  });
  const [random, bytes] = [seededRandom(SEED), seededBytes(SEED)];
  const storage = new SqlStorage(database, bytes);
  await storage.start();
  t.teardown(() => storage.stop());
  const atOnce: Parts['atOnce'] = async (work) => {
    const transactions = Array.from({ length: TIMES }, (_, number) =>
      storage.transaction(async (tx) => {
        await work(tx, number);
        if (random() < 0.02) throw FAILURE;
      }),
    );
    for (const { status, ...rest } of await Promise.allSettled(transactions))
      if (status === 'rejected' && 'reason' in rest && rest.reason !== FAILURE) throw rest.reason;
    t.ok(groups < TIMES / 2, `${groups} groups of ${TIMES} transactions, SEED=${SEED}`);
  };
  return { database, storage, random, bytes, atOnce };
}

t.test('the caps of the queue count all jobs that wait at that moment', async (t) => {
  const { database, storage, random, atOnce } = await partsOf(t);
  const { queue } = storage;
  const isFull = (tx: Transaction, owner: string, caps: { maxQueued: number; maxQueuedPerOwner: number }) =>
    queue.assertCapacity(tx, owner, caps).then(
      () => false,
      () => true,
    );
  const assertCounted = async (tx: Transaction) => {
    const rows = await database
      .inside(tx)
      .all<{ owner: string; jobs: number }>(
        'SELECT owner, count(*) AS jobs FROM queue WHERE worker IS NULL GROUP BY owner',
      );
    const all = rows.reduce((sum, { jobs }) => sum + jobs, 0);
    for (const owner of OWNERS) {
      const own = rows.find((row) => row.owner === owner)?.jobs ?? 0;
      const ofOwner = (maxQueuedPerOwner: number) =>
        isFull(tx, owner, { maxQueued: NO_LIMIT, maxQueuedPerOwner });
      const ofAll = (maxQueued: number) => isFull(tx, owner, { maxQueued, maxQueuedPerOwner: NO_LIMIT });
      const share = Math.floor(all / (rows.length + (own === 0 ? 1 : 0)));
      const full = [await ofOwner(own), await ofOwner(own + 1), await ofAll(all), await ofAll(all + 1)];
      if (`${full}` !== `${[true, false, own >= share, false]}`)
        t.fail(`${owner}: ${own} of ${all}, ${full}`);
    }
  };
  const request: ClaimRequest = {
    wanted: () => ({ most: 2, mostOfOthers: 2 }),
    maxRunningPerOwner: NO_LIMIT,
    maySuspect: true,
    precedenceOf: () => ({ yields: false, inGoodStanding: random() < 0.5 }),
    lease: { nowMs: 0, lapsesAtMs: 1 },
  };
  const claims: Claim[] = [];
  await atOnce(async (tx, number) => {
    const owner = OWNERS[Math.floor(random() * OWNERS.length)] as string;
    const chance = random();
    const jobId = String(number);
    if (chance < 0.6) {
      await queue.assertCapacity(tx, owner, { maxQueued: NO_LIMIT, maxQueuedPerOwner: NO_LIMIT });
      await storage.insertJob(tx, jobRecord(jobId, { owner }), 'x');
      await queue.admit(tx, {
        jobId,
        owner,
        precedence: { yields: random() < 0.5, inGoodStanding: random() < 0.5 },
      });
    } else if (chance < 0.68) await queue.remove(tx, String(Math.floor(random() * TIMES)));
    else if (chance < 0.78) claims.push(...(await queue.claim(tx, 'w', request)));
    else {
      const claim = claims.splice(Math.floor(random() * claims.length), 1)[0];
      if (!claim || !(await queue.holds(tx, claim))) return; // Its transaction failed.
      if (chance < 0.88) await queue.remove(tx, claim.jobId);
      else await queue.putBack(tx, claim.jobId, { interruptions: 1, notBeforeMs: random() < 0.5 ? 5 : null });
    }
    await assertCounted(tx);
  });
});

t.test('the ledger reads the credits that are left at that moment', async (t) => {
  const { database, storage, random, bytes, atOnce } = await partsOf(t);
  const store = new SqlLedgerStore(database, storage);
  const ledger = new StoredLedger({ store, clock: systemClock, random: bytes, freeCreditsPerMonth: 20 });
  for (const owner of OWNERS) await ledger.grantPaid(owner, 300);
  const fresh = (tx: Transaction, owner: string): Promise<LedgerAccount | undefined> =>
    // A store that remembers nothing.
    new SqlLedgerStore(database, storage).getAccount(owner, tx);
  await atOnce(async (tx, number) => {
    if (random() < 0.5) {
      const owner = OWNERS[Math.floor(random() * OWNERS.length)] as string;
      const amountCredits = Math.floor(random() * 30);
      await ledger.reserve({ jobId: String(number), owner, amountCredits }, tx);
    } else {
      // Not remembered from earlier transactions, since those may have been rolled back.
      const open = await database.inside(tx).all<{ jobId: string; owner: string }>(RESERVED);
      const job = open[Math.floor(random() * open.length)];
      if (!job) return;
      const { jobId, owner } = job;
      if (random() < 0.5) await ledger.void({ jobId, owner }, tx);
      else await ledger.settle({ jobId, owner, amountCredits: Math.floor(random() * 40) }, tx);
    }
    for (const name of OWNERS) {
      const [known, now] = [await store.getAccount(name, tx), await fresh(tx, name)];
      if (JSON.stringify(known) !== JSON.stringify(now))
        t.fail(`${name}: ${JSON.stringify(known)} instead of ${JSON.stringify(now)}`);
    }
  });
  const { problems } = await ledger.audit();
  t.same(
    problems.filter((problem) => !problem.endsWith('there is no such job')),
    [],
  );
});
