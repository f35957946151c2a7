import t from 'tap';
import { ConcurrencyLimits, type Slot } from '../../../lib/webhooks/concurrency-limits.ts';

const QUICK = { tookMs: 10, answered: true };
const SLOW = { tookMs: 5_000, answered: false };

/** Takes all available slots at hosts of an owner. */
function fill(limits: ConcurrencyLimits, owner: string, hosts: (i: number) => string): Slot[] {
  const slots: Slot[] = [];
  for (let i = 0; i < 1_000; i += 1) {
    const slot = limits.enter(owner, hosts(i));
    if (slot) slots.push(slot);
  }
  return slots;
}

/** Records quick responses of hosts. */
function prove(limits: ConcurrencyLimits, owner: string, hosts: string[]): void {
  for (const host of hosts) limits.enter(owner, host)?.leave(QUICK);
}

t.test('new hosts of an owner share a few slots, whatever their subdomains and ports', async (t) => {
  const limits = new ConcurrencyLimits({ concurrency: 256, concurrencyPerHost: 8, concurrencyUnproven: 16 });
  t.equal(fill(limits, 'eve', (i) => `${i}.eve.test:${1_000 + i}`).length, 16);
  t.notOk(limits.mayCall('eve', 'new'));
  t.ok(limits.mayCall('eve', 'quick'));
  t.ok(limits.mayCall('ada', 'new'));
});

t.test('a host gets one exchange at a time until it has responded quickly, then several', async (t) => {
  const limits = new ConcurrencyLimits({ concurrency: 256, concurrencyPerHost: 8, concurrencyUnproven: 16 });
  const [slot, ...more] = fill(limits, 'ada', () => 'a.test');
  t.same(more, []);
  slot?.leave({ tookMs: 10, answered: false });
  t.equal(limits.speedOf('ada', 'a.test'), 'new', 'a failure proves nothing');
  prove(limits, 'ada', ['a.test']);
  t.equal(limits.speedOf('ada', 'a.test'), 'quick');
  t.equal(limits.speedOf('eve', 'a.test'), 'new', 'the speed is recorded by owner');
  const slots = fill(limits, 'ada', () => 'a.test');
  t.equal(slots.length, 8);
  t.equal(fill(limits, 'ada', (i) => `${i}.test`).length, 16, 'quick hosts take no slots of new ones');
  slots[0]?.leave(undefined);
  t.equal(limits.speedOf('ada', 'a.test'), 'quick', 'an aborted exchange does not change the pace');
  slots[1]?.leave(SLOW);
  t.equal(limits.speedOf('ada', 'a.test'), 'slow');
});

t.test('slow hosts of an owner leave slots for new ones', async (t) => {
  const limits = new ConcurrencyLimits({ concurrency: 256, concurrencyPerHost: 8, concurrencyUnproven: 16 });
  for (let i = 0; i < 100; i += 1) limits.enter('ada', `slow-${i}.test`)?.leave(SLOW);
  t.equal(fill(limits, 'ada', (i) => `slow-${i % 100}.test`).length, 8);
  t.equal(fill(limits, 'ada', (i) => `new-${i}.test`).length, 8);
});

t.test('owners who take all available slots leave one for another owner', async (t) => {
  const limits = new ConcurrencyLimits({ concurrency: 256, concurrencyPerHost: 8, concurrencyUnproven: 16 });
  const hosts = Array.from({ length: 100 }, (_, i) => `${i}.test`);
  const owners = Array.from({ length: 30 }, (_, i) => `eve-${i}`);
  for (const owner of owners) prove(limits, owner, hosts);
  const taken = owners.map((owner) => fill(limits, owner, (i) => hosts[i % 100] as string));
  t.equal(taken[0]?.length, 112, 'the first gets almost half');
  t.equal(Math.min(...taken.map(({ length }) => length)), 1, 'each of the others gets at least one');
  t.ok(limits.enter('ada', 'a.test'), 'a new owner gets a slot');
  t.notOk(limits.mayCall('eve-0', 'quick'));
  for (const slot of taken[0] ?? []) slot.leave(SLOW);
  t.equal(fill(limits, 'ada', (i) => `${i}.test`).length, 15, 'released slots are shared');
});

t.test('an eighth of the slots is for owners with nothing running', async (t) => {
  const limits = new ConcurrencyLimits({ concurrency: 16, concurrencyPerHost: 16, concurrencyUnproven: 16 });
  prove(limits, 'ada', ['a.test']);
  t.equal(limits.free, 16);
  const slots = fill(limits, 'ada', () => 'a.test');
  t.equal(slots.length, 7, 'as many as are free of the other fourteen');
  t.equal(limits.free, 9);
  for (const slot of slots) slot.leave(undefined);
  t.equal(limits.free, 16);
  t.equal(fill(limits, 'ada', () => 'a.test').length, 7, 'slots are released');
});

t.test('one slow host is called although few slots are for hosts that are not quick', async (t) => {
  const limits = new ConcurrencyLimits({ concurrency: 256, concurrencyPerHost: 8, concurrencyUnproven: 1 });
  limits.enter('ada', 'a.test')?.leave(SLOW);
  t.ok(limits.mayCall('ada', 'slow'));
  const slot = limits.enter('ada', 'a.test');
  t.notOk(limits.mayCall('ada', 'slow'));
  t.notOk(limits.mayCall('ada', 'new'));
  slot?.leave(undefined);
  t.ok(limits.mayCall('ada', 'slow'));
});

t.test('an exchange that ends frees capacity for one at its host', async (t) => {
  const limits = new ConcurrencyLimits({ concurrency: 256, concurrencyPerHost: 3, concurrencyUnproven: 16 });
  prove(limits, 'ada', ['a.test']);
  const slots = fill(limits, 'ada', () => 'a.test');
  t.equal(slots.length, 3);
  for (const leaving of [1, 2, 3, 1]) {
    for (const slot of slots.splice(0, leaving)) slot.leave(undefined);
    const entered = fill(limits, 'ada', () => 'a.test');
    t.equal(entered.length, leaving);
    slots.push(...entered);
  }
});

t.test(
  'an exchange that ends frees capacity for one at new hosts, and new hosts are not slow ones',
  async (t) => {
    const limits = new ConcurrencyLimits({
      concurrency: 256,
      concurrencyPerHost: 3,
      concurrencyUnproven: 16,
    });
    const slots = fill(limits, 'ada', (i) => `${i}.test`);
    slots.pop()?.leave(undefined);
    t.ok(limits.mayCall('ada', 'slow'));
    t.equal(fill(limits, 'ada', (i) => `more-${i}.test`).length, 1);
    for (const slot of slots) slot.leave(undefined);
    t.equal(fill(limits, 'ada', (i) => `again-${i}.test`).length, 15);
  },
);
