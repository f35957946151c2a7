import t from 'tap';
import { HostPaces } from '../../../lib/webhooks/host-paces.ts';

const QUICK = { tookMs: 10, answered: true };

t.test('an owner with many hosts evicts only its own paces', async (t) => {
  const paces = new HostPaces({ most: 100 });
  for (let i = 0; i < 10; i += 1) paces.remember('ada', `${i}.test`, QUICK);
  for (let i = 0; i < 1_000; i += 1) paces.remember('eve', `${i}.test`, QUICK);
  for (let i = 0; i < 10; i += 1) t.equal(paces.of('ada', `${i}.test`), 'quick');
  t.equal(paces.of('eve', '909.test'), 'new', 'the least recently called host is evicted first');
  t.equal(paces.of('eve', '910.test'), 'quick');
});

t.test('a host is quick up to a second, then slow, also when it does not answer', async (t) => {
  const paces = new HostPaces();
  const after = (tookMs: number, answered: boolean) => {
    paces.remember('ada', 'a.test', { tookMs, answered });
    return paces.of('ada', 'a.test');
  };
  t.equal(after(1_000, false), 'new', 'a failure within a second proves nothing');
  t.equal(after(1_000, true), 'quick');
  t.equal(after(1_001, true), 'slow');
  t.equal(after(1, true), 'quick');
  t.equal(after(1_001, false), 'slow');
  t.equal(after(1, false), 'slow');
});

t.test('an evicted pace has changed, and an owner without any is forgotten', async (t) => {
  const paces = new HostPaces({ most: 2 });
  paces.remember('ada', 'a.test', QUICK);
  paces.remember('ada', 'b.test', QUICK);
  paces.remember('ada', 'a.test', QUICK);
  paces.takeChanged();
  paces.remember('eve', 'c.test', QUICK);
  t.same(paces.takeChanged(), [
    { owner: 'eve', host: 'c.test' },
    { owner: 'ada', host: 'b.test' },
  ]);
  paces.remember('bob', 'd.test', QUICK);
  t.equal(paces.of('ada', 'a.test'), 'new', 'of owners with equally many hosts, the first');
  paces.remember('dan', 'e.test', QUICK);
  t.equal(paces.of('eve', 'c.test'), 'new');
  t.equal(paces.of('bob', 'd.test'), 'quick');
  t.equal(paces.of('dan', 'e.test'), 'quick');
});

t.test('only a changed pace is reported', async (t) => {
  const paces = new HostPaces({ most: 2 });
  t.same(paces.takeChanged(), []);
  for (const host of ['a', 'b', 'c', 'd']) paces.remember('ada', `${host}.test`, QUICK);
  t.equal(paces.takeChanged().length, 6, 'four new ones, two evicted');
  paces.remember('ada', 'c.test', QUICK);
  paces.remember('ada', 'd.test', QUICK);
  t.same(paces.takeChanged(), []);
  t.equal(paces.of('ada', 'c.test'), 'quick', 'both have capacity');
});
