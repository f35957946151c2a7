import t, { type Test } from 'tap';
import type { LedgerStore } from '../../../lib/ledger/ledger-store.ts';
import { StoredLedger } from '../../../lib/ledger/stored-ledger.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import { openPostgres } from '../../fixtures/postgres/database.ts';

/** Two processes with the same books. A hook runs once, at our first look at an account. */
async function open(t: Test, { theirs, ours }: { theirs: string; ours: string }) {
  const { ledgerStore } = await openPostgres(t);
  const hooks: { before?: () => Promise<unknown>; after?: () => Promise<unknown> } = {};
  const run = async (when: 'before' | 'after') => {
    const hook = hooks[when];
    delete hooks[when];
    await hook?.();
  };
  const watched = new Proxy(ledgerStore, {
    get(store, name: keyof LedgerStore) {
      if (name === 'storage') return store.storage;
      if (name !== 'getAccount') return store[name].bind(store);
      return async (...args: Parameters<LedgerStore['getAccount']>) => {
        await run('before');
        const account = await store.getAccount(...args);
        await run('after');
        return account;
      };
    },
  });
  const ledgerOf = (store: LedgerStore, now: string) =>
    new StoredLedger({ store, freeCreditsPerMonth: 100, clock: new FakeClock(now) });
  return { hooks, theirs: ledgerOf(ledgerStore, theirs), ours: ledgerOf(watched, ours) };
}

t.test('a reserve is refused when another process voids the job meanwhile', async (t) => {
  const now = '2026-11-21T10:00:00Z';
  const { hooks, theirs, ours } = await open(t, { theirs: now, ours: now });
  await theirs.balance('a');
  hooks.before = () => theirs.void({ jobId: '1', owner: 'a' });
  t.equal(await ours.reserve({ jobId: '1', owner: 'a', amountCredits: 40 }), 'insufficient');
  t.equal(await theirs.available('a'), 100);
});

t.test('processes that create an account in two months make the grant of one', async (t) => {
  const { hooks, theirs, ours } = await open(t, {
    theirs: '2026-11-30T23:59:59Z',
    ours: '2026-12-01T00:00:00Z',
  });
  hooks.after = () => theirs.reserve({ jobId: '1', owner: 'a', amountCredits: 0 });
  t.equal(await ours.reserve({ jobId: '2', owner: 'a', amountCredits: 0 }), 'reserved');
  t.equal((await ours.balance('a')).total, 100);
});

t.test('two processes take the same credits back once', async (t) => {
  const now = '2026-11-21T10:00:00Z';
  const { hooks, theirs, ours } = await open(t, { theirs: now, ours: now });
  await theirs.grantPaid('a', 500);
  hooks.before = () => theirs.takeBack('a', 400, { idempotencyKey: 'back' });
  t.match(await ours.takeBack('a', 400, { idempotencyKey: 'back' }), { paid: 100 });
  await t.rejects(ours.takeBack('a', 101), { code: 'conflict' });
  await ours.reserve({ jobId: '1', owner: 'a', amountCredits: 5 });
  await ours.void({ jobId: '1', owner: 'a' });
  const kinds = (await ours.statement('a', { foldsJobs: true })).map(({ kind }) => kind);
  t.same(kinds.sort(), ['grant', 'grant', 'grant', 'void']);
  t.same((await ours.audit()).problems, []);
});
