import assert from 'node:assert/strict';
import type { DeliveryRecord } from '../storage/delivery.ts';
import type { DueQuery, DueToHostQuery } from '../storage/delivery-store.ts';
import type { Storage } from '../storage/storage.ts';
import { deliveryRecord } from './delivery-record.ts';
import { type Behaviour, behaviours, countOf, type Opened, type SuiteOptions } from './suite.ts';

const AT_FIRST = {
  holds: 'an empty storage',
  flaw: async ({ deliveries }: Storage) => countOf('deliveries', await deliveries.list({ limit: 1 })),
};

/**
 * Behaviors of finding and claiming due deliveries of a {@link Storage}. `open` returns a new, empty, started one.
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
    async 'lists due deliveries of an owner to a host, those due longest first'(storage) {
      await insert(
        storage,
        deliveryRecord('1', { dueAtMs: 300 }),
        deliveryRecord('2', { dueAtMs: 100 }),
        deliveryRecord('3', { dueAtMs: 200 }),
        deliveryRecord('4', { dueAtMs: null }),
        deliveryRecord('5', { dueAtMs: 301 }),
        deliveryRecord('6', { dueAtMs: 100, host: 'b' }),
        deliveryRecord('7', { dueAtMs: 100, owner: 'b' }),
        deliveryRecord('8', { dueAtMs: 200 }),
      );
      assert.deepEqual(await listDue(storage, { nowMs: 99 }), []);
      assert.deepEqual(await listDue(storage, { nowMs: 300 }), ['2', '3', '8', '1']);
      assert.deepEqual(await listDue(storage, { nowMs: 300, limit: 2 }), ['2', '3']);
      assert.deepEqual(await listDue(storage, { nowMs: 300, host: 'b' }), ['6']);
      await update(storage, deliveryRecord('2', { token: 1, dueAtMs: 400 }));
      await update(storage, deliveryRecord('3', { token: 1, dueAtMs: null }));
      await storage.stop();
      await storage.start();
      assert.deepEqual(await listDue(storage, { nowMs: 301 }), ['8', '1', '5']);
      assert.deepEqual(await listDue(storage, { nowMs: 400 }), ['8', '1', '5', '2']);
    },

    async 'lists owners with unfinished deliveries, and their hosts, by name'(storage) {
      const { deliveries } = storage;
      assert.deepEqual(await deliveries.listUnfinishedOwners({}), []);
      assert.deepEqual(await deliveries.listUnfinishedHosts('ada', {}), []);
      await insert(
        storage,
        deliveryRecord('1', { owner: 'ada', host: 'y', dueAtMs: 7 }),
        deliveryRecord('2', { owner: 'ada', host: 'y', dueAtMs: 3 }),
        deliveryRecord('3', { owner: 'ada', host: 'x', dueAtMs: 9 }),
        deliveryRecord('4', { owner: 'ada', host: 'w', dueAtMs: null }),
        deliveryRecord('5', { owner: 'eve', host: 'z', dueAtMs: 1 }),
        deliveryRecord('6', { owner: 'bob', host: 'z', dueAtMs: null }),
        deliveryRecord('7', { owner: 'dan', host: 'z', dueAtMs: 1 }),
      );
      assert.deepEqual(await deliveries.listUnfinishedOwners({}), ['ada', 'dan', 'eve']);
      assert.deepEqual(await deliveries.listUnfinishedOwners({ after: 'ada', limit: 1 }), ['dan']);
      assert.deepEqual(await deliveries.listUnfinishedOwners({ after: 'b', limit: 2 }), ['dan', 'eve']);
      assert.deepEqual(await deliveries.listUnfinishedOwners({ after: 'eve' }), []);
      const [x, y] = [
        { host: 'x', firstDueMs: 9 },
        { host: 'y', firstDueMs: 3 },
      ];
      assert.deepEqual(await deliveries.listUnfinishedHosts('ada', {}), [x, y]);
      assert.deepEqual(await deliveries.listUnfinishedHosts('ada', { limit: 1 }), [x]);
      assert.deepEqual(await deliveries.listUnfinishedHosts('ada', { after: 'x', limit: 5 }), [y]);
      assert.deepEqual(await deliveries.listUnfinishedHosts('bob', {}), []);
    },

    async 'stores a claim until it is replaced by a later one'(storage) {
      await insert(storage, deliveryRecord('1', { keyId: 'k' }));
      const attempts = [{ startedAtMs: 7, endedAtMs: null, status: 0, reason: null, detail: null }];
      const first = deliveryRecord('1', { keyId: 'k', attempts, dueAtMs: 50, token: 1 });
      await update(storage, first);
      assert.deepEqual(await storage.deliveries.get('1'), first);
      assert.equal(await storage.deliveries.readBody('1'), 'body');
      assert.deepEqual(await listDue(storage, { nowMs: 49 }), []);
      assert.deepEqual(await listDue(storage, { nowMs: 50 }), ['1']);
      await update(storage, { ...first, token: 2 });
      await assert.rejects(update(storage, first), 'an earlier claim');
      assert.equal((await storage.deliveries.get('1'))?.token, 2);
      await update(storage, { ...first, token: 2, dueAtMs: null });
      await assert.rejects(update(storage, { ...first, token: 2 }), 'an ended delivery stays ended');
    },

    async 'reads a delivery to claim it, in its transaction'(storage) {
      await insert(storage, deliveryRecord('1'));
      const { deliveries } = storage;
      await storage.transaction(async (tx) => {
        assert.deepEqual(await deliveries.getUnlocked('1', tx), deliveryRecord('1'));
        assert.equal(await deliveries.getUnlocked('2', tx), undefined);
        await deliveries.update(tx, deliveryRecord('1', { token: 1 }));
        assert.equal((await deliveries.getUnlocked('1', tx))?.token, 1);
      });
    },

    async 'gives each delivery to one of several concurrent claims'(storage) {
      const ids = Array.from({ length: 40 }, (_, i) => `${i}`);
      await insert(storage, ...ids.map((id) => deliveryRecord(id)));
      const all = await Promise.all(Array.from({ length: 8 }, () => claim(storage, ids)));
      assert.deepEqual(all.flat().sort(), ids.toSorted());
      assert.deepEqual(await claim(storage, ids), []);
    },

    async 'treats an impossibly late time, written by a wrong clock, as due'(storage) {
      const inTenYears = NOW_MS + 10 * 365 * 86_400_000;
      await insert(
        storage,
        deliveryRecord('1', { dueAtMs: inTenYears }),
        deliveryRecord('2', { dueAtMs: NOW_MS + LONGEST_MS, host: 'b' }),
        deliveryRecord('3', { dueAtMs: NOW_MS }),
      );
      assert.equal(await countDue(storage), 2);
      assert.deepEqual(await listDue(storage), ['3', '1']);
      assert.deepEqual(await listDue(storage, { limit: 1 }), ['3']);
      assert.deepEqual(await listDue(storage, { host: 'b' }), []);
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
      await update(storage, deliveryRecord('4', { token: 1, dueAtMs: NOW_MS + 1, owner: 'b' }));
      assert.equal(await countDue(storage), 1);
      assert.deepEqual(idsOf(await storage.deliveries.listUnfinished()), ['1', '2', '4']);
      assert.deepEqual(idsOf(await storage.deliveries.listUnfinished({ after: '1', limit: 1 })), ['2']);
      await storage.transaction((tx) =>
        storage.deliveries.forget(tx, deliveryRecord('2', { dueAtMs: null })),
      );
      assert.deepEqual(idsOf(await storage.deliveries.listUnfinished()), ['1', '4']);
      assert.equal(await countDue(storage), 0);
    },
  });
}

const NOW_MS = 1_000_000;
const LONGEST_MS = 30 * 60_000;

function listDue(storage: Storage, query: Partial<DueToHostQuery> = {}): Promise<string[]> {
  const { nowMs = NOW_MS } = query;
  const all = { owner: 'a', host: 'a.test', nowMs, latestDueMs: nowMs + LONGEST_MS, limit: 100 };
  return storage.deliveries.listDue({ ...all, ...query });
}

/** Claims those of the deliveries that no other transaction has claimed. */
function claim(storage: Storage, ids: string[]): Promise<string[]> {
  return storage.transaction(async (tx) => {
    const claimed: string[] = [];
    for (const id of ids) {
      const delivery = await storage.deliveries.getUnlocked(id, tx);
      if (delivery?.token !== 0) continue;
      await storage.deliveries.update(tx, { ...delivery, token: 1 });
      claimed.push(id);
    }
    return claimed;
  });
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
