import t, { type Test } from 'tap';
import { DataFolder, type DueLanes, type HostPace } from '../../../lib/index.ts';
import { deliveryRecord } from '../../../lib/testing/delivery-record.ts';

const HOSTS = 100_000;

async function open(t: Test) {
  const folder = new DataFolder(t.testdir());
  await folder.start();
  t.teardown(() => folder.stop());
  return folder.storage;
}

/** Lanes that count how often they are asked anything. */
function countedLanes(may: { call: (pace: HostPace) => boolean; enter: () => boolean }) {
  const paces = new Map<string, HostPace>();
  let changed: { owner: string; host: string }[] = [];
  const asked = { times: 0 };
  const lanes: DueLanes = {
    paceOf: (owner, host) => {
      asked.times += 1;
      return paces.get(`${owner} ${host}`) ?? 'new';
    },
    changed: () => {
      const taken = changed;
      changed = [];
      return taken;
    },
    mayCall: (_owner, pace) => {
      asked.times += 1;
      return may.call(pace);
    },
    enter: () => {
      asked.times += 1;
      return may.enter();
    },
  };
  const become = (owner: string, host: string, pace: HostPace) => {
    paces.set(`${owner} ${host}`, pace);
    changed.push({ owner, host });
  };
  return { lanes, asked, become };
}

t.test('with 100,000 hosts due, finding some to call takes no longer than with few', async (t) => {
  const storage = await open(t);
  for (let from = 0; from < HOSTS; from += 5_000) {
    await storage.transaction(async (tx) => {
      for (let i = from; i < from + 5_000; i += 1) {
        const record = deliveryRecord(String(i), { owner: 'eve', host: `host-${i}`, dueAtMs: i });
        await storage.deliveries.insert(tx, record, 'body');
      }
      await storage.deliveries.insert(
        tx,
        deliveryRecord(`q${from}`, { owner: 'eve', host: 'quick' }),
        'body',
      );
    });
  }
  const may = { call: (_pace: HostPace) => true, enter: () => true };
  const { lanes, asked, become } = countedLanes(may);
  const query = { dueByMs: 1_000_000, lanes };
  await storage.deliveries.due({ ...query, limit: 1 });
  asked.times = 0;
  for (let i = 0; i < 100; i += 1) await storage.deliveries.due({ ...query, limit: 16 });
  t.ok(asked.times < 100 * 16 * 8, `16 of them, a hundred times: asked ${asked.times} times`);

  may.call = (pace) => pace === 'quick';
  asked.times = 0;
  for (let i = 0; i < 100; i += 1) t.same(await storage.deliveries.due({ ...query, limit: 16 }), []);
  t.ok(asked.times < 100 * 8, `none that may be called, a hundred times: asked ${asked.times} times`);

  become('eve', 'quick', 'quick');
  asked.times = 0;
  t.equal(
    (await storage.deliveries.due({ ...query, limit: 16 })).length,
    16,
    'those to a host that became quick',
  );
  t.ok(asked.times < 16 * 8, `asked ${asked.times} times`);
  become('eve', 'quick', 'slow');
  t.same(await storage.deliveries.due({ ...query, limit: 16 }), []);
});

t.test('a delivery to a quick host is found when it comes behind many that may not be called', async (t) => {
  const storage = await open(t);
  const { lanes, become } = countedLanes({ call: (pace) => pace === 'quick', enter: () => true });
  become('a', 'quick', 'quick');
  const insert = (deliveryId: string, host: string) =>
    storage.transaction((tx) => storage.deliveries.insert(tx, deliveryRecord(deliveryId, { host }), 'body'));
  for (let i = 0; i < 50; i += 1) await insert(String(i), `host-${i}`);
  const query = { dueByMs: 0, limit: 16, lanes };
  t.same(await storage.deliveries.due(query), []);
  await storage.deliveries.due({ dueByMs: 0, limit: 1 });
  await insert('q', 'quick');
  t.equal(await storage.deliveries.due({ dueByMs: 0, limit: 100 }).then(({ length }) => length), 51);
  t.match(await storage.deliveries.due(query), [{ deliveryId: 'q' }]);
});

t.test('owners take turns, and the hosts of each', async (t) => {
  const storage = await open(t);
  await storage.transaction(async (tx) => {
    for (const id of ['ax1', 'ax2', 'ax3', 'ay1', 'bx1', 'cx1']) {
      const record = deliveryRecord(id, { owner: id.charAt(0), host: id.charAt(1) });
      await storage.deliveries.insert(tx, record, 'body');
    }
  });
  const { lanes } = countedLanes({ call: () => true, enter: () => true });
  const turns: string[] = [];
  for (let i = 0; i < 6; i += 1) {
    for (const due of await storage.deliveries.due({ dueByMs: 0, limit: 1, lanes })) {
      turns.push(due.deliveryId);
      await storage.transaction((tx) => storage.deliveries.update(tx, { ...due, dueAtMs: null }));
    }
  }
  t.same(turns, ['ax1', 'bx1', 'cx1', 'ay1', 'ax2', 'ax3']);
});
