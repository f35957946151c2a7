import t, { type Test } from 'tap';
import { silentLogger } from '../../../lib/base/logger.ts';
import { Leadership } from '../../../lib/cluster/leadership.ts';
import { turn } from '../../../lib/time/clock.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import { openPostgres } from '../../fixtures/postgres/database.ts';

/** A process that may lead. `fault`: what its requests fail with. */
function candidate(
  t: Test,
  storage: { lead?: (...args: [string, string, number]) => Promise<boolean> },
  holder: string,
) {
  const clock = new FakeClock('2026-11-21T10:00:00Z');
  const state = { begun: 0, mayLead: true, fault: undefined as Error | undefined };
  const lead = storage.lead;
  const watched = lead && {
    lead: (...args: [string, string, number]) => (state.fault ? Promise.reject(state.fault) : lead(...args)),
  };
  const onLead = () => {
    state.begun += 1;
  };
  const leadership = new Leadership({
    storage: watched ?? {},
    task: 'x',
    holder,
    mayLead: () => state.mayLead,
    clock,
    logger: silentLogger,
    onLead,
  });
  t.teardown(() => leadership.stop());
  return { clock, state, leadership };
}

/** A store of one task, by a clock of its own. */
function storeOf(clock: FakeClock) {
  let leader = { holder: '', untilMs: 0 };
  return {
    lead: async (_task: string, holder: string, forMs: number) => {
      if (leader.holder !== holder && leader.untilMs > clock.uptimeMs()) return false;
      leader = { holder, untilMs: clock.uptimeMs() + forMs };
      return true;
    },
  };
}

t.test('one of two processes leads; the other takes over when it stops', async (t) => {
  const store = storeOf(new FakeClock('2026-11-21T10:00:00Z'));
  const [one, other] = [candidate(t, store, 'one'), candidate(t, store, 'other')];
  one.leadership.start();
  await turn();
  other.leadership.start();
  await turn();
  t.same([one.leadership.isLeader, other.leadership.isLeader], [true, false]);
  await one.leadership.stop();
  t.notOk(one.leadership.isLeader);
  other.clock.advance(3_000);
  await turn();
  t.ok(other.leadership.isLeader);
  t.same([one.state.begun, other.state.begun], [1, 1]);
});

t.test('a process that cannot renew stops leading before another begins', async (t) => {
  const server = new FakeClock('2026-11-21T10:00:00Z');
  const store = storeOf(server);
  const [one, other] = [candidate(t, store, 'one'), candidate(t, store, 'other')];
  one.leadership.start();
  await turn();
  one.state.fault = new Error('unreachable');
  other.leadership.start();
  for (let ms = 0; ms < 12_000; ms += 1_000) {
    t.equal(one.leadership.isLeader, ms < 8_000);
    t.notOk(other.leadership.isLeader);
    for (const clock of [server, one.clock, other.clock]) clock.advance(1_000);
    await turn();
  }
  t.ok(other.leadership.isLeader);
  one.state.fault = undefined;
  one.clock.advance(3_000);
  await turn();
  t.notOk(one.leadership.isLeader);
});

t.test('a process that may not lead lets another do it', async (t) => {
  const store = storeOf(new FakeClock('2026-11-21T10:00:00Z'));
  const [one, other] = [candidate(t, store, 'one'), candidate(t, store, 'other')];
  one.leadership.start();
  await turn();
  one.state.mayLead = false;
  one.clock.advance(3_000);
  await turn();
  t.notOk(one.leadership.isLeader);
  other.leadership.start();
  await turn();
  t.ok(other.leadership.isLeader);
});

t.test('in a storage of one process, it leads', async (t) => {
  const { leadership, state } = candidate(t, {}, 'one');
  leadership.start();
  t.ok(leadership.isLeader);
  t.equal(state.begun, 0);
});

t.test('in Postgres, one leads until its time has passed', async (t) => {
  const storage = await openPostgres(t);
  const lead = (holder: string, forMs: number) => storage.lead?.('x', holder, forMs);
  t.same(await Promise.all([lead('one', 60_000), lead('one', 60_000)]), [true, true]);
  t.equal(await lead('other', 60_000), false);
  t.equal(await storage.lead?.('y', 'other', 60_000), true, 'another task');
  t.equal(await lead('one', 0), true);
  t.equal(await lead('other', 60_000), true);
  t.equal(await lead('one', 60_000), false);
});
