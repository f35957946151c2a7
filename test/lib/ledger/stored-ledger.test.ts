import { AssertionError } from 'node:assert/strict';
import { join } from 'node:path';
import fc from 'fast-check';
import t, { type Test } from 'tap';
import { DataFolder, ScenepressError, StoredLedger, type Transaction } from '../../../lib/index.ts';
import type { LedgerStore } from '../../../lib/ledger/ledger-store.ts';
import { ledgerSuite } from '../../../lib/testing/index.ts';
import { turn } from '../../../lib/time/clock.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import { LateStores } from '../../fixtures/late-stores.ts';
import { temporaryFolder } from '../../fixtures/temporary-folder.ts';
import { testFolder } from '../../fixtures/test-folder.ts';

interface Books {
  ledger: StoredLedger;
  clock: FakeClock;
  folder: DataFolder;
}

const SEED = Number(process.env['SEED'] ?? Date.now() % 1_000_000);
const RUNS = Number(process.env['RUNS'] ?? 60);
const late = new LateStores(SEED);
t.comment(`SEED=${SEED}`);

async function openBooks(t: Test, freeCreditsPerMonth = 1000): Promise<Books> {
  const folder = new DataFolder(await temporaryFolder(t));
  await folder.start();
  t.teardown(() => folder.stop());
  const clock = new FakeClock('2026-11-21T10:00:00Z');
  return {
    folder,
    clock,
    ledger: new StoredLedger({ store: late.of(folder.ledgerStore), freeCreditsPerMonth, clock }),
  };
}

/** The sum of the entries, which must always equal the balance. */
async function sumOfEntries(ledger: StoredLedger, owner: string): Promise<number> {
  const entries = await ledger.statement(owner, { limit: Number.MAX_SAFE_INTEGER });
  return entries.reduce((sum, entry) => sum + entry.amountCredits, 0);
}

for (const isLate of [false, true]) {
  t.test(`the stored ledger${isLate ? ', when calls are carried out and answered late' : ''}`, async (t) => {
    const path = testFolder(t);
    let folders = 0;
    const suite = ledgerSuite(async () => {
      const folder = new DataFolder(join(path, String(folders++)));
      await folder.start();
      const store = isLate ? late.of(folder.ledgerStore) : folder.ledgerStore;
      const clock = new FakeClock('2026-11-21T10:00:00Z');
      return {
        subject: new StoredLedger({ store, freeCreditsPerMonth: 100, clock }),
        close: () => folder.stop(),
      };
    });
    for (const { title, run } of suite) await t.test(title, run);
  });
}

t.test('an account gets the month’s free credits once, on first use', async (t) => {
  const { ledger } = await openBooks(t);
  t.same(await ledger.balance('a'), { paid: 0, free: 1000, total: 1000 });
  t.same(await ledger.balance('a'), { paid: 0, free: 1000, total: 1000 });
  t.same(
    (await ledger.statement('a')).map(({ kind, amountCredits }) => [kind, amountCredits]),
    [['grant', 1000]],
  );
});

t.test('free credits are spent before paid ones', async (t) => {
  const { ledger } = await openBooks(t, 30);
  await ledger.grantPaid('a', 100);
  t.equal(await ledger.reserve({ jobId: 'j1', owner: 'a', amountCredits: 50 }), 'reserved');
  t.same(await ledger.balance('a'), { paid: 80, free: 0, total: 80 });
  t.same(await ledger.settle({ jobId: 'j1', owner: 'a', amountCredits: 20 }), {
    kind: 'settled',
    chargedCredits: 20,
  });
  t.same(await ledger.balance('a'), { paid: 100, free: 10, total: 110 });
});

