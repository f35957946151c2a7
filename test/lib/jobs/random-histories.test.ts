import { copyFileSync, mkdirSync, rmSync, statSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import t, { type Test } from 'tap';
import { systemRandom } from '../../../lib/base/random.ts';
import { Connection } from '../../../lib/databases/sqlite/connection.ts';
import { type Artifact, DataFolder, type Ledger, StoredLedger } from '../../../lib/index.ts';
import type { LedgerStore } from '../../../lib/ledger/ledger-store.ts';
import { Pricing } from '../../../lib/ledger/pricing.ts';
import { MOST_ATTEMPTS } from '../../../lib/model/failures.ts';
import type { JobOutcome, JobRecord } from '../../../lib/model/job.ts';
import { assetKeyOf } from '../../../lib/model/job.ts';
import { auditBooks } from '../../../lib/sql/audit.ts';
import type { DeliveryRecord } from '../../../lib/storage/delivery.ts';
import type { Claim } from '../../../lib/storage/queue/queue.ts';
import type { SqlDatabase } from '../../../lib/storage/sql.ts';
import { DeliveryBook } from '../../../lib/webhooks/delivery-book.ts';
import type { ExchangeResult } from '../../../lib/webhooks/outbound.ts';
import { claimDeliveries, claimJobs } from '../../fixtures/claims.ts';
import { times } from '../../fixtures/depth.ts';
import { DistantLedger } from '../../fixtures/distant-ledger.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import { JobBook } from '../../fixtures/job-book.ts';
import { LateStores } from '../../fixtures/late-stores.ts';
import { seededRandom } from '../../fixtures/seeded-random.ts';
import { testFolder } from '../../fixtures/test-folder.ts';

// Random histories of the service's core, checked against a simple model: jobs are opened, claimed by two workers, given
// back, ended and canceled; leases lapse and their workers return; outcomes are sent; credits are granted; days pass; the
// power fails at any flush. FC_SEED=… repeats the histories.

const pick = fc.nat({ max: 20 });
const action = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('open' as const),
      owner: fc.nat({ max: 2 }),
      key: fc.nat({ max: 9 }),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('claim' as const),
      worker: fc.constantFrom('one', 'two'),
      most: fc.integer({ min: 1, max: 3 }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('complete' as const),
      pick,
      cost: fc.integer({ min: 1, max: 30 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('fail' as const), pick }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('giveBack' as const), pick, counted: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('comeBack' as const), pick }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('cancel' as const), pick }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('renew' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('sweep' as const), seconds: fc.nat({ max: 60 }) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('deliver' as const),
      answer: fc.constantFrom(200, 503, 'never recorded' as const),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('grant' as const),
      owner: fc.nat({ max: 2 }),
      amount: fc.nat({ max: 40 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('pass' as const), days: fc.integer({ min: -5, max: 40 }) }),
  },
);
type Action = typeof action extends fc.Arbitrary<infer A> ? A : never;

/** One run of the service: groups of concurrent actions, until the power fails during a flush, or to the end. */
const life = fc.record({
  actions: fc.array(fc.array(action, { minLength: 1, maxLength: 4 }), { maxLength: 12 }),
  flushesLeft: fc.option(fc.nat({ max: 20 }), { nil: Number.POSITIVE_INFINITY }),
});
const history = fc.record({ lives: fc.array(life, { minLength: 1, maxLength: 4 }), seed: fc.nat() });

type History = typeof history extends fc.Arbitrary<infer H> ? H : never;

/** Everything that was acknowledged. */
interface Model {
  jobs: Map<string, JobRecord>;
  /** All claims so far, of any run. */
  claims: Claim[];
  /** The worker of each job's last claim. */
  workers: Map<string, string>;
  grantedCredits: Map<string, number>;
  /** The number of webhook requests by job. */
  requests: Map<string, number>;
  /** Deliveries whose senders were interrupted, as they were when claimed. */
  cutOff: DeliveryRecord[];
}

interface World {
  clock: FakeClock;
  folder: DataFolder;
  ledger: Ledger;
  book: JobBook;
  deliveries: DeliveryBook;
  model: Model;
}

function resultOf(status: number): ExchangeResult {
  return { status, reason: null, detail: null, answer: 'an answer', sent: true };
}

class BrokenHistory extends Error {}

