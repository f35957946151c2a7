import { join } from 'node:path';
import t, { type Test } from 'tap';
import type { Page } from '../../../lib/base/pages.ts';
import { DataFolder } from '../../../lib/index.ts';
import type { DeliveryRecord } from '../../../lib/storage/delivery.ts';
import type { DeliveryStore, UnfinishedHost } from '../../../lib/storage/delivery-store.ts';
import type { Storage } from '../../../lib/storage/storage.ts';
import { ConcurrencyLimits, type ConcurrencyOptions } from '../../../lib/webhooks/concurrency-limits.ts';
import { dueAt } from '../../../lib/webhooks/delivery-book.ts';
import { type Addressed, type Chosen, SendOrder } from '../../../lib/webhooks/send-order.ts';
import { deliveryRecord } from '../../fixtures/delivery-record.ts';
import { isDeep } from '../../fixtures/depth.ts';
import { testFolder } from '../../fixtures/test-folder.ts';

const NOW_MS = 1_000_000;
const MANY = isDeep ? 10_000 : 2_000;
const STEPS = 60;
const QUICK = { tookMs: 1, answered: true };
const UNLIMITED = { concurrency: 1e6, concurrencyPerHost: 1e6, concurrencyUnproven: 1e6 };

let folders = 0;

async function setUp(t: Test, options: Partial<ConcurrencyOptions> = {}) {
  const folder = new DataFolder(join(testFolder(t), String(folders++)));
  await folder.start();
  t.teardown(() => folder.stop());
  const { storage } = folder;
  const limits = new ConcurrencyLimits({ ...UNLIMITED, ...options });
  const order = new SendOrder(storage.deliveries, limits);
  const choose = (most: number, { nowMs = NOW_MS, excluded = [] as Addressed[] } = {}) =>
    order.choose(dueAt(nowMs), most, excluded);
  /** Chooses deliveries and claims them; they run on. */
  const begin = async (most: number) => {
    const chosen = await choose(most);
    await claim(storage, chosen);
    return idsOf(chosen);
  };
  return { storage, folder, limits, choose, begin };
}

async function insert(storage: Storage, records: DeliveryRecord[]): Promise<void> {
  for (let from = 0; from < records.length; from += 1000) {
    await storage.transaction(async (tx) => {
      for (const record of records.slice(from, from + 1000)) {
        await storage.deliveries.insert(tx, record, 'body');
      }
    });
  }
}

function claim(storage: Storage, chosen: Chosen[]): Promise<void> {
  return storage.transaction(async (tx) => {
    for (const { deliveryId } of chosen) {
      const delivery = (await storage.deliveries.get(deliveryId, tx)) as DeliveryRecord;
      await storage.deliveries.update(tx, { ...delivery, token: 1, dueAtMs: NOW_MS + 40_000 });
    }
  });
}

function idsOf(chosen: Chosen[]): string[] {
  return chosen.map(({ deliveryId }) => deliveryId);
}

function to(owner: string, host: string, ...ids: string[]): DeliveryRecord[] {
  return ids.map((id) => deliveryRecord(id, { owner, host }));
}

t.test('owners take turns, and so do the hosts of an owner', async (t) => {
  const { storage, begin } = await setUp(t, { concurrencyUnproven: 100 });
  await insert(storage, [
    ...to('ada', 'x', 'ax1', 'ax2'),
    ...to('ada', 'y', 'ay1'),
    ...to('ada', 'z', 'az1'),
    ...to('eve', 'x', 'ex1'),
    ...to('eve', 'y', 'ey1'),
  ]);
  t.same(await begin(1), ['ax1']);
  t.same(await begin(1), ['ex1']);
  t.same(await begin(1), ['ay1']);
  t.same(await begin(2), ['ey1', 'az1']);
  t.same(await begin(5), [], 'a new host gets one at a time');
});

