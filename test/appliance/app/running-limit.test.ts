import { join } from 'node:path';
import t from 'tap';
import { accountsReport, RunningLimit } from '../../../appliance/app/running-limit.ts';
import type { Machine, MachineStore } from '../../../lib/cluster/machine-store.ts';
import { type Account, Accounts, DataFolder } from '../../../lib/index.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import { testFolder } from '../../fixtures/test-folder.ts';
import { listeningAppliance, VALID } from '../listening-appliance.ts';

const python = join(import.meta.dirname, '../../fixtures/instant-renderer/bin/python');
const TEN_SECONDS_MS = 10_000;

t.test('one worker is left to others as soon as a second account is enabled', async (t) => {
  const folder = new DataFolder(testFolder(t));
  await folder.start();
  t.teardown(() => folder.stop());
  const clock = new FakeClock('2026-11-27T10:00:00Z');
  const accounts = new Accounts({ store: folder.accountStore });
  const limitOf = (workers: number, machines?: Partial<Machine>[]) => {
    const list = async () => machines as Machine[];
    return new RunningLimit({
      accounts,
      machines: machines && ({ list } as unknown as MachineStore),
      workers,
      clock,
    });
  };
  const limit = limitOf(4);
  await accounts.create('ada@example.org');
  t.equal(await limit.most(), Number.POSITIVE_INFINITY);
  const { accountId } = await accounts.create('eve@example.org');
  t.equal(await limit.most(), 3);
  t.equal(await limitOf(1).most(), 1);
  const machines = [
    { workers: 4, unseenForMs: 1_000 },
    { workers: 2, unseenForMs: 1_000 },
    { workers: 8, unseenForMs: 60_000 },
  ];
  t.equal(await limitOf(4, machines).most(), 5, 'workers of all machines that are alive');
  t.equal(await limitOf(4, []).most(), 3);
  await accounts.disable(accountId);
  t.equal(await limit.most(), 3, 'a limit is used for ten seconds');
  clock.advance(TEN_SECONDS_MS);
  t.equal(await limit.most(), Number.POSITIVE_INFINITY);
  await accounts.create('owner@localhost');
  t.equal(await limit.most(), Number.POSITIVE_INFINITY, 'the account of the first start is unclaimed');
});

t.test('an account in good standing does not get all workers', async (t) => {
  const { askAs, key, newKey, service } = await listeningAppliance(t, { python, workers: 3 });
  const eve = await newKey('eve@example.org');
  const post = async (key: string, code: string) => {
    const body = JSON.stringify({ ...VALID, code });
    return String((await askAs(key, '/api/v2/render', { method: 'POST', body })).json['jobId']);
  };
  for (const each of [key, eve])
    t.match(await service.wait(await post(each, 'quick')), { status: 'completed' });
  const sleepers: string[] = [];
  for (let count = 0; count < 3; count++) sleepers.push(await post(key, 'linger'));
  t.match(await service.wait(await post(eve, 'quick')), { status: 'completed' });
  const states = await Promise.all(sleepers.map(async (jobId) => (await service.get(jobId)).status));
  t.same(states.toSorted(), ['queued', 'running', 'running']);
  for (const jobId of sleepers) await service.cancel(jobId);
});

t.test('a process that may not read accounts is told by those that may', async (t) => {
  const clock = new FakeClock('2026-11-27T10:00:00Z');
  const mostOf = (...reports: Record<string, string>[]) => {
    const machines = reports.map((limits) => ({ workers: 2, unseenForMs: 0, limits }));
    const list = async () => machines as unknown as Machine[];
    const store = { list } as unknown as MachineStore;
    return new RunningLimit({ accounts: undefined, machines: store, workers: 2, clock }).most();
  };
  const accounts = (...all: Partial<Account>[]) => ({
    all: async function* () {
      yield* all as Account[];
    },
  });
  const one = await accountsReport(accounts({ email: 'ada@example.org' }));
  const several = await accountsReport(accounts({ email: 'ada@example.org' }, { email: 'eve@example.org' }));
  t.equal(await mostOf(one, {}), Number.POSITIVE_INFINITY);
  t.equal(await mostOf(one, several, {}), 5, 'one of six is left to others');
  t.equal(await mostOf({}, {}), 3, 'there may be several before a report');
});