async function carryOut(world: World, action: Action): Promise<void> {
  const { book, model, clock, ledger } = world;
  const jobs = [...model.jobs.values()].filter((job) => job.phase !== 'completed' && job.phase !== 'failed');
  const told = (job: JobRecord | undefined) => job && model.jobs.set(job.jobId, job);
  // One of the last claims; many older ones are void.
  const claim = 'pick' in action ? model.claims.at(-1 - (action.pick % 8)) : undefined;
  switch (action.do) {
    case 'open': {
      const request = { code: 'x', className: 'A', quality: 'low', aspectRatio: '16:9' } as const;
      const idempotency = action.key < 3 ? { key: String(action.key), fingerprint: 'f' } : null;
      const newJob = {
        owner: `owner-${action.owner}`,
        request,
        metadataJson: null,
        webhookUrl: action.key % 2 ? 'https://example.org/' : null,
        keyId: null,
      };
      const { job, repeated } = await book.add({ ...newJob, idempotency });
      if (!repeated) told(job);
      return;
    }
    case 'claim': {
      for (const { job, claim } of await claimJobs(book, action)) {
        told(job);
        const former = model.claims.filter(({ jobId }) => jobId === job.jobId);
        if (former.some(({ token }) => token >= claim.token))
          throw new BrokenHistory(`job ${job.jobId} was claimed with the token ${claim.token} again`);
        model.claims.push(claim);
        model.workers.set(job.jobId, action.worker);
      }
      return;
    }
    case 'giveBack':
      if (claim) told(await book.claims.requeue(claim, { counted: action.counted }));
      return;
    case 'cancel': {
      const job = jobs[action.pick % Math.max(1, jobs.length)];
      if (job) told((await book.cancel(job.jobId))?.job);
      return;
    }
    case 'renew':
      await book.claims.renew(model.claims);
      return;
    case 'sweep':
      clock.advance(action.seconds * 1000);
      for (const job of await book.claims.putBackLapsed({ except: jobsOf(model, 'two') })) told(job);
      return;
    case 'complete':
    case 'fail': {
      if (!claim) return;
      const { jobId, token } = claim;
      const artifacts: Artifact[] = [
        { name: 'video.mp4', assetKey: assetKeyOf(claim, 'video.mp4'), sizeBytes: 1 },
      ];
      const outcome: JobOutcome =
        action.do === 'fail'
          ? { kind: 'failed', error: `no ${token}` }
          : { kind: 'completed', artifacts, costCredits: action.cost };
      const ended = (await book.finish(claim, outcome, { durationMs: 1000 }))?.job;
      if (ended && model.claims.some((later) => later.jobId === jobId && later.token > (ended.token ?? 0)))
        throw new BrokenHistory(`job ${jobId} was ended by a void claim`);
      told(ended);
      return;
    }
    case 'deliver': {
      const { deliveries, folder } = world;
      const claimed = await claimDeliveries(folder.storage, deliveries, { most: 2 });
      for (const begun of claimed.filter(({ dueAtMs }) => dueAtMs !== null)) {
        model.requests.set(begun.jobId, (model.requests.get(begun.jobId) ?? 0) + 1);
        if (action.answer === 'never recorded') model.cutOff.push(begun);
        else await world.deliveries.conclude(begun, resultOf(action.answer));
      }
      return;
    }
    case 'comeBack': {
      const [late] = model.cutOff.splice(action.pick % Math.max(1, model.cutOff.length), 1);
      if (!late) return;
      const before = await world.folder.storage.deliveries.get(late.deliveryId);
      const concluded = await world.deliveries.conclude(late, resultOf(200));
      if (concluded && before?.token !== late.token)
        throw new Error(`delivery ${late.deliveryId} was changed by a lapsed claim`);
      return;
    }
    case 'grant': {
      if (!(ledger instanceof StoredLedger)) return;
      const owner = `owner-${action.owner}`;
      await ledger.grantPaid(owner, action.amount);
      model.grantedCredits.set(owner, (model.grantedCredits.get(owner) ?? 0) + action.amount);
      return;
    }
    case 'pass':
      clock.advance(action.days * 86_400_000);
  }
}

