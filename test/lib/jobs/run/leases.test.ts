import t from 'tap';
import { silentLogger } from '../../../../lib/base/logger.ts';
import { LEASE_MS } from '../../../../lib/jobs/run/job-claims.ts';
import { Leases } from '../../../../lib/jobs/run/leases.ts';
import type { Claim } from '../../../../lib/storage/queue/queue.ts';
import { turn } from '../../../../lib/time/clock.ts';
import { FakeClock } from '../../../fixtures/fake-clock.ts';

const claimOf = (jobId: string) => ({ jobId, token: 1 }) as unknown as Claim;

/** `renew`: the claims that are still valid. */
function newLeases(renew: (claims: Claim[]) => Promise<Claim[]>, isShared = true) {
  const clock = new FakeClock('2026-11-21T10:00:00Z');
  const [renewals, lost, expired, warnings] = [[], [], [], []] as [string[][], string[], string[], object[]];
  const leases = new Leases({
    clock,
    isShared,
    renew(claims) {
      renewals.push(claims.map(({ jobId }) => jobId));
      return renew(claims);
    },
    onLost: ({ jobId }) => lost.push(jobId),
    onExpired: ({ jobId }) => expired.push(jobId),
    logger: { ...silentLogger, warn: (details) => void warnings.push(details) },
  });
  return { clock, leases, renewals, lost, expired, warnings };
}

const all = async (claims: Claim[]) => claims;

t.test('all claims are renewed when one has been held for a sixth of the lease', async (t) => {
  const { leases, renewals } = newLeases(all);
  leases.look(LEASE_MS);
  t.same(renewals, [], 'there are none');
  leases.add(claimOf('a'), 1_000);
  leases.add(claimOf('b'), 2_000);
  leases.look(1_000 + LEASE_MS / 6 - 1);
  t.same(renewals, []);
  leases.look(1_000 + LEASE_MS / 6);
  t.same(renewals, [['a', 'b']]);
  await turn();
  leases.look(1_000 + LEASE_MS / 3 - 1);
  t.equal(renewals.length, 1, 'they count from the renewal');
  leases.look(1_000 + LEASE_MS / 3);
  t.equal(renewals.length, 2);
});

t.test('one renewal runs at a time', async (t) => {
  const answer = Promise.withResolvers<Claim[]>();
  const { leases, renewals } = newLeases(() => answer.promise);
  const claim = claimOf('a');
  leases.add(claim, 0);
  leases.look(LEASE_MS / 3);
  leases.look(LEASE_MS / 2);
  t.equal(renewals.length, 1);
  answer.resolve([claim]);
  await turn();
  leases.look(LEASE_MS / 3 + LEASE_MS / 3);
  t.equal(renewals.length, 2);
});

t.test('claims that are not renewed are lost, unless their attempts have ended', async (t) => {
  const { leases, lost, renewals } = newLeases(async (claims) => claims.slice(0, 1));
  const [kept, gone, ended] = [claimOf('kept'), claimOf('gone'), claimOf('ended')];
  for (const claim of [kept, gone, ended]) leases.add(claim, 0);
  leases.look(LEASE_MS / 3);
  leases.delete(ended);
  await turn();
  t.same(lost, ['gone']);
  leases.look((2 * LEASE_MS) / 3);
  t.same(renewals.at(-1), ['kept']);
  await turn();
  t.same(lost, ['gone'], 'once');
});

t.test('a claim that cannot be renewed expires after two thirds of the lease', async (t) => {
  const { leases, expired, warnings, renewals } = newLeases(async () => {
    throw new Error('unavailable');
  });
  leases.add(claimOf('a'), 0);
  leases.add(claimOf('b'), 1);
  leases.look((2 * LEASE_MS) / 3 - 1);
  t.same(expired, []);
  await turn();
  t.match(warnings, [{ err: { message: 'unavailable' }, jobs: 2 }]);
  leases.look((2 * LEASE_MS) / 3);
  t.same(expired, ['a']);
  t.same(renewals.at(-1), ['b']);
  await turn();
  leases.look((2 * LEASE_MS) / 3 + 1);
  t.same(expired, ['a', 'b'], 'each once');
});

t.test('claims do not expire where no other process can claim their jobs', async (t) => {
  const { leases, expired, renewals } = newLeases(all, false);
  leases.add(claimOf('a'), 0);
  leases.look(10 * LEASE_MS);
  t.same(expired, []);
  t.same(renewals, [['a']]);
});

t.test('between start and stop, checks claims 12 times per lease', async (t) => {
  const { leases, clock, renewals } = newLeases(all);
  leases.add(claimOf('a'), 0);
  leases.start();
  leases.start();
  t.equal(clock.nextInMs, LEASE_MS / 12);
  clock.advance(LEASE_MS / 12);
  t.same(renewals, []);
  clock.advance(LEASE_MS / 12);
  t.same(renewals, [['a']]);
  leases.stop();
  leases.stop();
  t.equal(clock.nextInMs, undefined);
  leases.start();
  t.equal(clock.nextInMs, LEASE_MS / 12);
  leases.stop();
});