t.test('of a quick host, those due longest are chosen, as many as it may get', async (t) => {
  const { storage, limits, choose } = await setUp(t, { concurrencyPerHost: 3 });
  limits.enter('a', 'a.test')?.leave(QUICK);
  await insert(
    storage,
    [5, 3, 4, 1, 2, NOW_MS + 1].map((dueAtMs, i) => deliveryRecord(`${i}`, { dueAtMs })),
  );
  const chosen = await choose(5);
  t.same(idsOf(chosen), ['3', '4', '1']);
  t.same(await choose(5), [], 'there are no more slots');
  for (const { slot } of chosen) slot.leave();
  const excluded = chosen.slice(0, 2);
  t.same(idsOf(await choose(5, { excluded })), ['1', '2', '0'], 'instead of those that are excluded');
});

t.test('slots that are not used are given back', async (t) => {
  const { storage, limits, choose } = await setUp(t, { concurrency: 64 });
  limits.enter('a', 'a.test')?.leave(QUICK);
  await insert(storage, to('a', 'a.test', '1', '2'));
  t.equal((await choose(16)).length, 2);
  t.equal(limits.free, 62);
  const { deliveries } = storage;
  t.capture(deliveries, 'listDue', async () => {
    throw new Error('unavailable');
  });
  await t.rejects(choose(16), { message: 'unavailable' });
  t.equal(limits.free, 62);
});

t.test('a time that a wrong clock wrote is due', async (t) => {
  const { storage, choose } = await setUp(t);
  await insert(storage, [
    deliveryRecord('1', { host: 'x', dueAtMs: NOW_MS * 10_000 }),
    deliveryRecord('2', { host: 'y', dueAtMs: NOW_MS + 1 }),
  ]);
  t.same(idsOf(await choose(5)), ['1']);
});

t.test('a quick host is found behind any number of others that may not be called', async (t) => {
  const { storage, limits, choose, begin } = await setUp(t, { concurrencyUnproven: 1 });
  const others = Array.from({ length: 500 }, (_, i) => deliveryRecord(`n${i}`, { host: `host-${i}` }));
  await insert(storage, [
    ...others,
    deliveryRecord('q1', { host: 'z' }),
    deliveryRecord('q2', { host: 'z' }),
  ]);
  limits.enter('a', 'z')?.leave(QUICK);
  t.equal((await begin(1)).length, 1, 'one of the others');
  const found: string[] = [];
  for (let times = 0; times < 5; times += 1) found.push(...idsOf(await choose(9)));
  t.same(found, ['q1', 'q2']);
});

t.test('hosts of an owner are all served, whatever their number', async (t) => {
  const { storage, begin } = await setUp(t);
  const ids = Array.from({ length: 300 }, (_, i) => `${i}`);
  await insert(
    storage,
    ids.map((id) => deliveryRecord(id, { host: `host-${id}` })),
  );
  const begun: string[] = [];
  for (let times = 0; times < 10; times += 1) begun.push(...(await begin(32)));
  t.same(begun.sort(), ids.sort());
});

t.test(`a delivery that becomes due after those of ${MANY} owners waits for one turn of each`, async (t) => {
  const { storage, begin } = await setUp(t);
  const names = Array.from({ length: MANY }, (_, i) => `eve-${i}`);
  await insert(
    storage,
    names.flatMap((owner) => to(owner, 'dead', `${owner} 1`, `${owner} 2`)),
  );
  await begin(32);
  await insert(storage, to('ada', 'alive', 'late'));
  let count = 0;
  for (; count <= MANY; count += 32) if ((await begin(32)).includes('late')) break;
  t.ok(count <= MANY, `after ${count}`);
});

/** The shortest CPU time of a step, in milliseconds. Elapsed time would depend on the disk. */
async function shortestMs(steps: number, step: (index: number) => Promise<unknown>): Promise<number> {
  const times: number[] = [];
  for (let index = 0; index < steps; index++) {
    const begun = process.cpuUsage();
    await step(index);
    const { user, system } = process.cpuUsage(begun);
    times.push((user + system) / 1000);
  }
  return Math.min(...times);
}

