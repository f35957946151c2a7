import t, { type Test } from 'tap';
import { DataFolder, type DeliveryRecord } from '../../../lib/index.ts';

const none: ReadonlySet<string> = new Set();
const EVERYTHING = { dueByMs: 1_000_000, limit: 100, limitPerHost: 100, exceptHosts: none };

function record(deliveryId: string, change: Partial<DeliveryRecord> = {}): DeliveryRecord {
  return {
    deliveryId,
    jobId: 'j',
    owner: 'ada',
    keyId: null,
    event: 'failed',
    url: 'https://a.test/',
    host: 'a.test',
    createdAtMs: 0,
    repeats: null,
    mostAttempts: 4,
    attempts: [],
    dueAtMs: 0,
    deliveredAtMs: null,
    ...change,
  };
}

async function openStore(t: Test) {
  const folder = new DataFolder(t.testdir());
  await folder.start();
  t.teardown(() => folder.stop());
  const { storage } = folder;
  const insert = (...records: DeliveryRecord[]) =>
    storage.transaction(async (tx) => {
      for (const one of records) await storage.deliveries.insert(tx, one, `body of ${one.deliveryId}`);
    });
  const update = (one: DeliveryRecord, answer?: string) =>
    storage.transaction((tx) => storage.deliveries.update(tx, one, answer));
  const due = async (query: Partial<typeof EVERYTHING> = {}) =>
    (await storage.deliveries.due({ ...EVERYTHING, ...query })).map(({ deliveryId }) => deliveryId);
  return { folder, storage, store: storage.deliveries, insert, update, due };
}

t.test('a delivery is kept with its body and its last answer', async (t) => {
  const { folder, store, insert, update } = await openStore(t);
  await insert(record('1', { secretSealed: 's' }));
  t.equal(await store.readAnswer('1'), undefined);
  await update(record('1', { dueAtMs: null }), 'first');
  await update(record('1', { dueAtMs: null }), 'second');
  await update(record('1', { deliveredAtMs: 5, dueAtMs: null }));
  await folder.stop();
  await folder.start();
  t.same(await store.get('1'), record('1', { deliveredAtMs: 5, dueAtMs: null }));
  t.equal(await store.readBody('1'), 'body of 1');
  t.equal(await store.readAnswer('1'), 'second');
  t.equal(await store.get('2'), undefined);
});

t.test('what a transaction that fails has written was never there', async (t) => {
  const { storage, store, due } = await openStore(t);
  const failing = storage.transaction(async (tx) => {
    await store.insert(tx, record('1'), 'x');
    t.match(await store.get('1', tx), { deliveryId: '1' });
    throw new Error('no');
  });
  await t.rejects(failing, { message: 'no' });
  t.equal(await store.get('1'), undefined);
  t.same(await due(), []);
});

t.test('deliveries are listed newest first, by owner, job and page', async (t) => {
  const { store, insert } = await openStore(t);
  await insert(
    record('1'),
    record('2', { jobId: 'k' }),
    record('3', { owner: 'eve', jobId: 'k' }),
    record('4'),
  );
  const ids = async (query: object) => (await store.list(query)).map(({ deliveryId }) => deliveryId);
  t.same(await ids({}), ['4', '3', '2', '1']);
  t.same(await ids({ owner: 'ada' }), ['4', '2', '1']);
  t.same(await ids({ jobId: 'k' }), ['3', '2']);
  t.same(await ids({ jobId: 'k', owner: 'ada' }), ['2']);
  t.same(await ids({ limit: 2 }), ['4', '3']);
  t.same(await ids({ limit: 2, before: '3' }), ['2', '1']);
  t.same(await ids({ jobId: 'none' }), []);
});

t.test('due is what has its time, the longest due of a host first', async (t) => {
  const { insert, update, due, folder } = await openStore(t);
  await insert(
    record('1', { dueAtMs: 300 }),
    record('2', { dueAtMs: 100 }),
    record('3', { dueAtMs: 200 }),
    record('4', { dueAtMs: null }),
    record('5', { dueAtMs: 301 }),
  );
  t.same(await due({ dueByMs: 99 }), []);
  t.same(await due({ dueByMs: 300 }), ['2', '3', '1']);
  t.same(await due({ dueByMs: 300 }), ['2', '3', '1'], 'being asked changes nothing');
  await update(record('2', { dueAtMs: 400 }));
  await update(record('3', { dueAtMs: null }));
  t.same(await due({ dueByMs: 301 }), ['1', '5']);
  t.same(await due({ dueByMs: 400 }), ['1', '5', '2']);
  await folder.stop();
  await folder.start();
  t.same(await due({ dueByMs: 400 }), ['1', '5', '2']);
});

t.test('hosts take turns, and none of the busy ones is given', async (t) => {
  const { insert, due } = await openStore(t);
  const to = (host: string, ...ids: string[]) => ids.map((id) => record(id, { host }));
  await insert(...to('a', 'a1', 'a2', 'a3', 'a4'), ...to('b', 'b1', 'b2'), ...to('c', 'c1'));
  const sorted = async (query: object) => (await due(query)).sort();
  t.same(await sorted({ limitPerHost: 1 }), ['a1', 'b1', 'c1']);
  t.same(await sorted({ limitPerHost: 2 }), ['a1', 'a2', 'b1', 'b2', 'c1']);
  t.same(await sorted({ exceptHosts: new Set(['a', 'c']) }), ['b1', 'b2']);
  const turns = [...(await due({ limit: 1 })), ...(await due({ limit: 1 })), ...(await due({ limit: 1 }))];
  t.same(turns.sort(), ['a1', 'b1', 'c1']);
});

t.test('with 100,000 due, asking takes no longer', async (t) => {
  const { insert, due } = await openStore(t);
  for (let from = 0; from < 100_000; from += 5_000) {
    const batch = Array.from({ length: 5_000 }, (_, i) => {
      const id = String(from + i).padStart(6, '0');
      return record(id, { host: `host-${(from + i) % 1_000}`, dueAtMs: from + i });
    });
    await insert(...batch);
  }
  await due({ limit: 1 });
  const startedAt = performance.now();
  let count = 0;
  for (let i = 0; i < 1_000; i += 1) count += (await due({ limit: 256, limitPerHost: 8 })).length;
  const tookMs = performance.now() - startedAt;
  t.equal(count, 256_000);
  t.ok(tookMs < 2_000, `a thousand times in ${Math.round(tookMs)} ms`);
});
