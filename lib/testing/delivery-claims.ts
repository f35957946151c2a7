import assert from 'node:assert/strict';
import type { Storage } from '../storage/storage.ts';
import type { DeliveryAttempt, DeliveryRecord } from '../webhooks/delivery.ts';
import type { DueLanes, DueQuery, DueRequest, HostPace } from '../webhooks/delivery-store.ts';
import { deliveryRecord, EVERY_LANE } from './delivery-record.ts';
import { type Behaviour, behaviours, countOf, type Opened, type SuiteOptions } from './suite.ts';

const AT_FIRST = {
  holds: 'an empty storage',
  flaw: async ({ deliveries }: Storage) => countOf('deliveries', await deliveries.list({ limit: 1 })),
};

/**
 * Behaviors of claiming deliveries of a {@link Storage}. `open` returns a new, empty, started one.
 *
 * ```ts
 * const open = async () => ({ subject: await MyStorage.open(), close: async () => {} });
 * for (const { title, run } of deliveryClaimsSuite(open)) test(title, run);
 * ```
 */
export function deliveryClaimsSuite(
  open: () => Promise<Opened<Storage>>,
  options: SuiteOptions = {},
): Behaviour[] {
  const suite = { name: 'deliveryClaimsSuite', open, options, ...AT_FIRST };
  return behaviours(suite, {
    async 'claims due deliveries once, those due longest first for each host'(storage) {
      await insert(
        storage,
        deliveryRecord('1', { dueAtMs: 300 }),
        deliveryRecord('2', { dueAtMs: 100 }),
        deliveryRecord('3', { dueAtMs: 200 }),
        deliveryRecord('4', { dueAtMs: null }),
        deliveryRecord('5', { dueAtMs: 301 }),
      );
      assert.deepEqual(await claim(storage, { nowMs: 99 }), []);
      assert.deepEqual(await claim(storage, { nowMs: 300 }), ['2', '3', '1']);
      assert.deepEqual(await claim(storage, { nowMs: 300 }), []);
      await update(storage, deliveryRecord('2', { token: 1, dueAtMs: 400 }));
      await update(storage, deliveryRecord('3', { token: 1, dueAtMs: null }));
      assert.deepEqual(await claim(storage, { nowMs: 301 }), ['5']);
      await storage.stop();
      await storage.start();
      assert.deepEqual(await claim(storage, { nowMs: 400 }), ['2']);
      assert.deepEqual(await claim(storage, { nowMs: 300 + LAPSES_AFTER_MS }), ['1']);
    },

    async 'stores what `begin` returns, with an increasing token'(storage) {
      await insert(storage, deliveryRecord('1', { keyId: 'k' }));
      const attempts = [
        { startedAtMs: 7, endedAtMs: null, status: 0, reason: null, detail: null } satisfies DeliveryAttempt,
      ];
      const begin = (delivery: DeliveryRecord) => ({
        ...delivery,
        attempts,
        dueAtMs: (delivery.dueAtMs ?? 0) + 50,
      });
      const [first] = await claimed(storage, { nowMs: 0, begin });
      assert.deepEqual(first, deliveryRecord('1', { keyId: 'k', attempts, dueAtMs: 50, token: 1 }));
      assert.deepEqual(await storage.deliveries.get('1'), first);
      assert.equal(await storage.deliveries.readBody('1'), 'body');
      assert.deepEqual(await claimed(storage, { nowMs: 49, begin }), []);
      assert.equal((await claimed(storage, { nowMs: 50, begin }))[0]?.token, 2);
      await assert.rejects(update(storage, first as DeliveryRecord), 'an earlier claim');
      assert.equal((await storage.deliveries.get('1'))?.token, 2);
    },

    async 'gives each delivery to one of several concurrent claims'(storage) {
      await insert(
        storage,
        ...Array.from({ length: 40 }, (_, i) => deliveryRecord(`${i}`, { host: `${i % 7}` })),
      );
      const all = await Promise.all(Array.from({ length: 8 }, () => claim(storage, { most: 6 })));
      assert.equal(new Set(all.flat()).size, 40);
      assert.equal(all.flat().length, 40);
    },

    async 'claims nothing if the transaction throws'(storage) {
      await insert(storage, deliveryRecord('1'));
      const failing = storage.transaction(async (tx) => {
        await storage.deliveries.claimDue(tx, requestOf({}));
        throw new Error('no');
      });
      await assert.rejects(failing, { message: 'no' });
      assert.equal((await storage.deliveries.get('1'))?.token, 0);
      assert.deepEqual(await claim(storage), ['1']);
    },

    async 'does not claim a delivery that `begin` ends, but continues with others'(storage) {
      await insert(storage, deliveryRecord('1', { dueAtMs: 1 }), deliveryRecord('2', { dueAtMs: 2 }));
      const begin = (delivery: DeliveryRecord) =>
        delivery.deliveryId === '1'
          ? { ...delivery, dueAtMs: null }
          : { ...delivery, dueAtMs: NOW_MS + 5000 };
      const lanes = countedLanes(() => 1);
      const given = await claimed(storage, { begin, lanes });
      const tokens = given.map(({ deliveryId, dueAtMs, token }) => ({ deliveryId, dueAtMs, token }));
      assert.deepEqual(tokens, [
        { deliveryId: '1', dueAtMs: null, token: 0 },
        { deliveryId: '2', dueAtMs: NOW_MS + 5000, token: 1 },
      ]);
      await assert.rejects(
        update(storage, deliveryRecord('1', { dueAtMs: 0 })),
        'an ended delivery stays ended',
      );
    },

    async 'skips deliveries in progress and claims them later'(storage) {
      await insert(storage, deliveryRecord('1'), deliveryRecord('2', { dueAtMs: 1 }));
      const underWay = new Set(['1']);
      assert.deepEqual(await claim(storage, { underWay }), ['2']);
      assert.deepEqual((await claim(storage, { nowMs: NOW_MS + 60 * 60_000 })).sort(), ['1', '2']);
    },

    async 'treats an impossibly late time, written by a wrong clock, as due'(storage) {
      const inTenYears = NOW_MS + 10 * 365 * 86_400_000;
      await insert(
        storage,
        deliveryRecord('1', { dueAtMs: inTenYears }),
        deliveryRecord('2', { dueAtMs: NOW_MS + LONGEST_MS, host: 'b' }),
        deliveryRecord('3', { dueAtMs: NOW_MS, host: 'c' }),
      );
      assert.equal(await countDue(storage), 2);
      assert.deepEqual((await claim(storage)).sort(), ['1', '3']);
      // The turns of hosts and owners have the wrong time, too.
      await insert(
        storage,
        deliveryRecord('4', { dueAtMs: NOW_MS }),
        deliveryRecord('5', { dueAtMs: NOW_MS }),
      );
      const then = await claim(storage, { nowMs: inTenYears, most: 1 });
      assert.deepEqual((await claim(storage)).sort(), [...new Set([...then, '4', '5'])].sort());
    },

    async 'counts due deliveries and lists unfinished ones'(storage) {
      await insert(
        storage,
        deliveryRecord('1', { dueAtMs: NOW_MS + 1 }),
        deliveryRecord('2', { dueAtMs: NOW_MS, host: 'b' }),
        deliveryRecord('3', { dueAtMs: null }),
        deliveryRecord('4', { dueAtMs: 0, owner: 'b' }),
      );
      assert.equal(await countDue(storage), 2);
      assert.equal(await countDue(storage, { limit: 1 }), 1);
      await claim(storage, { lanes: countedLanes((owner) => (owner === 'b' ? 1 : 0)) });
      assert.equal(await countDue(storage), 1);
      assert.deepEqual(idsOf(await storage.deliveries.listUnfinished()), ['1', '2', '4']);
      assert.deepEqual(idsOf(await storage.deliveries.listUnfinished({ after: '1', limit: 1 })), ['2']);
      await storage.transaction((tx) =>
        storage.deliveries.forget(tx, deliveryRecord('2', { dueAtMs: null })),
      );
      assert.deepEqual(idsOf(await storage.deliveries.listUnfinished()), ['1', '4']);
      assert.equal(await countDue(storage), 0);
    },

    async 'gives owners and their hosts turns, and skips excluded ones'(storage) {
      const to = (owner: string, host: string, ...ids: string[]) =>
        ids.map((id) => deliveryRecord(id, { owner, host }));
      await insert(
        storage,
        ...to('ada', 'x', 'ax1', 'ax2', 'ax3'),
        ...to('ada', 'y', 'ay1', 'ay2'),
        ...to('eve', 'x', 'ex1', 'ex2'),
        ...to('eve', 'z', 'ez1'),
      );
      const may = (call: (owner: string, host: string) => boolean, most = 100) =>
        claim(storage, { most, lanes: { ...EVERY_LANE, enter: call } });
      assert.deepEqual(await may(() => false), []);
      const two = await may(() => true, 2);
      assert.deepEqual(two.map((id) => id.charAt(0)).sort(), ['a', 'e'], 'one of each owner');
      const four = [...two, ...(await may(() => true, 2))];
      assert.equal(new Set(four.map((id) => id.slice(0, 2))).size, 4, 'one of each host');
      assert.deepEqual(await may((owner) => owner === 'eve'), ['ex2']);
      assert.deepEqual(await may((_owner, host) => host !== 'x'), ['ay2']);
      assert.deepEqual(await may(() => true), ['ax2', 'ax3']);
    },

    async 'lets a late delivery wait for one turn of each other owner'(storage) {
      const many = Array.from({ length: 30 }, (_, i) =>
        deliveryRecord(`e${i}`, { owner: 'eve', host: `${i % 3}` }),
      );
      await insert(storage, ...many);
      await claim(storage, { nowMs: 10, most: 4 });
      await insert(storage, deliveryRecord('late', { owner: 'ada', dueAtMs: 10 }));
      const next = await claim(storage, { nowMs: 10, most: 2 });
      assert.ok(next.includes('late'), next.join());
    },

    async 'finds a quick host behind any number of excluded ones'(storage) {
      const others = Array.from({ length: 500 }, (_, i) => deliveryRecord(`n${i}`, { host: `host-${i}` }));
      await insert(
        storage,
        ...others,
        deliveryRecord('q1', { host: 'q' }),
        deliveryRecord('q2', { host: 'q' }),
      );
      const asked = { times: 0 };
      const counted = { ...countedLanes(() => 2, asked), ...paces({ q: 'quick' }, ['quick']) };
      const changed = [{ owner: 'a', host: 'q' }];
      assert.deepEqual(await claim(storage, { lanes: counted, changed }), ['q1', 'q2']);
      assert.ok(asked.times < 100, `asked ${asked.times} times`);
      assert.deepEqual(await claim(storage, { lanes: counted }), []);
    },

    async 'finds a quick host that was not listed as changed'(storage) {
      const others = Array.from({ length: 20 }, (_, i) => deliveryRecord(`n${i}`, { host: `host-${i}` }));
      await insert(storage, ...others, deliveryRecord('q1', { host: 'q' }));
      const lanes = { ...EVERY_LANE, ...paces({ q: 'quick' }, ['quick']) };
      assert.deepEqual(await claim(storage, { lanes }), ['q1']);
    },

    async 'skips hosts that became slow'(storage) {
      await insert(
        storage,
        deliveryRecord('1', { host: 's' }),
        deliveryRecord('2', { host: 'n', dueAtMs: 1 }),
      );
      const lanes = { ...EVERY_LANE, ...paces({ s: 'slow' }, ['quick', 'new']) };
      assert.deepEqual(await claim(storage, { lanes, changed: [{ owner: 'a', host: 's' }] }), ['2']);
      assert.deepEqual(await claim(storage), ['1']);
    },
  });
}

