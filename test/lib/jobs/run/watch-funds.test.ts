import t from 'tap';
import { silentLogger } from '../../../../lib/base/logger.ts';
import type { Ledger } from '../../../../lib/index.ts';
import { watchFunds } from '../../../../lib/jobs/run/watch-funds.ts';
import { Pricing } from '../../../../lib/ledger/pricing.ts';
import { turn } from '../../../../lib/time/clock.ts';
import { FakeClock } from '../../../fixtures/fake-clock.ts';
import { jobRecord } from '../../../fixtures/job-record.ts';

/** Watches a render of one credit per second with a reserve of five. */
function watched(available: () => Promise<number>) {
  const clock = new FakeClock('2026-11-21T10:00:00Z');
  let asked = 0;
  const ledger = {
    available(owner: string) {
      t.equal(owner, 'ada');
      asked += 1;
      return available();
    },
  };
  let ranOut = 0;
  const warnings: object[] = [];
  const logger = { ...silentLogger, warn: (details: object) => void warnings.push(details) };
  const job = jobRecord('1', { owner: 'ada', quality: 'low', reserveCredits: 5 });
  // The render starts when the process has run for a while.
  clock.advance(60_000);
  const startedMs = clock.uptimeMs();
  const workedMs = () => clock.uptimeMs() - startedMs;
  const world = { clock, ledger: ledger as unknown as Ledger, pricing: new Pricing(), logger };
  const unwatch = watchFunds(job, world, { workedMs, onRanOut: () => ranOut++ });
  const run = async (seconds: number) => {
    clock.advance(seconds * 1000);
    await turn();
  };
  return { clock, run, unwatch, warnings, asked: () => asked, ranOut: () => ranOut };
}

t.test('a render runs as long as its reserve and the balance cover its cost', async (t) => {
  const { run, ranOut, asked, unwatch, clock } = watched(async () => 2);
  await run(5);
  t.equal(asked(), 0, 'the reserve suffices');
  await run(2);
  t.equal(asked(), 2);
  t.equal(ranOut(), 0);
  await run(1);
  t.equal(ranOut(), 1);
  unwatch();
  t.equal(clock.nextInMs, undefined, 'no timer is left');
});

t.test('a render continues while the ledger does not answer', async (t) => {
  const { run, ranOut, warnings } = watched(async () => {
    throw new Error('unavailable');
  });
  await run(600);
  t.equal(ranOut(), 0);
  t.match(warnings[0], { err: { message: 'unavailable' }, jobId: '1' });
});

t.test('a render continues while the ledger does not answer with a number', async (t) => {
  const { run, ranOut, warnings } = watched(async () => '0' as never);
  await run(600);
  t.equal(ranOut(), 0);
  t.match(warnings[0], { err: { message: /answered `available` with '0'/ }, jobId: '1' });
});
