import t from 'tap';
import { availableOf, chargedOf } from '../../../../lib/jobs/accept/ledger-answers.ts';
import { DistantLedger } from '../../../fixtures/distant-ledger.ts';

const ledger = new DistantLedger(0);

t.test('the charged credits are an integer of at least 0', async (t) => {
  t.equal(chargedOf(ledger, { kind: 'settled', chargedCredits: 2 }), 2);
  t.equal(chargedOf(ledger, { kind: 'settled', chargedCredits: 0 }), 0);
  t.equal(chargedOf(ledger, { kind: 'insufficient' }), undefined);
  for (const chargedCredits of ['2', 2n, 1.5, -1, Number.NaN, undefined])
    t.throws(() => chargedOf(ledger, { kind: 'settled', chargedCredits } as never), {
      message:
        /^The ledger DistantLedger answered `settle` with .* It must answer .*an integer of at least 0\.$/,
    });
  for (const answer of [undefined, 'settled', { kind: 'charged' }])
    t.throws(() => chargedOf(ledger, answer as never), {
      message: /^The ledger DistantLedger answered `settle`/,
    });
});

t.test('the available credits are a number', async (t) => {
  for (const credits of [0, 2.5, -1, Number.POSITIVE_INFINITY])
    t.equal(availableOf(ledger, credits), credits);
  for (const credits of ['100', undefined, Number.NaN])
    t.throws(() => availableOf(ledger, credits as never), {
      message: /^The ledger DistantLedger answered `available` with .* It must answer a number\.$/,
    });
});
