import { systemRandom } from '../../lib/base/random.ts';
import { StoredLedger } from '../../lib/index.ts';
import type { NewJob } from '../../lib/jobs/accept/new-job.ts';
import { Pricing } from '../../lib/ledger/pricing.ts';
import { randomId, SortableIds } from '../../lib/model/ids.ts';
import { type PostgresStorage, postgres } from '../../lib/postgres/index.ts';
import { systemClock } from '../../lib/time/clock.ts';
import { JobBook } from '../../test/fixtures/job-book.ts';
import { jobRecord } from '../../test/fixtures/job-record.ts';
import { importPeer, type PgBossInstance, type PgBossOptions } from './peer-packages.ts';

/** The queue of jobs, and that of jobs that are never completed. */
export const RENDERS = 'renders';
export const HELD = 'held';
const CODE =
  'from manim import *\nclass A(Scene):\n    def construct(self):\n        self.play(Create(Circle()))\n';
const FILLED_AT_ONCE = 500;
const CONNECTIONS = 10;

/** The shortest heartbeat, so that a death is detected as soon as possible. */
export const MOST_FREQUENT_CHECKS: Partial<PgBossOptions> = {
  monitorIntervalSeconds: 1,
  superviseIntervalSeconds: 1,
};

/** What a worker sees of a queue. */
export interface WorkQueue {
  /** Takes up to that many jobs; the functions end them. `most` may be called again when the number matters. */
  take(most: () => number): Promise<(() => Promise<unknown>)[]>;
}

export interface Ours {
  storage: PostgresStorage;
  book: JobBook;
  queue: WorkQueue & { owners(most: number): Promise<string[]> };
  enqueue(owner: string): Promise<unknown>;
}

const precedenceOf = () => ({ yields: false, inGoodStanding: true });

/** Jobs with their credits, as a service has them. `place`: the folder of the server's socket. */
export async function openOurs(place: string): Promise<Ours> {
  const url = `postgres://postgres@localhost/postgres?host=${encodeURIComponent(place)}`;
  const storage = postgres(url, { maxConnections: CONNECTIONS });
  await storage.start();
  const ledger = new StoredLedger({ store: storage.ledgerStore, freeCreditsPerMonth: 100_000_000 });
  const book = new JobBook({
    storage,
    ledger,
    pricing: new Pricing(),
    clock: systemClock,
    random: systemRandom,
  });
  const worker = randomId('worker', systemRandom);
  const claim = (most: () => number) =>
    book.claims.claim(worker, {
      wanted: () => ({ most: most(), mostOfOthers: most() }),
      maxRunningPerOwner: Number.POSITIVE_INFINITY,
      maySuspect: true,
      precedenceOf,
    });
  const request = { code: CODE, className: 'A', quality: 'low', aspectRatio: '16:9' } as const;
  const newJob: NewJob = { owner: '', request, metadataJson: null, webhookUrl: null, keyId: null };
  return {
    storage,
    book,
    enqueue: (owner) => book.add({ ...newJob, owner }),
    queue: {
      owners: async (most) => (await claim(() => most)).map(({ job }) => job.owner),
      take: async (most) =>
        (await claim(most)).map(
          ({ claim }) =>
            () =>
              book.finish(claim, { kind: 'completed', costCredits: 1, artifacts: [] }, { durationMs: 1 }),
        ),
    },
  };
}

/** Adds waiting jobs of an owner, without credits. */
export async function fillOurs({ storage }: Ours, owner: string, jobs: number): Promise<void> {
  const ids = new SortableIds(systemClock, systemRandom);
  for (let added = 0; added < jobs; added += FILLED_AT_ONCE) {
    const some = Array.from({ length: Math.min(FILLED_AT_ONCE, jobs - added) }, () =>
      jobRecord(ids.next(), { owner, createdAtMs: Date.now() }),
    );
    await storage.transaction(async (tx) => {
      await Promise.all(some.map((job) => storage.insertJob(tx, job, CODE)));
      for (const { jobId } of some)
        await storage.queue.admit(tx, { jobId, owner, precedence: precedenceOf() });
    });
  }
}

export async function openBoss(place: string, options: Partial<PgBossOptions> = {}): Promise<PgBossInstance> {
  const { PgBoss } = await importPeer('pg-boss');
  const boss = new PgBoss({
    host: place,
    user: 'postgres',
    database: 'postgres',
    max: CONNECTIONS,
    ...options,
  });
  boss.on('error', () => {});
  await boss.start();
  await boss.createQueue(RENDERS);
  await boss.createQueue(HELD, { heartbeatSeconds: 10 });
  return boss;
}

export function bossQueue(boss: PgBossInstance): WorkQueue {
  return {
    take: async (most) =>
      (await boss.fetch(RENDERS, { batchSize: most() })).map(
        ({ id }) =>
          () =>
            boss.complete(RENDERS, id),
      ),
  };
}

export function enqueueInBoss(boss: PgBossInstance, owner: string): Promise<unknown> {
  return boss.send(RENDERS, { owner, code: CODE });
}

/** Adds jobs of an owner with the order that they have at their enqueue: the k-th behind every other owner's k−1-th. */
export async function fillBoss(boss: PgBossInstance, owner: string, jobs: number): Promise<void> {
  for (let added = 0; added < jobs; added += 10 * FILLED_AT_ONCE) {
    const length = Math.min(10 * FILLED_AT_ONCE, jobs - added);
    const group = { id: owner };
    const some = Array.from({ length }, (_, i) => ({ data: { owner }, priority: -(added + i + 1), group }));
    await boss.insert(RENDERS, some);
  }
}
