import t, { type Test } from 'tap';
import type { MachineReport } from '../../lib/cluster/machine-store.ts';
import { postgres } from '../../lib/postgres/index.ts';
import { FakeClock } from '../fixtures/fake-clock.ts';
import { lockAwaited, openPostgres, run } from '../fixtures/postgres/database.ts';
import { PostgresServer } from '../fixtures/postgres/server.ts';

function reportOf(machineId: string, settings: Record<string, string> = {}): MachineReport {
  return {
    machineId,
    name: `name of ${machineId}`,
    roles: ['worker'],
    qualities: null,
    version: '1',
    state: 'ready',
    workers: 1,
    busyWorkers: 0,
    warmWorkers: 1,
    settings,
    limits: {},
  };
}

async function openMachines(t: Test) {
  const storage = await openPostgres(t);
  const { schema, machineStore } = storage;
  const report = async (machineId: string, settings?: Record<string, string>) =>
    (await machineStore.report(reportOf(machineId, settings))).disagreements;
  const unseen = (machineId: string, seconds: number) =>
    run(`UPDATE machines SET seen_at = now() - interval '${seconds} s' WHERE machine_id = '${machineId}'`, {
      schema,
    });
  return { storage, machineStore, report, unseen };
}

t.test('the first machine decides, and others wait until none with its settings is left', async (t) => {
  const { machineStore, report } = await openMachines(t);
  t.same(await report('a', { price: '1', url: 'x' }), []);
  t.same(await report('b', { price: '1' }), [], 'compared by the settings that both have');
  const differs = [{ name: 'price', own: '2', others: '1', machines: ['name of a', 'name of b'] }];
  t.same(await report('c', { price: '2', url: 'x' }), differs);
  t.same(await report('a', { price: '1', url: 'x' }), [], 'one that waits decides nothing');
  t.same(await report('c', { price: '2', url: 'x' }), differs);
  await machineStore.remove('a');
  t.match(await report('c', { price: '2', url: 'x' }), [{ machines: ['name of b'] }]);
  await machineStore.remove('b');
  t.same(await report('c', { price: '2', url: 'x' }), []);
  t.match(await report('a', { price: '1' }), [{ others: '2' }]);
});

t.test('of machines that start at the same time with different settings, one may work', async (t) => {
  const { report, storage } = await openMachines(t);
  const [locked, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const holding = storage.database.transaction(async (tx) => {
    await tx.lock('machines');
    locked.resolve();
    await held.promise;
  });
  await locked.promise;
  const reports = ['a', 'b'].map((id) => report(id, { price: id }));
  // Both have begun, and neither has committed.
  await lockAwaited('machines', storage);
  held.resolve();
  await holding;
  const all = await Promise.all(reports);
  t.equal(all.filter((disagreements) => disagreements.length === 0).length, 1);
});

t.test('a machine that was taken for dead is compared again when it returns', async (t) => {
  const { report, unseen } = await openMachines(t);
  await report('a', { price: '1' });
  await unseen('a', 29);
  t.match(await report('b', { price: '2' }), [{ others: '1' }], 'it may still work');
  await unseen('a', 31);
  t.same(await report('b', { price: '2' }), []);
  t.match(await report('a', { price: '1' }), [{ own: '1', others: '2' }]);
});

t.test('a machine learns how far its clock is ahead of that of the database', async (t) => {
  for (const aheadMs of [0, 600_000, -600_000]) {
    const clock = new FakeClock(new Date(Date.now() + aheadMs).toISOString());
    const storage = await openPostgres(t, { clock });
    const orders = await storage.machineStore.report(reportOf('a'));
    t.ok(Math.abs(orders.clockAheadMs - aheadMs) < 20_000, `${orders.clockAheadMs}`);
    t.match(await storage.machineStore.list(), [{ clockAheadMs: orders.clockAheadMs }]);
  }
});

t.test('a confirmed request to drain survives a crash of Postgres', async (t) => {
  const server = await PostgresServer.start({ settings: { fsync: 'on' } });
  t.teardown(() => server.remove());
  const storage = postgres(server.url);
  t.teardown(() => storage.stop());
  await storage.start();
  t.match(await storage.machineStore.report(reportOf('a')), { mustDrain: false });
  t.ok(await storage.machineStore.requestDrain('a'));
  await server.stop('SIGQUIT');
  await server.start();
  t.match(await storage.machineStore.report(reportOf('a')), { mustDrain: true });
});
