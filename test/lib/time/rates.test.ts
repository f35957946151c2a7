import t from 'tap';
import { Rates } from '../../../lib/time/rates.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';

function make() {
  const clock = new FakeClock('2026-11-23T10:00:00Z');
  const wait = (ms: number) => clock.advance(ms);
  return { clock, rates: new Rates({ perSecond: 2, burst: 3, clock }), wait };
}

t.test('a burst is allowed at once, then so many a second', async (t) => {
  const { rates, wait } = make();
  for (let count = 0; count < 3; count++) {
    t.equal(rates.waitMs('ada'), 0);
    rates.add('ada');
  }
  t.equal(rates.waitMs('ada'), 500);
  t.equal(rates.waitMs('bob'), 0, 'each name has its own');
  wait(400);
  t.equal(rates.waitMs('ada'), 100);
  wait(100);
  t.equal(rates.waitMs('ada'), 0);
  rates.add('ada');
  rates.add('ada');
  t.equal(rates.waitMs('ada'), 1000, 'what happens beyond the rate counts too');
  wait(60_000);
  for (let count = 0; count < 3; count++) rates.add('ada');
  t.equal(rates.waitMs('ada'), 500, 'a pause allows no more than a burst');
});

t.test('names are forgotten when they have used nothing of their rate', async (t) => {
  const { rates, wait } = make();
  rates.add('ada');
  rates.add('bob');
  t.equal(rates.size, 2);
  wait(500);
  rates.add('eve');
  t.equal(rates.size, 1);
});

t.test('setting the clock back does not extend the wait', async (t) => {
  const { clock, rates } = make();
  rates.add('ada');
  clock.set('2026-11-23T09:00:00Z');
  t.equal(rates.waitMs('ada'), 0);
});
