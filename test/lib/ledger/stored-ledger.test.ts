import fc from 'fast-check';
import t, { type Test } from 'tap';
import { DataFolder, StoredLedger } from '../../../lib/index.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import { LateStores } from '../../fixtures/late-stores.ts';

interface Books {
  ledger: StoredLedger;
  clock: FakeClock;
  folder: DataFolder;
}

const SEED = Number(process.env['SEED'] ?? Date.now() % 1_000_000);
const late = new LateStores(SEED);
t.comment(`SEED=${SEED}`);

async function openBooks(t: Test, freeCreditsPerMonth = 1000): Promise<Books> {
  const folder = new DataFolder(t.testdir());
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
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
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
    { numRuns: 60 },
  );
});