/** Runs in this thread: starting one for each audit would take most of the time. */
async function audit(folder: DataFolder): Promise<string[]> {
  const connection = Connection.open(join(folder.path, 'database.sqlite'), { readOnly: true });
  const queryInBackground: SqlDatabase['queryInBackground'] = async (text, ...values) =>
    connection.all(text, values);
  try {
    return (await auditBooks({ queryInBackground } as SqlDatabase)).problems;
  } finally {
    connection.close();
  }
}

/** Throws if acknowledged data is missing or the stored data is inconsistent. */
async function inspect({ folder, model, book, ledger }: World): Promise<void> {
  for (const { phase } of (await book.recover()).requeued)
    if (phase !== 'queued') throw new Error(`recovered as ${phase}`);
  const problems = await audit(folder);
  const inQueue = problems.filter((problem) => problem.includes('queue'));
  const found = ledger instanceof DistantLedger ? inQueue : problems;
  if (found.length > 0) throw new Error(found.join('\n'));
  for (const [jobId, told] of model.jobs) {
    const job = await folder.storage.getJob(jobId);
    if (!job) throw new Error(`job ${jobId}, which was acknowledged, is gone`);
    const over = told.phase === 'completed' || told.phase === 'failed';
    if (over && JSON.stringify(job) !== JSON.stringify(told))
      throw new Error(`job ${jobId} changed after its end`);
    // It was ended by the last claim.
    const by = job.artifacts[0]?.assetKey ?? (job.error?.startsWith('no ') ? job.error : undefined);
    if (by && by !== `no ${job.token}` && by !== `${jobId}-${job.token}/video.mp4`)
      throw new Error(`job ${jobId}, claimed with the token ${job.token}, was ended by ${by}`);
    if (job.attempts > MOST_ATTEMPTS && !over) throw new Error(`job ${jobId} was attempted too often`);
    model.jobs.set(jobId, job);
  }
  for (const { jobId, phase, webhookUrl } of await folder.storage.listJobs({ limit: 10_000 })) {
    const deliveries = await folder.storage.deliveries.list({ jobId });
    const over = phase === 'completed' || phase === 'failed';
    if (deliveries.length !== (over && webhookUrl !== null ? 1 : 0))
      throw new Error(`job ${jobId}, which is ${phase}, has ${deliveries.length} deliveries`);
    const attempts = deliveries[0]?.attempts.length ?? 0;
    const requests = model.requests.get(jobId) ?? 0;
    if (attempts > 4 || requests > attempts)
      throw new Error(`the outcome of job ${jobId} was sent ${requests} times in ${attempts} attempts`);
  }
  for (const job of await folder.storage.unfinishedJobs()) {
    if (job.phase !== 'queued') throw new Error(`job ${job.jobId} is still ${job.phase} after recovery`);
  }
}

async function live(
  t: Test,
  { lives, seed }: History,
  makeLedger: (store: LedgerStore, clock: FakeClock) => Ledger,
) {
  const random = seededRandom(seed);
  const clock = new FakeClock('2026-11-21T10:00:00Z');
  // Half of the histories happen on stores that are late.
  const late = seed % 2 === 0 ? new LateStores(seed) : undefined;
  const model: Model = {
    jobs: new Map(),
    claims: [],
    workers: new Map(),
    grantedCredits: new Map(),
    requests: new Map(),
    cutOff: [],
  };
  const root = testFolder(t);
  let path = join(root, 'life-0');
  const last = { actions: [], flushesLeft: Number.POSITIVE_INFINITY };
  for (const [number, { actions, flushesLeft }] of [...lives, last].entries()) {
    const failure = new PowerFailure(path, join(root, `life-${number + 1}`), random);
    const folder = new DataFolder(path, { flushFile: () => failure.flush(), onFatal: () => {} });
    const storage = late?.of(folder.storage) ?? folder.storage;
    const ledger = makeLedger(late?.of(folder.ledgerStore) ?? folder.ledgerStore, clock);
    const deliveries = new DeliveryBook({ storage, clock, random: systemRandom });
    const book = new JobBook({
      storage,
      ledger,
      pricing: new Pricing(),
      clock,
      random: systemRandom,
      deliveries,
    });
    const world = { clock, folder, ledger, book, deliveries, model };
    await folder.start();
    if (ledger instanceof DistantLedger) ledger.faults = undefined;
    await inspect(world);
    await check(world);
    failure.flushesLeft = flushesLeft;
    if (ledger instanceof DistantLedger) ledger.faults = faultsFrom(seededRandom(seed + 1));
    for (const together of failure.hasHappened ? [] : actions) {
      const outcomes = await Promise.allSettled(together.map((action) => carryOut(world, action)));
      for (const outcome of outcomes)
        if (outcome.status === 'rejected' && outcome.reason instanceof BrokenHistory) throw outcome.reason;
      if (failure.hasHappened) break;
    }
    await folder.stop();
    if (!failure.hasHappened) continue;
    rmSync(path, { recursive: true });
    path = failure.after;
  }
}

