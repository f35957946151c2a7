import pg from 'pg';
import t from 'tap';
import { systemRandom } from '../../../lib/base/random.ts';
import { StoredLedger } from '../../../lib/index.ts';
import type { AdmissionChecks } from '../../../lib/jobs/accept/admission.ts';
import type { NewJob } from '../../../lib/jobs/accept/new-job.ts';
import { Pricing } from '../../../lib/ledger/pricing.ts';
import { systemClock } from '../../../lib/time/clock.ts';
import { DeliveryBook } from '../../../lib/webhooks/delivery-book.ts';
import { claimJobs } from '../../fixtures/claims.ts';
import { JobBook } from '../../fixtures/job-book.ts';
import { openPostgres } from '../../fixtures/postgres/database.ts';

t.test('jobs need few round trips to the server', async (t) => {
  const storage = await openPostgres(t);
  const ledger = new StoredLedger({ store: storage.ledgerStore, freeCreditsPerMonth: 1000 });
  const deliveries = new DeliveryBook({ storage, clock: systemClock, random: systemRandom });
  const world = { storage, ledger, pricing: new Pricing(), clock: systemClock, random: systemRandom };
  const book = new JobBook({ ...world, deliveries });
  // Statements that are sent while others have no answer yet take no further one.
  let [trips, unanswered] = [0, 0];
  const { query } = pg.Client.prototype;
  pg.Client.prototype.query = function (this: pg.Client, ...args: unknown[]) {
    if (unanswered === 0) trips += 1;
    unanswered += 1;
    const answered = () => {
      unanswered -= 1;
    };
    const answer = Reflect.apply(query, this, args) as Promise<unknown>;
    answer.then(answered, answered);
    return answer;
  } as typeof query;
  t.teardown(() => {
    pg.Client.prototype.query = query;
  });
  const tripsOf = async (work: () => Promise<unknown>) => {
    const before = trips;
    await work();
    return trips - before;
  };
  const newJob: NewJob = {
    owner: 'a',
    request: { code: 'x', className: 'A', quality: 'low', aspectRatio: '16:9' },
    metadataJson: null,
    webhookUrl: 'https://example.org/',
    keyId: null,
  };
  const checks: AdmissionChecks = {
    owner: async (tx) => void (await storage.accountStore.getAccount('a', tx)),
  };
  const request = { key: 'k', fingerprint: 'f' };
  const add = (idempotency: NewJob['idempotency'] = null, checks: AdmissionChecks = {}) =>
    tripsOf(() => book.add({ ...newJob, idempotency }, checks));
  await add(); // Opens a connection, and the account of the ledger.
  t.equal(await add(), 2, 'a job: what is decided from, and what is written');
  t.equal(await add(null, checks), 3, 'its owner is locked before it is looked up');
  t.equal(await add(request, checks), 3, 'with an idempotency key');
  const claimed = await claimJobs(book, { most: 1 });
  const claimRest = async () => void claimed.push(...(await claimJobs(book, { most: 3 })));
  t.equal(await tripsOf(claimRest), 3, 'a claim of several jobs, of which enough wait');
  for (const { claim } of claimed) {
    const outcome = { kind: 'completed' as const, costCredits: 1, artifacts: [] };
    t.equal(await tripsOf(() => book.finish(claim, outcome, { durationMs: 1 })), 2, 'with a delivery');
  }
});
