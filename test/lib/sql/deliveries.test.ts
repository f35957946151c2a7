import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import t, { type Test } from 'tap';
import { DataFolder } from '../../../lib/index.ts';
import { recover } from '../../../lib/operations.ts';
import type { Storage } from '../../../lib/storage/storage.ts';
import { deliveryRecord, EVERY_LANE } from '../../../lib/testing/delivery-record.ts';
import type { DeliveryRecord } from '../../../lib/webhooks/delivery.ts';
import type { DueLanes, DueRequest, HostPace } from '../../../lib/webhooks/delivery-store.ts';
import { isDeep } from '../../fixtures/depth.ts';
import { testFolder } from '../../fixtures/test-folder.ts';

const NOW_MS = 1_000_000;
const MANY = isDeep ? 10_000 : 2_000;
const STEPS = 60;

let folders = 0;

async function openStorage(t: Test): Promise<{ storage: Storage; folder: DataFolder }> {
  const folder = new DataFolder(join(t.testdirName, String(folders++)));
  await folder.start();
  t.teardown(() => folder.stop());
  return { storage: folder.storage, folder };
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

function claim(storage: Storage, request: Partial<DueRequest> = {}): Promise<DeliveryRecord[]> {
  const { nowMs = NOW_MS } = request;
  const all: DueRequest = {
    nowMs,
    latestDueMs: nowMs + 30 * 60_000,
    most: 16,
    lanes: EVERY_LANE,
    begin: (delivery) => ({ ...delivery, dueAtMs: nowMs + 40_000 }),
    onUnreadable: () => {},
    ...request,
  };
  return storage.transaction((tx) => storage.deliveries.claimDue(tx, all));
}

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

/** Lanes that count calls. */
function countedLanes(lanes: Partial<DueLanes>): { lanes: DueLanes; asked: { times: number } } {
  const asked = { times: 0 };
  const counted = <Args extends unknown[], Answer>(ask: (...args: Args) => Answer) => {
    return (...args: Args) => {
      asked.times += 1;
      return ask(...args);
    };
  };
  const { paceOf, mayCall, enter } = { ...EVERY_LANE, ...lanes };
  return { lanes: { paceOf: counted(paceOf), mayCall: counted(mayCall), enter: counted(enter) }, asked };
}

const dead: [what: string, of: (index: number) => Partial<DeliveryRecord>][] = [
  ['deliveries to a host', () => ({ owner: 'eve', host: 'dead' })],
  ['hosts of an owner', (index) => ({ owner: 'eve', host: `dead-${index}` })],
  ['owners', (index) => ({ owner: `eve-${index}`, host: 'dead' })],
];

/** Measures operations while `count` deliveries that may not be sent are due, or will be soon. */
async function timesWith(t: Test, count: number, of: (index: number) => Partial<DeliveryRecord>) {
  const { storage, folder } = await openStorage(t);
  const waiting = Array.from({ length: count }, (_, index) =>
    deliveryRecord(`w${index}`, { ...of(index), dueAtMs: index % 2 === 0 ? index : NOW_MS + index }),
  );
  await insert(storage, waiting);
  // As in a sender that starts only some attempts of an owner at a time.
  const { lanes, asked } = countedLanes({
    paceOf: (owner) => (owner === 'ada' ? 'quick' : 'new'),
    mayCall: (owner, pace) => owner === 'ada' || pace === 'quick',
    enter: (owner) => owner === 'ada',
  });
  const insertMs = await shortestMs(STEPS, (index) =>
    insert(storage, [deliveryRecord(`a${index}`, { owner: 'ada', host: 'alive', dueAtMs: NOW_MS })]),
  );
  let found = 0;
  asked.times = 0;
  const claimMs = await shortestMs(STEPS, async () => {
    found += (await claim(storage, { lanes, most: 1 })).length;
  });
  t.equal(found, STEPS);
  const anyMs = await shortestMs(STEPS, () =>
    storage.deliveries.countDue({ nowMs: NOW_MS, latestDueMs: NOW_MS * 10, limit: 1 }),
  );
  await folder.stop();
  const startMs = await shortestMs(5, async () => {
    await folder.start();
    await folder.stop();
  });
  return { asked: asked.times, times: { insertMs, claimMs, anyMs, startMs } };
}

for (const [what, of] of dead.slice(0, 2)) {
  t.test(`${MANY} ${what} that may not be called cost no more time than ten`, async (t) => {
    testFolder(t);
    const few = await timesWith(t, 10, of);
    const many = await timesWith(t, MANY, of);
    t.comment(JSON.stringify({ few, many }));
    t.ok(many.asked < STEPS * 100, `asked ${many.asked} times`);
    // A scan of all of them would take hundreds of times as long.
    for (const [name, ms] of Object.entries(few.times)) {
      const factor = many.times[name as keyof typeof many.times] / Math.max(ms, 0.2);
      t.ok(factor < 10, `${name}: ${factor.toFixed(1)} times`);
    }
  });
}

t.test(`a delivery enqueued after those of ${MANY} owners waits for one turn of each`, async (t) => {
  testFolder(t);
  const { storage } = await openStorage(t);
  const [, of] = dead[2] as (typeof dead)[0];
  const records = Array.from({ length: MANY }, (_, index) => deliveryRecord(`w${index}`, of(index)));
  await insert(
    storage,
    records.concat(
      records.map((record) => ({
        ...record,
        deliveryId: `${record.deliveryId}b`,
        jobId: `${record.jobId} b`,
      })),
    ),
  );
  const times: number[] = [];
  let found = -1;
  await claim(storage, { most: 64 });
  await insert(storage, [deliveryRecord('late', { owner: 'ada', dueAtMs: NOW_MS })]);
  for (let count = 0; found < 0; count += 64) {
    let ids: string[] = [];
    times.push(
      await shortestMs(1, async () => {
        ids = (await claim(storage, { most: 64 })).map(({ deliveryId }) => deliveryId);
      }),
    );
    if (ids.includes('late')) found = count + ids.indexOf('late');
    t.ok(count <= MANY, 'not after their second deliveries');
    if (count > MANY) break;
  }
  t.ok(found >= MANY - 64 - 1, `after ${found}`);
  const half = Math.floor(times.length / 2);
  const [first, last] = [Math.min(...times.slice(0, half)), Math.min(...times.slice(half))];
  t.comment(JSON.stringify({ first, last }));
  t.ok(last < 3 * first, 'the time of a claim does not grow');
});

t.test('a host that became quick is served although new hosts have no places left', async (t) => {
  testFolder(t);
  const { storage } = await openStorage(t);
  const records = Array.from({ length: 1000 }, (_, i) =>
    deliveryRecord(`n${i}`, { owner: 'eve', host: `n-${i}` }),
  );
  await insert(storage, [...records, deliveryRecord('q', { owner: 'eve', host: 'q', dueAtMs: 5 })]);
  const known: Record<string, HostPace> = {};
  const lanes: DueLanes = {
    paceOf: (_owner, host) => known[host] ?? 'new',
    mayCall: (_owner, pace) => pace === 'quick',
    enter: () => true,
  };
  t.same(await claim(storage, { lanes }), []);
  known['q'] = 'quick';
  const changed = [{ owner: 'eve', host: 'q' }];
  t.match(await claim(storage, { lanes, changed }), [{ deliveryId: 'q' }]);
});

t.test('a damaged delivery does not block others', async (t) => {
  testFolder(t);
  const { storage, folder } = await openStorage(t);
  await insert(storage, [
    deliveryRecord('1'),
    deliveryRecord('2', { dueAtMs: 1 }),
    deliveryRecord('3', { host: 'b' }),
  ]);
  await folder.stop();
  const database = new DatabaseSync(join(folder.path, 'database.sqlite'));
  database.exec("UPDATE deliveries SET key_id = 'altered' WHERE delivery_id = '1'");
  database.close();
  await folder.start();
  const unreadable: [string, unknown][] = [];
  const onUnreadable = (deliveryId: string, error: unknown) => void unreadable.push([deliveryId, error]);
  const ids = async (nowMs: number) =>
    (await claim(storage, { nowMs, onUnreadable })).map(({ deliveryId }) => deliveryId).sort();
  t.same(await ids(NOW_MS), ['2', '3']);
  t.match(unreadable, [['1', { code: 'storage_damaged', message: /row 1 of the table deliveries/ }]]);
  await ids(NOW_MS);
  t.equal(unreadable.length, 1, 'it is not read at each claim');
  await ids(NOW_MS + 10 * 60_000);
  t.equal(unreadable.length, 2, 'it is read again later');
  await folder.stop();
  t.match((await recover(folder.path, { apply: true })).lost, [{ table: 'deliveries', key: '1' }]);
  await folder.start();
  t.same(await ids(NOW_MS + 20 * 60_000), ['2', '3'], 'saved deliveries are still due');
});

t.test('a delivery on an unreadable page fails one claim and is skipped by the next', async (t) => {
  testFolder(t);
  const { storage, folder } = await openStorage(t);
  const mark = 'B'.repeat(9_000);
  // They separate the pages of the other deliveries.
  const between = Array.from({ length: 40 }, (_, i) =>
    deliveryRecord(`b${i}`, { secretSealed: 'k'.repeat(900), dueAtMs: null }),
  );
  await insert(storage, [
    deliveryRecord('a', { secretSealed: mark }),
    ...between,
    deliveryRecord('c', { dueAtMs: 1 }),
    deliveryRecord('d', { host: 'b' }),
  ]);
  await folder.stop();
  const path = join(folder.path, 'database.sqlite');
  const bytes = readFileSync(path);
  const page = bytes.indexOf(mark.slice(0, 4_000)) - 4;
  t.equal(page % 4096, 0, 'an overflow page of the row');
  bytes.writeUInt32BE(0x7fff_ffff, page);
  writeFileSync(path, bytes);
  await folder.start();
  const unreadable: string[] = [];
  const onUnreadable = (deliveryId: string) => void unreadable.push(deliveryId);
  await t.rejects(claim(storage, { onUnreadable }), { code: 'storage_damaged' });
  const ids = (await claim(storage, { onUnreadable })).map(({ deliveryId }) => deliveryId).sort();
  t.same(ids, ['c', 'd']);
  t.same(unreadable, ['a']);
});

t.test('an audit reports deliveries that would never be sent, and a recovery repairs them', async (t) => {
  testFolder(t);
  const { storage, folder } = await openStorage(t);
  await insert(storage, [
    deliveryRecord('1'),
    deliveryRecord('2', { host: 'b' }),
    deliveryRecord('3', { dueAtMs: null }),
  ]);
  t.same((await folder.ledgerStore.audit()).problems, []);
  await folder.stop();
  const database = new DatabaseSync(join(folder.path, 'database.sqlite'));
  database.exec(
    "DELETE FROM due_hosts WHERE host = 'b'; INSERT INTO due_deliveries VALUES ('3', 'a', 'c', 0)",
  );
  database.close();
  await folder.start();
  const problems = [
    'delivery 2 has not ended, but is missing from the send queue',
    'delivery 3 has ended, but is in the send queue',
  ];
  t.same((await folder.ledgerStore.audit()).problems, problems);
  await folder.stop();
  t.match(await recover(folder.path, { apply: true }), { faults: problems, lost: [] });
  await folder.start();
  t.same((await folder.ledgerStore.audit()).problems, []);
  t.same((await claim(storage)).map(({ deliveryId }) => deliveryId).sort(), ['1', '2']);
});