t.test('a grant repeated with its idempotency key is made once, even after it is spent', async (t) => {
  const { ledger, folder, clock } = await openBooks(t, 0);
  const grant = (owner: string, amountCredits: number, idempotencyKey: string) =>
    ledger.grantPaid(owner, amountCredits, { idempotencyKey, note: 'invoice' });
  const all = await Promise.all([grant('a', 50, 'k'), grant('a', 50, 'k'), grant('a', 50, 'k')]);
  for (const balance of all) t.equal(balance.paid, 50);
  await ledger.reserve({ jobId: 'j1', owner: 'a', amountCredits: 50 });
  await ledger.settle({ jobId: 'j1', owner: 'a', amountCredits: 50 });
  t.equal((await grant('a', 50, 'k')).paid, 0, 'it is spent');
  clock.set('2029-01-01T00:00:00Z');
  await folder.stop();
  await folder.start();
  t.equal((await grant('a', 50, 'k')).paid, 0, 'years later, too');
  await t.rejects(grant('a', 60, 'k'), { code: 'conflict', message: /another grant, of 50 credits/ });
  t.equal((await grant('a', 60, 'l')).paid, 60);
  t.equal((await grant('b', 50, 'k')).paid, 50, 'keys are separate for each owner');
  t.equal((await ledger.grantPaid('b', 50)).paid, 100);
  t.equal(await sumOfEntries(ledger, 'b'), 100);
});

t.test('a reserve above the balance is rejected without an entry', async (t) => {
  const { ledger } = await openBooks(t, 30);
  t.equal(await ledger.reserve({ jobId: 'j1', owner: 'a', amountCredits: 31 }), 'insufficient');
  t.equal((await ledger.balance('a')).total, 30);
  t.notMatch(await ledger.statement('a'), [{ kind: 'reserve' }]);
});

t.test('free credits expire with their month (UTC), paid ones do not', async (t) => {
  const { ledger, clock } = await openBooks(t, 100);
  await ledger.grantPaid('a', 7);
  await ledger.reserve({ jobId: 'j1', owner: 'a', amountCredits: 30 });
  await ledger.settle({ jobId: 'j1', owner: 'a', amountCredits: 30 });
  clock.set('2026-11-30T23:59:59.999Z');
  t.same(await ledger.balance('a'), { paid: 7, free: 70, total: 77 });
  clock.set('2026-12-01T00:00:00.000Z');
  t.same(await ledger.balance('a'), { paid: 7, free: 100, total: 107 });
});

t.test('a void after the end of the month returns all credits to the current month', async (t) => {
  const { ledger, clock } = await openBooks(t, 100);
  await ledger.reserve({ jobId: 'j1', owner: 'a', amountCredits: 40 });
  clock.set('2026-12-01T00:00:00Z');
  t.equal((await ledger.balance('a')).free, 100);
  await ledger.void({ jobId: 'j1', owner: 'a' });
  t.same(await ledger.balance('a'), { paid: 0, free: 140, total: 140 });
  t.equal(await sumOfEntries(ledger, 'a'), 140);
});

t.test('a clock that was briefly years ahead costs no monthly credits', async (t) => {
  const { ledger, clock } = await openBooks(t, 100);
  await ledger.reserve({ jobId: 'j1', owner: 'a', amountCredits: 30 });
  clock.set('2036-01-01T00:00:00Z');
  t.equal((await ledger.balance('a')).total, 100);
  clock.set('2026-11-21T10:01:00Z');
  t.equal((await ledger.balance('a')).total, 100);
  await ledger.void({ jobId: 'j1', owner: 'a' });
  t.equal((await ledger.balance('a')).total, 130);
  clock.set('2026-12-01T00:00:00Z');
  t.equal((await ledger.balance('a')).total, 100, 'the next month is granted');
  t.same(
    (await ledger.audit()).problems.filter((problem) => !problem.includes('no such job')),
    [],
  );
});

t.test('a clock that jumps back and forth does not grant a month twice', async (t) => {
  const { ledger, clock } = await openBooks(t, 100);
  for (const time of ['2026-12-05', '2026-11-30', '2026-12-31', '2026-10-01', '2026-12-02']) {
    clock.set(`${time}T12:00:00Z`);
    t.equal((await ledger.balance('a')).total, 100, time);
  }
  const grants = (await ledger.statement('a')).filter(({ kind }) => kind === 'grant');
  t.equal(grants.length, 1, 'the account started in December, and earlier months are not granted');
});

