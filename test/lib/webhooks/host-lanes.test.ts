import { AssertionError } from 'node:assert/strict';
import t from 'tap';
import { HostLanes, type Place, Places } from '../../../lib/webhooks/host-lanes.ts';

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

t.test('changed paces are reported once', async (t) => {
  const lanes = new HostLanes({ concurrency: 256, concurrencyPerHost: 8, concurrencyUnproven: 16 });
  t.same(lanes.changed(), []);
  prove(lanes, 'ada', ['a.test', 'b.test', 'a.test']);
  t.same(lanes.changed(), [
    { owner: 'ada', host: 'a.test' },
    { owner: 'ada', host: 'b.test' },
  ]);
  prove(lanes, 'ada', ['a.test']);
  t.same(lanes.changed(), [], 'the pace is the same');
});

t.test('an eighth of the places is for owners with nothing running', async (t) => {
  const lanes = new HostLanes({ concurrency: 16, concurrencyPerHost: 16, concurrencyUnproven: 16 });
  prove(lanes, 'ada', ['a.test']);
  t.equal(lanes.free, 16);
  const places = fill(lanes, 'ada', () => 'a.test');
  t.equal(places.length, 7, 'as many as are free of the other fourteen');
  t.equal(lanes.free, 9);
  for (const place of places) place.leave(undefined);
  t.equal(lanes.free, 16);
  t.equal(fill(lanes, 'ada', () => 'a.test').length, 7, 'places are released');
});

t.test('one slow host is called although few places are for hosts that are not quick', async (t) => {
  const lanes = new HostLanes({ concurrency: 256, concurrencyPerHost: 8, concurrencyUnproven: 1 });
  lanes.enter('ada', 'a.test')?.leave(SLOW);
  t.ok(lanes.mayCall('ada', 'slow'));
  const place = lanes.enter('ada', 'a.test');
  t.notOk(lanes.mayCall('ada', 'slow'));
  t.notOk(lanes.mayCall('ada', 'new'));
  place?.leave(undefined);
  t.ok(lanes.mayCall('ada', 'slow'));
});

t.test('places are reserved for deliveries, and unused ones are released', async (t) => {
  const lanes = new HostLanes({ concurrency: 64, concurrencyPerHost: 2, concurrencyUnproven: 16 });
  prove(lanes, 'ada', ['a.test']);
  const places = new Places(lanes);
  t.equal(places.paceOf('ada', 'a.test'), 'quick');
  t.equal(places.enter('ada', 'a.test'), true);
  t.equal(places.enter('ada', 'a.test'), true);
  t.equal(places.enter('ada', 'a.test'), false);
  t.equal(places.enter('ada', 'b.test'), true);
  t.equal(lanes.free, 61);
  const place = places.take({ owner: 'ada', host: 'a.test' });
  t.throws(() => places.take({ owner: 'eve', host: 'a.test' }), AssertionError);
  places.leave();
  places.leave();
  t.equal(lanes.free, 63);
  place.leave(undefined);
  t.equal(lanes.free, 64);
  t.equal(places.mayCall('ada', 'new'), true);
  const none = new Places(new HostLanes({ concurrency: 0, concurrencyPerHost: 2, concurrencyUnproven: 16 }));
  t.equal(none.mayCall('ada', 'new'), false);
});

t.test('an exchange that ends frees capacity for one at its host', async (t) => {
  const lanes = new HostLanes({ concurrency: 256, concurrencyPerHost: 3, concurrencyUnproven: 16 });
  prove(lanes, 'ada', ['a.test']);
  const places = fill(lanes, 'ada', () => 'a.test');
  t.equal(places.length, 3);
  for (const leaving of [1, 2, 3, 1]) {
    for (const place of places.splice(0, leaving)) place.leave(undefined);
    const entered = fill(lanes, 'ada', () => 'a.test');
    t.equal(entered.length, leaving);
    places.push(...entered);
  }
});

t.test(
  'an exchange that ends frees capacity for one at new hosts, and new hosts are not slow ones',
  async (t) => {
    const lanes = new HostLanes({ concurrency: 256, concurrencyPerHost: 3, concurrencyUnproven: 16 });
    const places = fill(lanes, 'ada', (i) => `${i}.test`);
    places.pop()?.leave(undefined);
    t.ok(lanes.mayCall('ada', 'slow'));
    t.equal(fill(lanes, 'ada', (i) => `more-${i}.test`).length, 1);
    for (const place of places) place.leave(undefined);
    t.equal(fill(lanes, 'ada', (i) => `again-${i}.test`).length, 15);
  },
);
