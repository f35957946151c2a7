import { AssertionError } from 'node:assert/strict';
import t from 'tap';
import { DEFAULT_PRICING } from '../../../lib/index.ts';
import { Pricing } from '../../../lib/ledger/pricing.ts';

const pricing = new Pricing();

t.test('a render costs its seconds times the price, rounded up, at least one credit', async (t) => {
  t.equal(pricing.costCredits('low', 0), 1);
  t.equal(pricing.costCredits('low', 1000), 1);
  t.equal(pricing.costCredits('low', 1001), 2);
  t.equal(pricing.costCredits('medium', 1500), 3);
  t.equal(pricing.costCredits('high', 2250), 9);
  t.equal(pricing.costCredits('twok', 10_000), 80);
  t.equal(pricing.costCredits('fourk', 10_000), 160);
});

t.test('floating-point error does not raise the cost', async (t) => {
  const price = new Pricing({
    ...DEFAULT_PRICING,
    creditsPerSecond: { ...DEFAULT_PRICING.creditsPerSecond, low: 10 },
  });
  t.equal(price.costCredits('low', 4100), 41);
});

t.test('the reserve is the cost of five seconds', async (t) => {
  const reserves = (['low', 'medium', 'high'] as const).map((quality) => pricing.reserveCredits(quality));
  t.same(reserves, [5, 10, 20]);
});

t.test('prices and the seconds of the reserve must be positive finite numbers', async (t) => {
  const { creditsPerSecond } = DEFAULT_PRICING;
  for (const number of [0, -1, Number.NaN, Number.POSITIVE_INFINITY]) {
    t.throws(
      () => new Pricing({ ...DEFAULT_PRICING, reserveSeconds: number }),
      AssertionError,
      `reserve ${number}`,
    );
    const prices = { ...creditsPerSecond, high: number };
    t.throws(
      () => new Pricing({ ...DEFAULT_PRICING, creditsPerSecond: prices }),
      AssertionError,
      `price ${number}`,
    );
  }
  const smallest = { reserveSeconds: 0.001, creditsPerSecond: { ...creditsPerSecond, low: 0.001 } };
  t.equal(new Pricing(smallest).reserveCredits('low'), 1);
});

t.test('a negative duration has no cost', async (t) => {
  t.throws(() => pricing.costCredits('low', -1), AssertionError);
});