t.test('the monthly grant covers every known account, and later use grants nothing more', async (t) => {
  const { ledger, clock, folder } = await openBooks(t, 100);
  await ledger.balance('a');
  await ledger.balance('__proto__');
  clock.set('2027-01-01T00:00:01Z');
  await ledger.grantMonth();
  t.same(await folder.ledgerStore.ownersNotIn('2027-01', 10), []);
  await ledger.grantMonth();
  for (const owner of ['a', '__proto__']) {
    t.equal((await ledger.balance(owner)).total, 100);
    const grants = (await ledger.statement(owner)).filter(({ kind }) => kind === 'grant');
    t.equal(grants.length, 2);
  }
});

t.test(
  'free credits of the month are spent first when a reserve is the first act of the month',
  async (t) => {
    const { ledger, clock } = await openBooks(t, 30);
    await ledger.grantPaid('a', 100);
    clock.set('2026-12-01T00:00:00Z');
    await ledger.reserve({ jobId: 'j1', owner: 'a', amountCredits: 50 });
    t.same(await ledger.balance('a'), { paid: 80, free: 0, total: 80 });
  },
);

t.test('an entry names each grant that changes, and no other', async (t) => {
  const { ledger, clock } = await openBooks(t, 30);
  const lastParts = async () =>
    (await ledger.statement('a', { limit: 1 }))[0]?.parts.map(({ source, period, amountCredits }) => [
      source,
      period,
      amountCredits,
    ]);
  await ledger.grantPaid('a', 100);
  await ledger.reserve({ jobId: 'j1', owner: 'a', amountCredits: 30 });
  t.same(await lastParts(), [['free', '2026-11', 30]]);
  await ledger.reserve({ jobId: 'j2', owner: 'a', amountCredits: 10 });
  t.same(await lastParts(), [['paid', null, 10]]);
  await ledger.void({ jobId: 'j1', owner: 'a' });
  t.same(await lastParts(), [['free', '2026-11', 30]]);
  await ledger.reserve({ jobId: 'j3', owner: 'a', amountCredits: 40 });
  t.same(await lastParts(), [
    ['free', '2026-11', 30],
    ['paid', null, 10],
  ]);
  await ledger.settle({ jobId: 'j3', owner: 'a', amountCredits: 30 });
  t.same(await lastParts(), [['paid', null, 10]]);
  await ledger.settle({ jobId: 'j2', owner: 'a', amountCredits: 10 });
  t.same(await lastParts(), []);
  await ledger.reserve({ jobId: 'j4', owner: 'a', amountCredits: 1 });
  await ledger.settle({ jobId: 'j4', owner: 'a', amountCredits: 3 });
  t.same(await lastParts(), [['paid', null, 2]], 'the cost above the reserve');

  await ledger.grantPaid('b', 1);
  await ledger.reserve({ jobId: 'b1', owner: 'b', amountCredits: 31 });
  clock.set('2026-12-01T00:00:00Z');
  await ledger.void({ jobId: 'b1', owner: 'b' });
  t.match((await ledger.statement('b', { limit: 1 }))[0], {
    kind: 'void',
    amountCredits: 31,
    parts: [
      { grantId: 'free-2026-12', source: 'free', period: '2026-12', amountCredits: 30 },
      { source: 'paid', period: null, amountCredits: 1 },
    ],
  });
});

t.test('an entry has its time, job, charge and note', async (t) => {
  const { ledger } = await openBooks(t, 0);
  await ledger.grantPaid('a', 100, { note: 'invoice 7' });
  await ledger.grantPaid('a', 1);
  await ledger.reserve({ jobId: 'j1', owner: 'a', amountCredits: 40 });
  await ledger.settle({ jobId: 'j1', owner: 'a', amountCredits: 15 });
  const nothing = { owner: 'a', chargedCredits: 0, jobId: null, note: null };
  const entries = await ledger.statement('a');
  t.match(entries, [
    { ...nothing, kind: 'settle', amountCredits: 25, chargedCredits: 15, jobId: 'j1' },
    { ...nothing, kind: 'reserve', amountCredits: -40, jobId: 'j1' },
    { ...nothing, kind: 'grant', amountCredits: 1 },
    { ...nothing, kind: 'grant', amountCredits: 100, note: 'invoice 7' },
    { ...nothing, kind: 'grant', amountCredits: 0 },
  ]);
  for (const { atMs } of entries) t.equal(atMs, Date.parse('2026-11-21T10:00:00Z'));
  t.same(
    await ledger.statement('a', { before: entries[1]?.entryId as string, limit: 2 }),
    entries.slice(2, 4),
  );
});