/** A power failure that ends a run: data of an unfinished flush may be stored completely, partly or not at all. */
class PowerFailure {
  readonly #database: string;
  readonly #random: () => number;
  /** The folder as the next run finds it. */
  readonly after: string;
  flushesLeft: number = Number.POSITIVE_INFINITY;
  hasHappened = false;
  #flushedBytes = 0;

  constructor(path: string, after: string, random: () => number) {
    this.#database = join(path, 'database.sqlite');
    this.after = after;
    this.#random = random;
  }

  async flush(): Promise<void> {
    if (!this.hasHappened && this.flushesLeft > 0) {
      this.flushesLeft -= 1;
      this.#flushedBytes = statSync(`${this.#database}-wal`).size;
      return;
    }
    if (!this.hasHappened) this.#fail();
    throw new Error('the power failed');
  }

  #fail(): void {
    this.hasHappened = true;
    mkdirSync(this.after);
    const database = join(this.after, 'database.sqlite');
    copyFileSync(this.#database, database);
    copyFileSync(`${this.#database}-wal`, `${database}-wal`);
    const { size } = statSync(`${database}-wal`);
    const flushed = Math.min(size, this.#flushedBytes);
    truncateSync(`${database}-wal`, flushed + Math.floor(this.#random() * (size - flushed + 1)));
  }
}

function faultsFrom(random: () => number): DistantLedger['faults'] {
  return () => {
    const dice = random();
    return dice < 0.1 ? 'before' : dice < 0.2 ? 'after' : undefined;
  };
}

/** Checks the ledger. */
async function check({ folder, ledger, model }: World): Promise<void> {
  if (ledger instanceof DistantLedger) {
    let [charged, held] = [0, 0];
    for (const [jobId, { state, amount }] of ledger.jobs) {
      const phase = (await folder.storage.getJob(jobId))?.phase ?? 'absent';
      const expected =
        state === 'open' ? ['queued'] : state === 'settled' ? ['completed'] : ['failed', 'absent'];
      if (!expected.includes(phase))
        throw new Error(`job ${jobId} is ${phase}, but ${state} in the external ledger`);
      if (state === 'open') held += amount;
      if (state === 'settled') charged += amount;
    }
    if (ledger.balanceCredits !== 200 - charged - held || ledger.balanceCredits < 0)
      throw new Error('the balance is wrong');
    return;
  }
  for (const [owner, granted] of model.grantedCredits) {
    const entries = await folder.ledgerStore.listEntries(owner, { limit: Number.MAX_SAFE_INTEGER });
    const found = entries.filter(({ kind, parts }) => kind === 'grant' && parts[0]?.source === 'paid');
    const sum = found.reduce((sum, { amountCredits }) => sum + amountCredits, 0);
    if (sum < granted) throw new Error(`${owner} was granted ${granted}, the ledger has ${sum}`);
  }
}

const RUNS = times('RUNS', { quick: 8, deep: 40 });
const seed = process.env['FC_SEED'] ? { seed: Number(process.env['FC_SEED']) } : {};

t.test('with a ledger that joins transactions, random histories stay consistent', async (t) => {
  await fc.assert(
    fc.asyncProperty(history, (history) =>
      live(t, history, (store, clock) => new StoredLedger({ store, freeCreditsPerMonth: 60, clock })),
    ),
    { numRuns: RUNS, ...seed },
  );
});

t.test('with an external ledger that fails, random histories stay consistent', async (t) => {
  await fc.assert(
    fc.asyncProperty(history, (history) => {
      const distant = new DistantLedger(200);
      return live(t, history, () => distant);
    }),
    { numRuns: RUNS, ...seed },
  );
});

function jobsOf({ workers }: Model, worker: string): string[] {
  return [...workers].filter(([, last]) => last === worker).map(([jobId]) => jobId);
}