/** Measures operations while `count` deliveries that may not be sent are due, or will be soon. */
async function timesWith(t: Test, count: number, of: (index: number) => Partial<DeliveryRecord>) {
  const { storage, folder, limits, choose } = await setUp(t, { concurrencyUnproven: 16 });
  const waiting = Array.from({ length: count }, (_, index) =>
    deliveryRecord(`w${index}`, { owner: 'eve', ...of(index), dueAtMs: index % 2 ? NOW_MS + index : index }),
  );
  await insert(storage, waiting);
  for (let i = 0; i < 16; i++) limits.enter('eve', `running-${i}`);
  limits.enter('eve', 'dead');
  limits.enter('ada', 'alive')?.leave(QUICK);
  const insertMs = await shortestMs(STEPS, (index) =>
    insert(storage, [deliveryRecord(`a${index}`, { owner: 'ada', host: 'alive', dueAtMs: NOW_MS })]),
  );
  let found = 0;
  const claimMs = await shortestMs(STEPS, async () => {
    const chosen = await choose(1);
    await claim(storage, chosen);
    for (const { slot } of chosen) slot.leave(QUICK);
    found += chosen.length;
  });
  t.equal(found, STEPS);
  const anyMs = await shortestMs(STEPS, () => storage.deliveries.countDue({ ...dueAt(NOW_MS), limit: 1 }));
  await folder.stop();
  const startMs = await shortestMs(5, async () => {
    await folder.start();
    await folder.stop();
  });
  return { insertMs, claimMs, anyMs, startMs };
}

for (const [what, of] of [
  ['deliveries to a host', () => ({ host: 'dead' })],
  ['hosts of an owner', (index) => ({ host: `dead-${index}` })],
] as [string, (index: number) => Partial<DeliveryRecord>][]) {
  t.test(`${MANY} ${what} that may not be called cost no more time than ten`, async (t) => {
    const few = await timesWith(t, 10, of);
    const many = await timesWith(t, MANY, of);
    t.comment(JSON.stringify({ few, many }));
    // A scan of all of them would take hundreds of times as long.
    for (const [name, ms] of Object.entries(few)) {
      const factor = many[name as keyof typeof many] / Math.max(ms, 0.2);
      t.ok(factor < 10, `${name}: ${factor.toFixed(1)} times`);
    }
  });
}

/** Due deliveries in memory, and what was read of them. Each owner has hosts, by name, and each of these its ids. */
function inMemory(owners: Record<string, Record<string, { ids: string[]; firstDueMs?: number }>>) {
  const reads = { owners: 0, hosts: [] as string[], due: [] as string[] };
  const paged = <Row>(rows: Row[], nameOf: (row: Row) => string, { after = '', limit = 0 }: Page) =>
    rows.filter((row) => nameOf(row) > after).slice(0, limit);
  const store: Pick<DeliveryStore, 'listUnfinishedOwners' | 'listUnfinishedHosts' | 'listDue'> = {
    async listUnfinishedOwners(page) {
      reads.owners += 1;
      return paged(Object.keys(owners).sort(), String, page);
    },
    async listUnfinishedHosts(owner, page) {
      reads.hosts.push(`${owner} ${page.after ?? ''} ${page.limit}`);
      const hosts = Object.entries(owners[owner] ?? {}).map(([host, { firstDueMs = 0 }]) => ({
        host,
        firstDueMs,
      }));
      return paged(hosts as UnfinishedHost[], ({ host }) => host, page);
    },
    async listDue({ owner, host, limit }) {
      reads.due.push(`${owner} ${host} ${limit}`);
      return (owners[owner]?.[host]?.ids ?? []).slice(0, limit);
    },
  };
  return { store: store as DeliveryStore, reads };
}

function orderOf(
  owners: Parameters<typeof inMemory>[0],
  options: Partial<ConcurrencyOptions> = {},
): {
  choose: (most: number, excluded?: Addressed[]) => Promise<string[]>;
  reads: ReturnType<typeof inMemory>['reads'];
} {
  const { store, reads } = inMemory(owners);
  const order = new SendOrder(store, new ConcurrencyLimits({ ...UNLIMITED, ...options }));
  const choose = async (most: number, excluded: Addressed[] = []) => {
    reads.hosts.length = reads.due.length = reads.owners = 0;
    const chosen = await order.choose({ nowMs: 10, latestDueMs: 100 }, most, excluded);
    for (const { slot } of chosen) slot.leave(); // So that only turns decide.
    return idsOf(chosen);
  };
  return { choose, reads };
}

const named = (count: number, prefix: string) =>
  Array.from({ length: count }, (_, i) => `${prefix}${String(i).padStart(4, '0')}`);