t.test('amounts must be non-negative integers', async (t) => {
  const { ledger, folder } = await openBooks(t);
  await ledger.reserve({ jobId: 'j1', owner: 'a', amountCredits: 10 });
  for (const amountCredits of [-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53]) {
    const about = String(amountCredits);
    const options = { store: folder.ledgerStore, freeCreditsPerMonth: amountCredits };
    t.throws(() => new StoredLedger(options), AssertionError, about);
    await t.rejects(ledger.grantPaid('a', amountCredits), { code: 'invalid_request' }, about);
    await t.rejects(ledger.reserve({ jobId: 'j2', owner: 'a', amountCredits }), AssertionError, about);
    await t.rejects(ledger.settle({ jobId: 'j1', owner: 'a', amountCredits }), AssertionError, about);
    // Also for a job without a reserve.
    await t.rejects(ledger.settle({ jobId: 'j3', owner: 'a', amountCredits }), AssertionError, about);
  }
  t.equal((await ledger.balance('a')).total, 990);
  t.equal(await ledger.reserve({ jobId: 'j2', owner: 'a', amountCredits: 0 }), 'reserved');
  t.match(await ledger.settle({ jobId: 'j2', owner: 'a', amountCredits: 0 }), { kind: 'settled' });
});

t.test('a job is settled and voided by its owner only, and a settled one is not voided', async (t) => {
  const { ledger } = await openBooks(t);
  await ledger.reserve({ jobId: 'j1', owner: 'a', amountCredits: 10 });
  await t.rejects(ledger.settle({ jobId: 'j1', owner: 'b', amountCredits: 1 }), AssertionError);
  await t.rejects(ledger.void({ jobId: 'j1', owner: 'b' }), AssertionError);
  await ledger.void({ jobId: 'never reserved', owner: 'a' });
  await t.rejects(ledger.void({ jobId: 'never reserved', owner: 'b' }), AssertionError);
  await ledger.settle({ jobId: 'j1', owner: 'a', amountCredits: 1 });
  await t.rejects(ledger.void({ jobId: 'j1', owner: 'a' }), AssertionError);
  t.equal((await ledger.balance('a')).total, 999);
});

t.test('a voided job is neither reserved nor settled later', async (t) => {
  const { ledger } = await openBooks(t);
  await ledger.reserve({ jobId: 'j1', owner: 'a', amountCredits: 10 });
  await ledger.void({ jobId: 'j1', owner: 'a' });
  t.equal(await ledger.reserve({ jobId: 'j1', owner: 'a', amountCredits: 10 }), 'insufficient');
  t.same(await ledger.settle({ jobId: 'j1', owner: 'a', amountCredits: 1 }), { kind: 'insufficient' });
  t.equal((await ledger.balance('a')).total, 1000);
});

t.test('a job that was never reserved costs nothing', async (t) => {
  const { ledger } = await openBooks(t);
  t.equal(await ledger.hasReserve('j1'), false);
  t.same(await ledger.settle({ jobId: 'j1', owner: 'a', amountCredits: 9 }), {
    kind: 'settled',
    chargedCredits: 0,
  });
  t.equal(await ledger.hasReserve('j1'), false);
  await ledger.reserve({ jobId: 'j1', owner: 'a', amountCredits: 9 });
  t.equal(await ledger.hasReserve('j1'), true);
});

t.test('calls with a transaction are part of it', async (t) => {
  const { ledger, folder } = await openBooks(t);
  const { storage } = late.of(folder.ledgerStore);
  await ledger.reserve({ jobId: 'j1', owner: 'a', amountCredits: 10 });
  await ledger.reserve({ jobId: 'j2', owner: 'a', amountCredits: 10 });
  const before = await ledger.statement('a');
  const undone = storage.transaction(async (tx) => {
    await ledger.settle({ jobId: 'j1', owner: 'a', amountCredits: 1 }, tx);
    await ledger.void({ jobId: 'j2', owner: 'a' }, tx);
    await ledger.reserve({ jobId: 'j3', owner: 'a', amountCredits: 10 }, tx);
    t.equal(await ledger.hasReserve('j3', tx), true);
    throw new Error('undone');
  });
  await t.rejects(undone, { message: 'undone' });
  t.same(await ledger.statement('a'), before);
});

