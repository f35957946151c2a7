import assert from 'node:assert/strict';
import type { Ledger, ReserveAnswer } from '../ledger/ledger.ts';
import { type Behaviour, behaviours, type Opened, type SuiteOptions } from './suite.ts';

const owner = 'a';

/** An answer without its message. */
const answerOf = (answer: ReserveAnswer) => (typeof answer === 'string' ? answer : answer.kind);

const AT_FIRST = {
  holds: 'a ledger in which the owner `a` has exactly 100 credits',
  flaw: async (ledger: Ledger) => {
    const credits = await ledger.available(owner);
    return credits === 100 ? undefined : `${credits}`;
  },
};

/**
 * Behaviors of a {@link Ledger} that charges. `open` returns one in which owner `a` has exactly 100 credits.
 *
 * ```ts
 * const open = async () => ({ subject: new MyLedger({ a: 100 }), close: async () => {} });
 * for (const { title, run } of ledgerSuite(open)) test(title, run);
 * ```
 */
export function ledgerSuite(open: () => Promise<Opened<Ledger>>, options: SuiteOptions = {}): Behaviour[] {
  const suite = { name: 'ledgerSuite', open, options, ...AT_FIRST };
  return behaviours(suite, {
    async 'reserves credits and charges the cost of the job'(ledger) {
      assert.equal(await ledger.reserve({ jobId: '1', owner, amountCredits: 40 }), 'reserved');
      assert.equal(await ledger.available(owner), 60);
      const settled = await ledger.settle({ jobId: '1', owner, amountCredits: 15 });
      assert.deepEqual(settled, { kind: 'settled', chargedCredits: 15 });
      assert.equal(await ledger.available(owner), 85);
    },

    async 'charges a cost above the reserve to the balance'(ledger) {
      await ledger.reserve({ jobId: '1', owner, amountCredits: 10 });
      const settled = await ledger.settle({ jobId: '1', owner, amountCredits: 100 });
      assert.deepEqual(settled, { kind: 'settled', chargedCredits: 100 });
      assert.equal(await ledger.available(owner), 0);
    },

    async 'changes nothing if reserve and balance do not cover the cost'(ledger) {
      await ledger.reserve({ jobId: '1', owner, amountCredits: 10 });
      assert.deepEqual(await ledger.settle({ jobId: '1', owner, amountCredits: 101 }), {
        kind: 'insufficient',
      });
      assert.equal(await ledger.available(owner), 90);
      await ledger.void({ jobId: '1', owner });
      assert.equal(await ledger.available(owner), 100);
    },

    async 'rejects a reserve above the balance'(ledger) {
      assert.equal(answerOf(await ledger.reserve({ jobId: '1', owner, amountCredits: 101 })), 'insufficient');
      assert.equal(await ledger.available(owner), 100);
    },

    async 'gives the whole reserve back when it is voided'(ledger) {
      await ledger.reserve({ jobId: '1', owner, amountCredits: 40 });
      await ledger.void({ jobId: '1', owner });
      assert.equal(await ledger.available(owner), 100);
    },

    async 'ignores repeated calls'(ledger) {
      for (let i = 0; i < 3; i++) {
        assert.equal(await ledger.reserve({ jobId: '1', owner, amountCredits: 40 }), 'reserved');
      }
      assert.equal(await ledger.available(owner), 60);
      for (let i = 0; i < 3; i++) {
        const settled = await ledger.settle({ jobId: '1', owner, amountCredits: 15 });
        assert.deepEqual(settled, { kind: 'settled', chargedCredits: 15 });
      }
      assert.equal(await ledger.available(owner), 85);
      await ledger.reserve({ jobId: '2', owner, amountCredits: 40 });
      for (let i = 0; i < 3; i++) await ledger.void({ jobId: '2', owner });
      assert.equal(await ledger.available(owner), 85);
    },

    async 'rejects a reserve that arrives after its void'(ledger) {
      await ledger.void({ jobId: '1', owner });
      assert.equal(answerOf(await ledger.reserve({ jobId: '1', owner, amountCredits: 10 })), 'insufficient');
      assert.equal(await ledger.available(owner), 100);
    },

    async 'keeps a settled job settled: repeats the first charge, and rejects a void'(ledger) {
      await ledger.reserve({ jobId: '1', owner, amountCredits: 40 });
      const settled = await ledger.settle({ jobId: '1', owner, amountCredits: 15 });
      for (const amountCredits of [0, 16, 60, 1000]) {
        assert.deepEqual(await ledger.settle({ jobId: '1', owner, amountCredits }), settled);
      }
      await assert.rejects(ledger.void({ jobId: '1', owner }));
      assert.equal(await ledger.reserve({ jobId: '1', owner, amountCredits: 40 }), 'reserved');
      assert.deepEqual(await ledger.settle({ jobId: '1', owner, amountCredits: 15 }), settled);
      assert.equal(await ledger.available(owner), 85);
    },

    async 'keeps a voided job voided: does not settle it'(ledger) {
      await ledger.reserve({ jobId: '1', owner, amountCredits: 40 });
      await ledger.void({ jobId: '1', owner });
      for (const amountCredits of [0, 15]) {
        assert.deepEqual(await ledger.settle({ jobId: '1', owner, amountCredits }), { kind: 'insufficient' });
      }
      await ledger.void({ jobId: '1', owner });
      assert.equal(answerOf(await ledger.reserve({ jobId: '1', owner, amountCredits: 40 })), 'insufficient');
      assert.equal(await ledger.available(owner), 100);
    },

    async 'never reserves the same credits twice for concurrent calls'(ledger) {
      const answers = await Promise.all(
        Array.from({ length: 30 }, (_, i) => ledger.reserve({ jobId: `${i}`, owner, amountCredits: 10 })),
      );
      assert.equal(answers.filter((answer) => answer === 'reserved').length, 10);
      assert.equal(await ledger.available(owner), 0);
    },

    async 'splits the balance into parts that add up'(ledger) {
      const { paid, free, total } = await ledger.balance(owner);
      assert.equal(total, 100);
      assert.equal(paid + free, total);
    },
  });
}