t.test('the host after the one that had the last turn is next, for each owner', async (t) => {
  const hosts = (owner: string) =>
    Object.fromEntries(['x', 'y', 'z'].map((host) => [host, { ids: [`${owner}${host}`] }]));
  const { choose } = orderOf({ ada: hosts('a'), eve: hosts('e') });
  const turns: string[] = [];
  for (let turn = 0; turn < 8; turn++) turns.push(...(await choose(1)));
  t.same(turns, ['ax', 'ex', 'ay', 'ey', 'az', 'ez', 'ax', 'ex']);
  t.same((await choose(6)).sort(), ['ax', 'ay', 'az', 'ex', 'ey', 'ez'], 'each once');
});

t.test('owners and hosts are read once for each choice, from the last ones on', async (t) => {
  const { choose, reads } = orderOf({
    a: { x: { ids: ['1'] } },
    b: { x: { ids: ['2'] } },
    c: { x: { ids: ['3'] } },
  });
  t.same(await choose(2), ['1', '2']);
  t.equal(reads.owners, 1, 'from the start, there is nothing before');
  t.same(reads.hosts, ['a  128', 'b  128', 'c  128']);
  t.same(await choose(5), ['3', '1', '2']);
  t.equal(reads.owners, 2, 'those after b, then those up to it');
  t.equal(reads.hosts.filter((read) => read.startsWith('c ')).length, 1);
});

t.test('hosts whose deliveries are due later take no slot; those that a wrong clock wrote do', async (t) => {
  const { choose, reads } = orderOf({
    a: {
      due: { ids: ['1'], firstDueMs: 10 },
      later: { ids: ['2'], firstDueMs: 11 },
      latest: { ids: ['3'], firstDueMs: 100 },
      wrong: { ids: ['4'], firstDueMs: 101 },
    },
  });
  t.same(await choose(9), ['1', '4']);
  t.same([...new Set(reads.due.map((read) => read.split(' ')[1]))], ['due', 'wrong']);
});

t.test('when none of 32 owners may send, the next are read, at most 16 times', async (t) => {
  const idle = { x: { ids: [], firstDueMs: 50 } };
  const owners = Object.fromEntries(named(33, 'o').map((owner) => [owner, idle as { x: { ids: string[] } }]));
  const { choose, reads } = orderOf({ ...owners, z: { x: { ids: ['1'] } } });
  t.same(await choose(5), ['1']);
  const many = orderOf(
    Object.fromEntries(named(600, 'o').map((owner) => [owner, idle as { x: { ids: string[] } }])),
  );
  t.same(await many.choose(5), []);
  t.equal(many.reads.owners, 16);
  t.ok(reads.owners >= 2);
});

t.test('of an owner for whom no slot is free, no hosts are read', async (t) => {
  const { choose, reads } = orderOf({ a: { x: { ids: ['1'] } } }, { concurrency: 0 });
  t.same(await choose(5), []);
  t.same(reads.hosts, []);
});

t.test('of an owner with more than 128 hosts, the next ones are looked at for each choice', async (t) => {
  const hosts = named(130, 'h');
  const later = { ids: [] as string[], firstDueMs: 50 };
  const { choose } = orderOf({
    a: Object.fromEntries(hosts.map((host, i) => [host, i === 129 ? { ids: ['1'] } : later])),
  });
  t.same(await choose(1), []);
  t.same(await choose(1), ['1']);
});

t.test(
  'only deliveries to the same host are left out, and no more are chosen instead than may be sent',
  async (t) => {
    const { choose, reads } = orderOf({
      a: { x: { ids: ['1', '2', '3'] }, y: { ids: ['4'] } },
      b: { x: { ids: ['5'] } },
    });
    const excluded = [
      { deliveryId: '1', owner: 'a', host: 'x' },
      { deliveryId: '0', owner: 'a', host: 'x' },
      { deliveryId: '4', owner: 'b', host: 'y' },
      { deliveryId: '5', owner: 'c', host: 'x' },
    ];
    t.same((await choose(9, excluded)).sort(), ['2', '4', '5'], 'an unproven host gets one');
    t.same(reads.due.sort(), ['a x 3', 'a y 1', 'b x 1']);
  },
);
