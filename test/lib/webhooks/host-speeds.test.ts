import t from 'tap';
import { HostSpeeds } from '../../../lib/webhooks/host-speeds.ts';

const QUICK = { tookMs: 10, answered: true };

t.test('an owner with many hosts evicts only its own speeds', async (t) => {
  const speeds = new HostSpeeds({ most: 100 });
  for (let i = 0; i < 10; i += 1) speeds.remember('ada', `${i}.test`, QUICK);
  for (let i = 0; i < 1_000; i += 1) speeds.remember('eve', `${i}.test`, QUICK);
  for (let i = 0; i < 10; i += 1) t.equal(speeds.of('ada', `${i}.test`), 'quick');
  t.equal(speeds.of('eve', '909.test'), 'new', 'the least recently called host is evicted first');
  t.equal(speeds.of('eve', '910.test'), 'quick');
});

t.test('a host is quick up to a second, then slow, also when it does not answer', async (t) => {
  const speeds = new HostSpeeds();
  const after = (tookMs: number, answered: boolean) => {
    speeds.remember('ada', 'a.test', { tookMs, answered });
    return speeds.of('ada', 'a.test');
  };
  t.equal(after(1_000, false), 'new', 'a failure within a second proves nothing');
  t.equal(after(1_000, true), 'quick');
  t.equal(after(1_001, true), 'slow');
  t.equal(after(1, true), 'quick');
  t.equal(after(1_001, false), 'slow');
  t.equal(after(1, false), 'slow');
});

t.test('the least recently called host is evicted, and an owner without any is forgotten', async (t) => {
  const speeds = new HostSpeeds({ most: 2 });
  speeds.remember('ada', 'a.test', QUICK);
  speeds.remember('ada', 'b.test', QUICK);
  speeds.remember('ada', 'a.test', QUICK);
  speeds.remember('eve', 'c.test', QUICK);
  t.equal(speeds.of('ada', 'b.test'), 'new');
  t.equal(speeds.of('ada', 'a.test'), 'quick');
  speeds.remember('bob', 'd.test', QUICK);
  t.equal(speeds.of('ada', 'a.test'), 'new', 'of owners with equally many hosts, the first');
  speeds.remember('dan', 'e.test', QUICK);
  t.equal(speeds.of('eve', 'c.test'), 'new');
  t.equal(speeds.of('bob', 'd.test'), 'quick');
  t.equal(speeds.of('dan', 'e.test'), 'quick');
});

t.test('a host that is called again takes the space of no other', async (t) => {
  const speeds = new HostSpeeds({ most: 2 });
  for (const host of ['a', 'b', 'c', 'd', 'c', 'd']) speeds.remember('ada', `${host}.test`, QUICK);
  t.equal(speeds.of('ada', 'b.test'), 'new');
  for (const host of ['c', 'd']) t.equal(speeds.of('ada', `${host}.test`), 'quick');
});
