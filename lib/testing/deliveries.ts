import assert from 'node:assert/strict';
import type { DeliveryRecord, Exchange } from '../storage/delivery.ts';
import type { DeliveryQuery } from '../storage/delivery-store.ts';
import type { Storage } from '../storage/storage.ts';
import { deliveryRecord } from './delivery-record.ts';
import { type Behaviour, behaviours, countOf, type Opened, type SuiteOptions } from './suite.ts';

const AT_FIRST = {
  holds: 'an empty storage',
  flaw: async ({ deliveries }: Storage) => countOf('deliveries', await deliveries.list({ limit: 1 })),
};

/**
 * Behaviors of the deliveries of a {@link Storage}. `open` returns a new, empty, started one.
 *
 * ```ts
 * const open = async () => ({ subject: await MyStorage.open(), close: async () => {} });
 * for (const { title, run } of deliveriesSuite(open)) test(title, run);
 * ```
 */
export function deliveriesSuite(
  open: () => Promise<Opened<Storage>>,
  options: SuiteOptions = {},
): Behaviour[] {
  const suite = { name: 'deliveriesSuite', open, options, ...AT_FIRST };
  return behaviours(suite, {
    async 'stores a delivery with its body and exchanges'(storage) {
      const { deliveries } = storage;
      const body = '{"metadata":1.0} \0 数学 \u2028\n';
      const kept = deliveryRecord('1', { dueAtMs: null, deliveredAtMs: 5, secretSealed: 's' });
      await storage.transaction((tx) => deliveries.insert(tx, deliveryRecord('1'), body));
      assert.deepEqual(await deliveries.readExchanges('1'), []);
      const first = { attempt: 0, signature: 't=1,v1=0', answer: '\0 数学' };
      const second = { attempt: 1, signature: null, answer: null };
      await update(storage, kept, first);
      await update(storage, kept, second);
      await update(storage, kept);
      await storage.stop();
      await storage.start();
      assert.deepEqual(await deliveries.get('1'), kept);
      assert.equal(await deliveries.readBody('1'), body);
      assert.deepEqual(await deliveries.readExchanges('1'), [first, second]);
      assert.equal(await deliveries.get('2'), undefined);
      assert.equal(await deliveries.readBody('2'), undefined);
    },

    async 'stores nothing of a transaction that throws'(storage) {
      const { deliveries } = storage;
      const failing = storage.transaction(async (tx) => {
        await deliveries.insert(tx, deliveryRecord('1'), 'x');
        assert.equal((await deliveries.get('1', tx))?.deliveryId, '1');
        throw new Error('no');
      });
      await assert.rejects(failing, { message: 'no' });
      assert.equal(await deliveries.get('1'), undefined);
      assert.deepEqual(await storage.deliveries.listUnfinished(), []);
    },

    async 'replaces secrets given with jobs, also of ended deliveries'(storage) {
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

    async 'removes bodies and exchanges of forgotten deliveries'(storage) {
      await insert(storage, deliveryRecord('1'), deliveryRecord('2'));
      await update(storage, deliveryRecord('1'), { attempt: 0, signature: null, answer: 'x' });
      const forgotten = deliveryRecord('1', { dueAtMs: null });
      await storage.transaction((tx) => storage.deliveries.forget(tx, forgotten));
      assert.deepEqual(await storage.deliveries.get('1'), forgotten);
      assert.equal(await storage.deliveries.readBody('1'), undefined);
      assert.deepEqual(await storage.deliveries.readExchanges('1'), []);
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

    async 'lists deliveries by key and state'(storage) {
      await insert(
        storage,
        deliveryRecord('1', { keyId: 'k' }),
        deliveryRecord('2', { keyId: 'k', dueAtMs: null, deliveredAtMs: 5 }),
        deliveryRecord('3', { keyId: 'k', dueAtMs: null }),
        deliveryRecord('4', { keyId: 'l', dueAtMs: null }),
        deliveryRecord('5', { keyId: 'k', owner: 'b', dueAtMs: null }),
      );
      const list = async (query: DeliveryQuery) => idsOf(await storage.deliveries.list(query));
      assert.deepEqual(await list({ keyId: 'k' }), ['5', '3', '2', '1']);
      assert.deepEqual(await list({ keyId: 'k', owner: 'a', limit: 2 }), ['3', '2']);
      assert.deepEqual(await list({ state: 'failed' }), ['5', '4', '3']);
      assert.deepEqual(await list({ state: 'pending' }), ['1']);
      assert.deepEqual(await list({ state: 'delivered' }), ['2']);
      assert.deepEqual(await list({ state: 'failed', owner: 'a', before: '4' }), ['3']);
      assert.deepEqual(await list({ state: 'failed', keyId: 'k', after: '3' }), ['5']);
      await update(storage, deliveryRecord('1', { keyId: 'k', dueAtMs: null }));
      assert.deepEqual(await list({ state: 'pending' }), []);
      assert.deepEqual(await list({ state: 'failed', keyId: 'k', owner: 'a' }), ['3', '1']);
      const seen = await storage.transaction(async (tx) => {
        await storage.deliveries.insert(tx, deliveryRecord('6'), 'body');
        return idsOf(await storage.deliveries.list({ limit: 1 }, tx));
      });
      assert.deepEqual(seen, ['6']);
    },
  });
}

function insert(storage: Storage, ...records: DeliveryRecord[]): Promise<void> {
  return storage.transaction(async (tx) => {
    for (const record of records) await storage.deliveries.insert(tx, record, 'body');
  });
}

function update(storage: Storage, record: DeliveryRecord, exchange?: Exchange): Promise<void> {
  return storage.transaction((tx) => storage.deliveries.update(tx, record, exchange));
}

function idsOf(records: DeliveryRecord[]): string[] {
  return records.map(({ deliveryId }) => deliveryId);
}
