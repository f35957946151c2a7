import t from 'tap';
import { HostLanes, type Place } from '../../../lib/webhooks/host-lanes.ts';
import { HostPaces } from '../../../lib/webhooks/host-paces.ts';

const QUICK = { tookMs: 10, answered: true };
const SLOW = { tookMs: 5_000, answered: false };

/** Takes all available places at hosts of an owner. */
function fill(lanes: HostLanes, owner: string, hosts: (i: number) => string): Place[] {
  const places: Place[] = [];
  for (let i = 0; i < 1_000; i += 1) {
    const place = lanes.enter(owner, hosts(i));
    if (place) places.push(place);
  }
  return places;
}

/** Records quick responses of hosts. */
function prove(lanes: HostLanes, owner: string, hosts: string[]): void {
  for (const host of hosts) lanes.enter(owner, host)?.leave(QUICK);
}

t.test('new hosts of an owner share a few places, whatever their subdomains and ports', async (t) => {
  const lanes = new HostLanes({ concurrency: 256, concurrencyPerHost: 8, concurrencyUnproven: 16 });
  t.equal(fill(lanes, 'eve', (i) => `${i}.eve.test:${1_000 + i}`).length, 16);
  t.notOk(lanes.mayCall('eve', 'new'));
  t.ok(lanes.mayCall('eve', 'quick'));
  t.ok(lanes.mayCall('ada', 'new'));
});

t.test('a host gets one exchange at a time until it has responded quickly, then several', async (t) => {
  const lanes = new HostLanes({ concurrency: 256, concurrencyPerHost: 8, concurrencyUnproven: 16 });
  const [place, ...more] = fill(lanes, 'ada', () => 'a.test');
  t.same(more, []);
  place?.leave({ tookMs: 10, answered: false });
  t.equal(lanes.paceOf('ada', 'a.test'), 'new', 'a failure proves nothing');
  prove(lanes, 'ada', ['a.test']);
  t.equal(lanes.paceOf('ada', 'a.test'), 'quick');
  t.equal(lanes.paceOf('eve', 'a.test'), 'new', 'the pace is recorded by owner');
  const places = fill(lanes, 'ada', () => 'a.test');
  t.equal(places.length, 8);
  t.equal(fill(lanes, 'ada', (i) => `${i}.test`).length, 16, 'quick hosts take no places of new ones');
  places[0]?.leave(undefined);
  t.equal(lanes.paceOf('ada', 'a.test'), 'quick', 'an aborted exchange does not change the pace');
  places[1]?.leave(SLOW);
  t.equal(lanes.paceOf('ada', 'a.test'), 'slow');
});

t.test('slow hosts of an owner leave places for new ones', async (t) => {
  const lanes = new HostLanes({ concurrency: 256, concurrencyPerHost: 8, concurrencyUnproven: 16 });
  for (let i = 0; i < 100; i += 1) lanes.enter('ada', `slow-${i}.test`)?.leave(SLOW);
  t.equal(fill(lanes, 'ada', (i) => `slow-${i % 100}.test`).length, 8);
  t.equal(fill(lanes, 'ada', (i) => `new-${i}.test`).length, 8);
});

t.test('owners who take all available places leave one for another owner', async (t) => {
  const lanes = new HostLanes({ concurrency: 256, concurrencyPerHost: 8, concurrencyUnproven: 16 });
  const hosts = Array.from({ length: 100 }, (_, i) => `${i}.test`);
  const owners = Array.from({ length: 30 }, (_, i) => `eve-${i}`);
  for (const owner of owners) prove(lanes, owner, hosts);
  const taken = owners.map((owner) => fill(lanes, owner, (i) => hosts[i % 100] as string));
  t.equal(taken[0]?.length, 112, 'the first gets almost half');
  t.equal(Math.min(...taken.map(({ length }) => length)), 1, 'each of the others gets at least one');
  t.ok(lanes.enter('ada', 'a.test'), 'a new owner gets a place');
  t.notOk(lanes.mayCall('eve-0', 'quick'));
  for (const place of taken[0] ?? []) place.leave(SLOW);
  t.equal(fill(lanes, 'ada', (i) => `${i}.test`).length, 15, 'released places are shared');
});

t.test('an owner with many hosts evicts only its own paces', async (t) => {
  const paces = new HostPaces({ most: 100 });
  for (let i = 0; i < 10; i += 1) paces.remember('ada', `${i}.test`, QUICK);
  for (let i = 0; i < 1_000; i += 1) paces.remember('eve', `${i}.test`, QUICK);
  for (let i = 0; i < 10; i += 1) t.equal(paces.of('ada', `${i}.test`), 'quick');
  t.equal(paces.of('eve', '909.test'), 'new', 'the least recently called host is evicted first');
  t.equal(paces.of('eve', '910.test'), 'quick');
});