t.test('the ledger joins the storage of its own store only', async (t) => {
  const { ledger, folder } = await openBooks(t);
  const other = await openBooks(t);
  t.equal(ledger.joins(late.of(folder.ledgerStore).storage), true);
  t.equal(ledger.joins(late.of(other.folder.ledgerStore).storage), false);
});

t.test('from its start to its stop, the ledger makes the grants at the start of a month', async (t) => {
  const { ledger, clock, folder } = await openBooks(t, 100);
  const ungranted = (period: string) => folder.ledgerStore.ownersNotIn(period, 10);
  const nextDay = () => clock.advance(86_400_000);
  await ledger.balance('a');
  await ledger.start();
  await ledger.start();
  clock.set('2026-11-29T23:59:30Z');
  nextDay();
  t.same(await ungranted('2026-11'), [], 'nothing changes before the month ends');
  nextDay();
  while ((await ungranted('2026-12')).length > 0) await turn();
  t.equal((await folder.ledgerStore.getAccount('a'))?.grants[0]?.period, '2026-12');
  await ledger.stop();
  await ledger.stop();
  t.equal(clock.nextInMs, undefined, 'no timer is left');
  await ledger.start();
  t.type(clock.nextInMs, 'number', 'and it can be started again');
  await ledger.stop();
});

t.test('monthly grants that fail are made on the first use', async (t) => {
  const { ledger, clock, folder } = await openBooks(t, 100);
  await ledger.balance('a');
  await ledger.start();
  await folder.stop();
  clock.set('2026-11-30T23:59:59Z');
  clock.advance(60_000);
  await folder.start();
  t.equal((await ledger.balance('a')).free, 100);
  await ledger.stop();
});

t.test('balances are shown while nothing can be written', async (t) => {
  const { ledger, folder, clock } = await openBooks(t, 30);
  let failure: Error = new ScenepressError('storage_full', 'The disk is full.');
  const storage = {
    ...folder.storage,
    transaction: async () => {
      throw failure;
    },
  };
  const store: LedgerStore = Object.create(folder.ledgerStore, { storage: { value: storage } });
  store.getAccount = folder.ledgerStore.getAccount.bind(folder.ledgerStore);
  const readOnly = new StoredLedger({ store, freeCreditsPerMonth: 30, clock });
  t.same(await readOnly.balance('a'), { paid: 0, free: 30, total: 30 }, 'of a new account');
  await ledger.grantPaid('a', 7);
  await ledger.reserve({ jobId: 'j1', owner: 'a', amountCredits: 10 });
  t.same(await readOnly.balance('a'), { paid: 7, free: 20, total: 27 }, 'of this month');
  clock.set('2026-12-01T00:00:00Z');
  t.same(await readOnly.balance('a'), { paid: 7, free: 30, total: 37 }, 'with the grant of a new month');
  failure = new ScenepressError('storage_failed', 'A write failed.');
  await t.rejects(readOnly.balance('a'), { code: 'storage_failed' });
});

