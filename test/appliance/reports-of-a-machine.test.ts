import { mock } from 'node:test';
import t from 'tap';
import { loadConfig } from '../../appliance/config/config.ts';
import { Comparison } from '../../appliance/machines/comparison.ts';
import { OwnMachine } from '../../appliance/machines/own-machine.ts';
import type { Logger } from '../../appliance/support/log.ts';
import type { MachineOrders, MachineStore } from '../../lib/cluster/machine-store.ts';
import type { RenderService } from '../../lib/index.ts';

const logger = { warn: () => {}, error: () => {}, info: () => {} } as unknown as Logger;
const NOTHING: MachineOrders = { mustDrain: false, clockAheadMs: 0, disagreements: [] };

function machineWith(store: Partial<MachineStore>): OwnMachine {
  const status = { ready: true, problems: [], workers: 1, warmWorkers: 1, running: 0 };
  return new OwnMachine({
    store: store as MachineStore,
    openStore: async () => {},
    service: { status: () => status } as unknown as RenderService,
    config: loadConfig({ flags: { databaseUrl: 'postgres://db/studio', roles: 'worker' }, env: {} }),
    comparison: new Comparison(logger),
    isDraining: () => false,
    logger,
  });
}

t.test('a machine does not report again before its last report is answered', async (t) => {
  mock.timers.enable({ apis: ['setInterval'] });
  t.teardown(() => mock.timers.reset());
  const answers: PromiseWithResolvers<MachineOrders>[] = [];
  const machine = machineWith({
    report: () => {
      const answer = Promise.withResolvers<MachineOrders>();
      answers.push(answer);
      return answer.promise;
    },
    remove: async () => true,
  });
  const started = machine.start();
  await null;
  answers[0]?.resolve(NOTHING);
  await started;
  for (let i = 0; i < 10; i++) {
    mock.timers.tick(5_000);
    await new Promise(setImmediate);
  }
  t.equal(answers.length, 2);
  const told = machine.report();
  answers[1]?.reject(new Error('the database is away'));
  await new Promise(setImmediate);
  t.equal(answers.length, 3, 'what is told at once comes after the report that is under way');
  answers[2]?.resolve({ ...NOTHING, mustDrain: true });
  await told;
  await machine.drainRequested;
  await machine.stop();
});

t.test('a machine stops while its last report is not answered', async (t) => {
  mock.timers.enable({ apis: ['setInterval', 'setTimeout'] });
  t.teardown(() => mock.timers.reset());
  const machine = machineWith({ report: () => new Promise(() => {}) });
  void machine.start();
  const stopped = machine.stop();
  mock.timers.tick(5_000);
  await stopped;
});
