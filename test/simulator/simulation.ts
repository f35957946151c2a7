import assert from 'node:assert/strict';
import {
  copyFileSync,
  existsSync,
  fstatSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  statSync,
  truncateSync,
} from 'node:fs';
import { join } from 'node:path';
import {
  type Job,
  type Logger,
  RenderService,
  type RenderServiceOptions,
  StoredLedger,
} from '../../lib/index.ts';
import { silentLogger } from '../../lib/logger.ts';
import type { Renderer } from '../../lib/render/pool/renderer.ts';
import { makeParts } from '../../lib/service-parts.ts';
import { SqlLedgerStore } from '../../lib/sql/sql-ledger-store.ts';
import { SqlStorage } from '../../lib/sql/sql-storage.ts';
import { SQLITE_SCHEMA } from '../../lib/sql/sqlite/schema.ts';
import { SqliteDatabase } from '../../lib/storage/sqlite/sqlite-database.ts';
import { FakeClock } from '../fixtures/fake-clock.ts';
import { seededRandom } from '../fixtures/seeded-random.ts';
import { SimulatedRenderer } from './simulated-renderer.ts';
import { SimulatedWorld } from './simulated-world.ts';

/** A stop takes far fewer. */
const MOST_STEPS = 10_000;
const OWNERS = ['ada', 'eve', 'kim'];
const CODE = 'class A(Scene): pass';
const REFUSALS = /too_many_failures|insufficient_credits|queue_full|conflict|not_running|not_found|storage_f/;

/** One process of the service, from its start to its crash. */
interface Life {
  service: RenderService;
  clock: FakeClock;
  ledger: StoredLedger;
  renderer: SimulatedRenderer;
  folder: string;
  /** Bytes of the log that are known to be on the medium. */
  durableBytes: () => number;
  isDead: () => boolean;
}

/**
 * A whole service under virtual time: clients, renders that end in every way, receivers and stores that fail, flushes that
 * fail, crashes that lose what wasn't flushed, a clock that jumps. What is random comes of one seed.
 */
export class Simulation {
  readonly #random: () => number;
  readonly #world: SimulatedWorld;
  readonly #root: string;
  #lives = 0;
  #nowMs = Date.parse('2026-11-01T00:00:00Z');
  #life: Life | undefined;
  /** Jobs that a client was told of, as it last saw them. */
  readonly #known = new Map<string, Job>();
  readonly #keys = new Map<string, string>();
  readonly log: string[] = [];

  /** `folder`: for files, best in memory. */
  constructor(seed: number, folder: string) {
    this.#random = seededRandom(seed);
    this.#world = new SimulatedWorld(this.#random);
    this.#root = mkdtempSync(join(folder, 'simulation-'));
  }