t.test('in random histories the balance equals the sum of the entries and is never negative', async (t) => {
  const { ledger, clock } = await openBooks(t, 50);
  const credits = fc.integer({ min: 0, max: 60 });
  const job = fc.integer({ min: 0, max: 9 });
  const step = fc.oneof(
    fc.record({ kind: fc.constant('grant' as const), amount: credits }),
    fc.record({ kind: fc.constant('reserve' as const), job, amount: credits }),
    fc.record({ kind: fc.constant('settle' as const), job, amount: credits }),
    fc.record({ kind: fc.constant('void' as const), job }),
    fc.record({ kind: fc.constant('days' as const), days: fc.integer({ min: -10, max: 40 }) }),
  );
  let history = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40, size: 'max' }), async (steps) => {
      const owner = `owner-${history++}`;
      const states = new Map<
        number,
        { state: 'open' | 'settled' | 'voided'; charged: number; held: number }
      >();
      for (const step of steps) {
        const before = (await ledger.balance(owner)).total;
        if (step.kind === 'days') {
          clock.advance(step.days * 86_400_000);
          continue;
        }
        if (step.kind === 'grant') await ledger.grantPaid(owner, step.amount);
        if ('job' in step) {
          const jobId = `${owner}/${step.job}`;
          const known = states.get(step.job);
          if (step.kind === 'reserve') {
            const answer = await ledger.reserve({ jobId, owner, amountCredits: step.amount });
            if (!known) {
              t.equal(answer, step.amount <= before ? 'reserved' : 'insufficient');
              if (answer === 'reserved')
                states.set(step.job, { state: 'open', charged: 0, held: step.amount });
            }
          } else if (step.kind === 'settle' && known) {
            const answer = await ledger.settle({ jobId, owner, amountCredits: step.amount });
            if (known.state === 'open') {
              t.equal(answer.kind, step.amount <= known.held + before ? 'settled' : 'insufficient');
              if (answer.kind === 'settled') Object.assign(known, { state: 'settled', charged: step.amount });
            }
          } else if (step.kind === 'void' && known?.state !== 'settled') {
            await ledger.void({ jobId, owner });
            states.set(step.job, { state: 'voided', charged: 0, held: 0 });
          }
        }
        const { free, paid, total } = await ledger.balance(owner);
        t.ok(free >= 0 && paid >= 0 && total === free + paid);
        t.equal(await sumOfEntries(ledger, owner), total);
      }
      const entries = await ledger.statement(owner, { limit: Number.MAX_SAFE_INTEGER });
      const charged = entries.reduce((sum, entry) => sum + entry.chargedCredits, 0);
      t.equal(
        charged,
        [...states.values()].reduce((sum, job) => sum + job.charged, 0),
      );
    }),
    { numRuns: RUNS },
  );
});

t.test('what is prepared in a transaction is read once, for its owner and job', async (t) => {
  const { folder, clock } = await openBooks(t);
  const calls: string[] = [];
  const counted = ['getAccount', 'entriesOfJob', 'setPeriod'];
  const store = new Proxy(folder.ledgerStore, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== 'function') return value;
      return (...values: unknown[]) => {
        if (counted.includes(String(name))) calls.push(`${String(name)} ${values.find(isText)}`);
        return value.apply(target, values);
      };
    },
  });
  const ledger = new StoredLedger({ store, clock });
  const inTransaction = async (work: (tx: Transaction) => Promise<unknown>) => {
    calls.length = 0;
    await folder.storage.transaction(work);
    return calls;
  };
  await ledger.reserve({ jobId: 'j', owner: 'a', amountCredits: 10 });
  await ledger.grantPaid('b', 10);

  t.same(
    await inTransaction(async (tx) => {
      await ledger.prepare({ owner: 'a' }, tx);
      await ledger.reserve({ jobId: 'k', owner: 'a', amountCredits: 10 }, tx);
    }),
    ['getAccount a'],
  );
  t.same(
    await inTransaction(async (tx) => {
      await ledger.prepare({ owner: 'a' }, tx);
      await ledger.reserve({ jobId: 'l', owner: 'a', amountCredits: 10 }, tx);
      await ledger.reserve({ jobId: 'm', owner: 'a', amountCredits: 10 }, tx);
    }),
    ['getAccount a', 'getAccount a'],
    'again after a change',
  );
  t.same(
    await inTransaction(async (tx) => {
      await ledger.prepare({ owner: 'b' }, tx);
      await ledger.settle({ jobId: 'j', owner: 'a', amountCredits: 3 }, tx);
    }),
    ['getAccount b', 'getAccount a', 'entriesOfJob j'],
    'of another owner, the account is locked before its entries are read',
  );
  t.same(
    (
      await inTransaction(async (tx) => {
        await ledger.prepare({ owner: 'a', jobId: 'k' }, tx);
        await ledger.settle({ jobId: 'k', owner: 'a', amountCredits: 3 }, tx);
      })
    ).sort(),
    ['entriesOfJob k', 'getAccount a'],
  );
  t.same(
    (
      await inTransaction(async (tx) => {
        await ledger.prepare({ owner: 'a', jobId: 'k' }, tx);
        await ledger.void({ jobId: 'l', owner: 'a' }, tx);
      })
    ).sort(),
    ['entriesOfJob k', 'entriesOfJob l', 'getAccount a'],
    'of another job',
  );
  t.equal(await ledger.available('a'), 1000 - 3 - 3 - 10);
  t.equal(await sumOfEntries(ledger, 'a'), 1000 - 3 - 3 - 10);
});