const NOW_MS = 1_000_000;
const LONGEST_MS = 30 * 60_000;
const LAPSES_AFTER_MS = 40_000;

/** Lanes with a fixed number of places per host. */
function countedLanes(placesOf: (owner: string, host: string) => number, asked = { times: 0 }): DueLanes {
  const taken = new Map<string, number>();
  const enter = (owner: string, host: string) => {
    asked.times += 1;
    const line = `${owner} ${host}`;
    const count = (taken.get(line) ?? 0) + 1;
    if (count > placesOf(owner, host)) return false;
    taken.set(line, count);
    return true;
  };
  return { ...EVERY_LANE, enter };
}

/** Lanes with given paces; other hosts are `new`. */
function paces(known: Record<string, HostPace>, callable: HostPace[]): Pick<DueLanes, 'paceOf' | 'mayCall'> {
  return {
    paceOf: (_owner, host) => known[host] ?? 'new',
    mayCall: (_owner, pace) => callable.includes(pace),
  };
}

function requestOf(request: Partial<DueRequest>): DueRequest {
  const { nowMs = NOW_MS } = request;
  return {
    nowMs,
    latestDueMs: nowMs + LONGEST_MS,
    most: 1000,
    lanes: EVERY_LANE,
    begin: (delivery) => ({ ...delivery, dueAtMs: nowMs + LAPSES_AFTER_MS }),
    onUnreadable: (deliveryId) => assert.fail(`${deliveryId} can't be read`),
    ...request,
  };
}

function claimed(storage: Storage, request: Partial<DueRequest>): Promise<DeliveryRecord[]> {
  return storage.transaction((tx) => storage.deliveries.claimDue(tx, requestOf(request)));
}

async function claim(storage: Storage, request: Partial<DueRequest> = {}): Promise<string[]> {
  return idsOf(await claimed(storage, request));
}

function countDue(storage: Storage, query: Partial<DueQuery> = {}): Promise<number> {
  return storage.deliveries.countDue({
    nowMs: NOW_MS,
    latestDueMs: NOW_MS + LONGEST_MS,
    limit: 100,
    ...query,
  });
}

function insert(storage: Storage, ...records: DeliveryRecord[]): Promise<void> {
  return storage.transaction(async (tx) => {
    for (const record of records) await storage.deliveries.insert(tx, record, 'body');
  });
}

function update(storage: Storage, record: DeliveryRecord): Promise<void> {
  return storage.transaction((tx) => storage.deliveries.update(tx, record));
}

function idsOf(records: DeliveryRecord[]): string[] {
  return records.map(({ deliveryId }) => deliveryId);
}
