import assert from 'node:assert/strict';
import type { Storage } from '../storage/storage.ts';
import type { DeliveryRecord } from '../webhooks/delivery.ts';
import type { DeliveryQuery, DueLanes, DueQuery } from '../webhooks/delivery-store.ts';
import { deliveryRecord } from './delivery-record.ts';
import { type Behaviour, behaviours, type Opened } from './suite.ts';

/** How the deliveries of a {@link Storage} behave. `open` gives an empty, started one each time. */
export function deliveriesSuite(open: () => Promise<Opened<Storage>>): Behaviour[] {
  return behaviours(open, {
    async 'keeps a delivery with its body and its last answer'(storage) {
      const { deliveries } = storage;
      const body = '{"metadata":1.0} \0 数学 \u2028\n';
      const kept = deliveryRecord('1', { dueAtMs: null, deliveredAtMs: 5, secretSealed: 's' });
      await storage.transaction((tx) => deliveries.insert(tx, deliveryRecord('1'), body));
      assert.equal(await deliveries.readAnswer('1'), undefined);
      await update(storage, kept, 'first');
      await update(storage, kept, 'second');
      await update(storage, kept);
      await storage.stop();
      await storage.start();
      assert.deepEqual(await deliveries.get('1'), kept);
      assert.equal(await deliveries.readBody('1'), body);
      assert.equal(await deliveries.readAnswer('1'), 'second');
      assert.equal(await deliveries.get('2'), undefined);
      assert.equal(await deliveries.readBody('2'), undefined);
    },

    async 'leaves no trace of a transaction that throws'(storage) {
      const { deliveries } = storage;
      const failing = storage.transaction(async (tx) => {
        await deliveries.insert(tx, deliveryRecord('1'), 'x');
        assert.equal((await deliveries.get('1', tx))?.deliveryId, '1');
        throw new Error('no');
      });
      await assert.rejects(failing, { message: 'no' });
      assert.equal(await deliveries.get('1'), undefined);
      assert.deepEqual(await due(storage), []);
    },

    async 'replaces the secrets that came with jobs, of those that are over too'(storage) {
      const over = deliveryRecord('1', { dueAtMs: null, deliveredAtMs: 5, secretSealed: 's' });
      await insert(storage, over, deliveryRecord('2', { secretSealed: 't' }), deliveryRecord('3'));
      const reseal = (sealed: string) => (sealed.endsWith('again') ? sealed : `${sealed} again`);
      let count = 0;
      for (let from: string | undefined; ; ) {
        const { replaced, next } = await storage.deliveries.resealSecrets({ reseal, from, limit: 1 });
        assert.ok(replaced <= 1);
        count += replaced;
        if (next === undefined) break;
        from = next;
      }
      assert.equal(count, 2);
      assert.deepEqual(await storage.deliveries.get('1'), { ...over, secretSealed: 's again' });
      assert.equal(await storage.deliveries.readBody('1'), 'body');
      assert.equal((await storage.deliveries.get('2'))?.secretSealed, 't again');
      assert.deepEqual(await storage.deliveries.get('3'), deliveryRecord('3'));
    },

    async 'forgets bodies and answers'(storage) {
      await insert(storage, deliveryRecord('1'), deliveryRecord('2'));
      await update(storage, deliveryRecord('1'), 'answer');
      const forgotten = deliveryRecord('1', { dueAtMs: null });
      await storage.transaction((tx) => storage.deliveries.forget(tx, forgotten));
      assert.deepEqual(await storage.deliveries.get('1'), forgotten);
      assert.equal(await storage.deliveries.readBody('1'), undefined);
      assert.equal(await storage.deliveries.readAnswer('1'), undefined);
      assert.equal(await storage.deliveries.readBody('2'), 'body');
    },

    async 'lists deliveries newest first, in pages, by owner and by job'(storage) {
      await insert(
        storage,
        deliveryRecord('1'),
        deliveryRecord('2', { jobId: 'k' }),
        deliveryRecord('3', { jobId: 'k', owner: 'b', repeats: '2' }),
        deliveryRecord('4'),
      );
      const list = async (query: DeliveryQuery) => idsOf(await storage.deliveries.list(query));
      assert.deepEqual(await list({}), ['4', '3', '2', '1']);
      assert.deepEqual(await list({ owner: 'a' }), ['4', '2', '1']);
      assert.deepEqual(await list({ jobId: 'k' }), ['3', '2']);
      assert.deepEqual(await list({ jobId: 'k', owner: 'a' }), ['2']);
      assert.deepEqual(await list({ limit: 2 }), ['4', '3']);
      assert.deepEqual(await list({ limit: 2, before: '3' }), ['2', '1']);
      assert.deepEqual(await list({ jobId: 'none' }), []);
    },

    async 'gives what has its time, the longest due of a host first'(storage) {
      await insert(
        storage,
        deliveryRecord('1', { dueAtMs: 300 }),
        deliveryRecord('2', { dueAtMs: 100 }),
        deliveryRecord('3', { dueAtMs: 200 }),
        deliveryRecord('4', { dueAtMs: null }),
        deliveryRecord('5', { dueAtMs: 301 }),
      );
      assert.deepEqual(await due(storage, { dueByMs: 99 }), []);
      assert.deepEqual(await due(storage, { dueByMs: 300 }), ['2', '3', '1']);
      assert.deepEqual(await due(storage, { dueByMs: 300 }), ['2', '3', '1']);
      await update(storage, deliveryRecord('2', { dueAtMs: 400 }));
      await update(storage, deliveryRecord('3', { dueAtMs: null }));
      assert.deepEqual(await due(storage, { dueByMs: 301 }), ['1', '5']);
      await storage.stop();
      await storage.start();
      assert.deepEqual(await due(storage, { dueByMs: 400 }), ['1', '5', '2']);
    },

    async 'gives owners and their hosts turns, and none to those that may not be called'(storage) {
      const to = (owner: string, host: string, ...ids: string[]) =>
        ids.map((id) => deliveryRecord(id, { owner, host }));
      await insert(
        storage,
        ...to('ada', 'x', 'ax1', 'ax2', 'ax3'),
        ...to('ada', 'y', 'ay1', 'ay2'),
        ...to('eve', 'x', 'ex1', 'ex2'),
        ...to('eve', 'z', 'ez1'),
      );
      const taken = (query: Partial<DueQuery> & { may: (owner: string, host: string) => boolean }) => {
        const { may, ...rest } = query;
        return due(storage, { ...rest, lanes: lanesFor(may) });
      };
      const all = ['ax1', 'ax2', 'ax3', 'ay1', 'ay2', 'ex1', 'ex2', 'ez1'];
      assert.deepEqual((await taken({ may: () => true })).sort(), all);
      assert.deepEqual((await taken({ may: () => true })).sort(), all, 'nothing was begun');
      const two = await taken({ limit: 2, may: () => true });
      assert.deepEqual(two.map((id) => id.charAt(0)).sort(), ['a', 'e'], 'one of each owner');
      const four = await taken({ limit: 4, may: () => true });
      assert.equal(new Set(four.map((id) => id.slice(0, 2))).size, 4, 'one of each host');
      assert.deepEqual((await taken({ may: (owner) => owner === 'eve' })).sort(), ['ex1', 'ex2', 'ez1']);
      const notX = (_owner: string, host: string) => host !== 'x';
      assert.deepEqual((await taken({ may: notX })).sort(), ['ay1', 'ay2', 'ez1']);
    },

    async 'finds what is due to a quick host behind any number of others that may not be called'(storage) {
      const others = Array.from({ length: 500 }, (_, i) => deliveryRecord(`n${i}`, { host: `host-${i}` }));
      await insert(
        storage,
        ...others,
        deliveryRecord('q1', { host: 'q' }),
        deliveryRecord('q2', { host: 'q' }),
      );
      let asked = 0;
      const lanes: DueLanes = {
        ...lanesFor(() => true),
        paceOf: (_owner, host) => (host === 'q' ? 'quick' : 'new'),
        mayCall: (_owner, pace) => {
          asked += 1;
          return pace === 'quick';
        },
      };
      assert.deepEqual(await due(storage, { lanes }), ['q1', 'q2']);
      assert.ok(asked < 100, `asked ${asked} times`);
    },
  });
}

function lanesFor(may: (owner: string, host: string) => boolean): DueLanes {
  return {
    paceOf: () => 'new',
    changed: () => [],
    mayCall: () => true,
    enter: ({ owner, host }) => may(owner, host),
  };
}

async function due(storage: Storage, query: Partial<DueQuery> = {}): Promise<string[]> {
  const everything = { dueByMs: 1_000_000, limit: 1000 };
  return idsOf(await storage.deliveries.due({ ...everything, ...query }));
}

function insert(storage: Storage, ...records: DeliveryRecord[]): Promise<void> {
  return storage.transaction(async (tx) => {
    for (const record of records) await storage.deliveries.insert(tx, record, 'body');
  });
}

function update(storage: Storage, record: DeliveryRecord, answer?: string): Promise<void> {
  return storage.transaction((tx) => storage.deliveries.update(tx, record, answer));
}

function idsOf(records: DeliveryRecord[]): string[] {
  return records.map(({ deliveryId }) => deliveryId);
}