  /** Runs for so long by the service's clock; then faults end, and everything must come to its end. */
  async run(forMs: number): Promise<{ jobs: number; lives: number }> {
    const endMs = this.#nowMs + forMs;
    await this.#begin();
    while (this.#current.clock.now() < endMs || this.#nowMs < endMs) {
      await this.#act();
      await this.#pass(this.#random() * 20_000);
      if (this.#random() < 0.02 || this.#current.isDead()) await this.#crash();
    }
    this.#world.isFaulty = false;
    await this.#crash();
    for (let hours = 0; hours < 48 && !(await this.#isQuiet()); hours++) await this.#pass(3_600_000);
    await this.#checkEnd();
    return { jobs: this.#known.size, lives: this.#lives };
  }

  get #current(): Life {
    assert(this.#life);
    return this.#life;
  }

  async #begin(): Promise<void> {
    const folder = join(this.#root, String(++this.#lives));
    const before = this.#life;
    mkdirSync(folder);
    const path = join(folder, 'database.sqlite');
    if (before) copyAfterCrash(before, path, this.#random);
    const clock = new FakeClock(new Date(this.#nowMs).toISOString());
    let [durableBytes, isDead] = [0, false];
    const database = new SqliteDatabase(path, SQLITE_SCHEMA, {
      flushFile: async (descriptor) => {
        const { size } = fstatSync(descriptor);
        if (this.#life?.clock === clock)
          await new Promise<void>((resolve) => clock.after(this.#random() * 20, resolve));
        if (this.#life?.clock === clock && this.#world.isFaulty && this.#random() < 0.0005) {
          throw Object.assign(new Error('EIO: i/o error, fdatasync'), { code: 'EIO' });
        }
        durableBytes = size;
      },
      onFatal: () => {
        isDead = true;
      },
      checkpointAfterBytes: Number.MAX_SAFE_INTEGER,
    });
    const storage = new SqlStorage(database);
    const ledger = new StoredLedger({
      store: new SqlLedgerStore(database, storage),
      clock,
      freeCreditsPerMonth: 300,
    });
    const renderer = new SimulatedRenderer({ size: 3, clock, random: this.#random });
    const logger: Logger = { ...silentLogger, error: (details, message) => this.#note(message, details) };
    const options: RenderServiceOptions = {
      storage,
      ledger,
      settings: this.#world.settings(),
      assets: this.#world.assetStore(clock),
      workFolder: join(folder, 'work'),
      assetUrl: 'https://assets.example',
      webhooks: { secretOf: () => 'secret' },
      queue: { maxQueued: 60, maxQueuedPerOwner: 30 },
      workers: 3,
      clock,
      logger,
    };
    const outbound = this.#world.outbound(clock);
    const parts = makeParts(options, { renderer: renderer as unknown as Renderer, outbound });
    const service = new RenderService(options, parts);
    const life = {
      service,
      clock,
      ledger,
      renderer,
      folder,
      durableBytes: () => durableBytes,
      isDead: () => isDead,
    };
    service.on('job', (job) => {
      if (this.#life === life || this.#life === before) this.#see(job);
    });
    await service.start();
    this.#life = life;
    await this.#checkAfterStart();
  }

  /** One thing that somebody does. Nobody waits for it. */
  async #act(): Promise<void> {
    const { service, clock } = this.#current;
    const life = this.#life;
    const chance = this.#random();
    const owner = OWNERS[Math.floor(this.#random() * OWNERS.length)] as string;
    const jobIds = [...this.#known.keys()];
    const jobId = jobIds[Math.floor(this.#random() * jobIds.length)];
    const told = <T>(answer: Promise<T>, then: (value: T) => void = () => {}) =>
      void answer.then(
        (value) => this.#life === life && !life?.isDead() && then(value),
        (error: Error & { code?: string }) => assert.match(`${error.code} ${error.message}`, REFUSALS),
      );
    if (chance < 0.6) {
      const key = this.#random() < 0.2 ? `key-${Math.floor(this.#random() * 50)}` : undefined;
      const webhook = this.#random() < 0.5 ? { url: 'https://receiver.example/', secret: 's' } : undefined;
      const request = { owner, code: CODE, className: 'A', quality: 'low' as const };
      const answer = service.enqueue({
        ...request,
        ...(webhook && { webhookUrl: webhook.url }),
        ...(key && { idempotency: { key, fingerprint: 'same' } }),
      });
      told(answer, (job) => {
        this.#see(job);
        if (!key) return;
        const first = this.#keys.get(`${owner} ${key}`);
        // For a day a key answers with its job.
        if (first !== undefined && this.#ageMs(first) < 24 * 3_600_000 && job.jobId !== first) {
          assert.fail(`the key ${key} of ${owner} made ${first} and ${job.jobId}`);
        }
        this.#keys.set(`${owner} ${key}`, job.jobId);
      });
    } else if (chance < 0.75 && jobId) told(service.cancel(jobId));
    else if (chance < 0.9 && jobId) told(service.get(jobId), (job) => this.#see(job));
    else if (chance < 0.92) told(service.pauseQueue());
    else if (chance < 0.97) told(service.resumeQueue());
    else if (chance < 0.98)
      clock.set(new Date(clock.now() + (this.#random() - 0.5) * 7_200_000).toISOString());
    await settled();
  }

  #ageMs(jobId: string): number {
    const job = this.#known.get(jobId);
    return job ? Math.abs(this.#current.clock.now() - Date.parse(job.createdAt)) : Number.POSITIVE_INFINITY;
  }

  /** What was told once stays so. */
  #see(job: Job): void {
    const before = this.#known.get(job.jobId);
    if (before && (before.status === 'completed' || before.status === 'failed')) {
      assert.deepEqual(job, before, 'a job that has ended does not change');
    }
    this.#known.set(job.jobId, job);
  }

  async #pass(ms: number): Promise<void> {
    const { clock } = this.#current;
    const until = clock.uptimeMs() + ms;
    for (;;) {
      const nextMs = clock.nextInMs ?? Number.POSITIVE_INFINITY;
      const leftMs = until - clock.uptimeMs();
      if (nextMs > leftMs) {
        clock.advance(leftMs);
        break;
      }
      clock.advance(nextMs);
      await settled();
      if (this.#current.isDead()) break;
    }
    await settled();
    this.#nowMs = clock.now();
  }

  async #crash(): Promise<void> {
    const dead = this.#current;
    this.#nowMs += 1_000;
    await this.#begin();
    await bury(dead);
  }

  /** Leaves nothing behind. */
  async end(): Promise<void> {
    if (this.#life) await bury(this.#life);
    rmSync(this.#root, { recursive: true, force: true });
  }

  async #checkAfterStart(): Promise<void> {
    const { service, ledger } = this.#current;
    for (const [jobId, before] of this.#known) {
      const job = await service.get(jobId);
      if (before.status === 'completed' || before.status === 'failed') {
        assert.deepEqual(job, before, 'what had ended is as it was');
      }
    }
    const { problems } = await ledger.audit();
    assert.deepEqual(problems, []);
  }

  async #isQuiet(): Promise<boolean> {
    const { service } = this.#current;
    await this.#doing(service.resumeQueue());
    const { queued, running } = service.status();
    const open = (await service.deliveries.list({ limit: 100_000 })).filter(({ status }) =>
      /waiting|sending/.test(status),
    );
    return queued + running + open.length === 0;
  }

  async #checkEnd(): Promise<void> {
    const { service, renderer } = this.#current;
    await this.#checkAfterStart();
    assert(renderer.mostRunning <= renderer.size);
    const jobs = await service.list({ limit: 100_000 });
    for (const { jobId, status, webhookUrl, artifacts } of jobs) {
      assert.match(status, /completed|failed/, `${jobId} has ended`);
      for (const { name } of artifacts) assert(await this.#doing(service.openArtifact(jobId, name)));
      const deliveries = await service.deliveries.list({ jobId });
      assert.equal(deliveries.length, webhookUrl === null ? 0 : 1, `deliveries of ${jobId}`);
      for (const delivery of deliveries) {
        assert(delivery.attempts.length <= 4);
        assert.match(delivery.status, /delivered|failed/);
        if (delivery.status === 'delivered') assert((this.#world.received.get(jobId) ?? 0) > 0);
      }
    }
    const kept = new Set(
      jobs.flatMap(({ jobId, artifacts }) => artifacts.map(({ name }) => `${jobId}/${name}`)),
    );
    assert(kept.size <= this.#world.assets.size);
  }

  /** Lets time pass until something is done. */
  async #doing<T>(something: Promise<T>): Promise<T> {
    let isDone = false;
    const done = () => {
      isDone = true;
    };
    something.then(done, done);
    for (await settled(); !isDone; await settled())
      this.#current.clock.advance(this.#current.clock.nextInMs ?? 1);
    return something;
  }

  #note(message: string, details: object): void {
    this.log.push(
      `${new Date(this.#nowMs).toISOString()} ${message} ${(details as { err?: Error }).err?.message}`,
    );
  }
}

/** Ends what a process takes with it when it dies: threads, open files. Nothing hears of it any more. */
async function bury({ service, clock }: Life): Promise<void> {
  let isOver = false;
  const over = () => {
    isOver = true;
  };
  service.stop().then(over, over);
  for (let steps = 0; steps < MOST_STEPS && !isOver; steps++) {
    await settled();
    clock.advance(clock.nextInMs ?? 1);
  }
}

/** Files as a power cut leaves them: the log ends where it was flushed to, or anywhere behind that. */
function copyAfterCrash({ folder, durableBytes }: Life, path: string, random: () => number): void {
  copyFileSync(join(folder, 'database.sqlite'), path);
  const log = join(folder, 'database.sqlite-wal');
  if (!existsSync(log)) return;
  copyFileSync(log, `${path}-wal`);
  const { size } = statSync(log);
  const least = Math.min(durableBytes(), size);
  truncateSync(`${path}-wal`, least + Math.floor(random() * (size - least + 1)));
}

/** Resolves when nothing goes on any more but what waits for the clock. */
async function settled(): Promise<void> {
  for (let quiet = 0; quiet < 3; ) {
    await new Promise(setImmediate);
    const isBusy = process
      .getActiveResourcesInfo()
      .some((name) => name.startsWith('FSReq') || name === 'Immediate');
    quiet = isBusy ? 0 : quiet + 1;
  }
}