t.test('charges of a period are added up', async (t) => {
  const { ledger, clock } = await openBooks(t);
  const fromMs = clock.now();
  await ledger.reserve({ jobId: 'j', owner: 'a', amountCredits: 10 });
  await ledger.settle({ jobId: 'j', owner: 'a', amountCredits: 3 });
  const untilMs = clock.now() + 1;
  t.same(await ledger.charges('a', { fromMs, untilMs }), { chargedCredits: 3, renders: 1 });
  t.same(await ledger.charges('b', { fromMs, untilMs }), { chargedCredits: 0, renders: 0 });
});

t.test('the advice after a refusal mentions the monthly credits, if there are any', async (t) => {
  t.match((await openBooks(t, 1)).ledger.topUpHint, /next month/);
  t.equal((await openBooks(t, 0)).ledger.topUpHint, undefined);
});

t.test('a grant needs an owner', async (t) => {
  const { ledger } = await openBooks(t);
  for (const owner of ['', 7 as unknown as string])
    await t.rejects(ledger.grantPaid(owner, 1), { code: 'invalid_request' });
});

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

t.test(
  'what was granted by mistake is taken back once, as far as it is neither spent nor reserved',
  async (t) => {
    const { ledger } = await openBooks(t);
    await ledger.grantPaid('a', 1_234_567, { idempotencyKey: 'mistake' });
    await ledger.grantPaid('a', 10);
    await ledger.reserve({ jobId: 'j', owner: 'a', amountCredits: 1100 });
    const rest = { free: 0, paid: 1_234_477, total: 1_234_477 };
    t.same(await ledger.balance('a'), rest);
    await t.rejects(ledger.takeBack('a', 1_234_567, { idempotencyKey: 'back' }), {
      code: 'conflict',
      message: 'Only 1234477 paid credits can be taken back: the others are spent or reserved.',
    });
    const left = { free: 0, paid: 77, total: 77 };
    for (const _ of [1, 2]) {
      t.same(await ledger.takeBack('a', 1_234_400, { idempotencyKey: 'back', note: 'a mistake' }), left);
    }
    await t.rejects(ledger.takeBack('a', 7, { idempotencyKey: 'back' }), { code: 'conflict' });
    await t.rejects(ledger.takeBack('a', 7, { idempotencyKey: 'mistake' }), { code: 'conflict' });
    await t.rejects(ledger.takeBack('a', 1.5), { code: 'invalid_request' });
    const [entry] = await ledger.statement('a', { limit: 1 });
    t.match(entry, { kind: 'grant', amountCredits: -1_234_400, jobId: null, note: 'a mistake' });
    t.equal(await sumOfEntries(ledger, 'a'), 77);
    // The job may still return what it has reserved.
    await ledger.void({ jobId: 'j', owner: 'a' });
    t.same(await ledger.balance('a'), { free: 1000, paid: 177, total: 1177 });
    t.equal(await sumOfEntries(ledger, 'a'), 1177);
    t.same((await ledger.audit()).problems, []);
  },
);

t.test('a statement has one entry a job on request, and each open reserve', async (t) => {
  const { ledger } = await openBooks(t);
  for (const jobId of ['settled', 'voided', 'open'])
    await ledger.reserve({ jobId, owner: 'a', amountCredits: 5 });
  await ledger.settle({ jobId: 'settled', owner: 'a', amountCredits: 3 });
  await ledger.void({ jobId: 'voided', owner: 'a' });
  const kinds = async (query = {}) =>
    (await ledger.statement('a', query)).map(({ kind, jobId }) => [kind, jobId]);
  t.equal((await kinds()).length, 6);
  const folded = [
    ['void', 'voided'],
    ['settle', 'settled'],
    ['reserve', 'open'],
    ['grant', null],
  ];
  t.same(await kinds({ foldsJobs: true }), folded);
  const [, second] = await ledger.statement('a', { foldsJobs: true });
  t.same(await kinds({ foldsJobs: true, before: second?.entryId, limit: 1 }), [folded[2]]);
});
