import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { serialize } from 'node:v8';
import type { Job } from '../../lib/index.ts';
import { jobJson } from '../../lib/model/job-json.ts';
import { LateStores } from '../fixtures/late-stores.ts';
import { seededBytes, seededRandom } from '../fixtures/seeded-random.ts';
import { ASSET_URL, Life } from './simulated-life.ts';
import { SimulatedWorld } from './simulated-world.ts';

const DAY_MS = 24 * 3_600_000;
const INSTANT_MS = 50;
const OWNERS = ['ada', 'eve', 'kim'];
const CODE = 'class A(Scene): pass';
const REFUSALS = /too_many_failures|insufficient_credits|queue_full|conflict|not_running|not_found|storage_f/;
/** Grants with idempotency keys: so many credits, and one for each number of the key. */
const LEAST_GRANT = 20;
const ACTS_PER_AUDIT = 50;

export interface SimulationOptions {
  seed: number;
  /** For files, best in memory. */
  folder: string;
  /** Mean time between two things that somebody does. */
  actEveryMs?: number;
  /** Mean time between two crashes. */
  crashEveryMs?: number;
  /** Storage, ledger and settings answer late. */
  isLate?: boolean;
  /** With the real pool of renderers. */
  hasPool?: boolean;
}

export interface History {
  jobs: number;
  lives: number;
  /** How often the disk was full when something had to be written. */
  fullDisks: number;
  /** The hash of all events, and of the data at the end. */
  hash: string;
}

/**
 * A whole service under virtual time: clients, renders that end in every way, receivers and stores that fail, flushes
 * that fail, disks that are full, crashes that lose what wasn't flushed, a clock that jumps. All randomness derives from
 * one seed, and the same seed makes the same history.
 */
export class Simulation {
  readonly #options: Required<SimulationOptions>;
  readonly #random: () => number;
  readonly #bytes: ReturnType<typeof seededBytes>;
  readonly #late: LateStores | undefined;
  readonly #world: SimulatedWorld;
  readonly #root: string;
  readonly #history = createHash('sha256');
  #lives = 0;
  #acts = 0;
  #fullDisks = 0;
  #nowMs = Date.parse('2026-11-01T00:00:00Z');
  #life: Life | undefined;
  #failure: Error | undefined;
  /** Jobs acknowledged to a client, as it last saw them. */
  readonly #known = new Map<string, Job>();
  readonly #jobIds: string[] = [];
  readonly #keys = new Map<string, string>();
  /** Owners by the idempotency keys of grants acknowledged to a client. */
  readonly #grants = new Map<string, string>();
  /** Redeliveries acknowledged to a client. */
  readonly #sentAgain: string[] = [];
  readonly log: string[] = [];

  constructor({
    actEveryMs = 10_000,
    crashEveryMs = 500_000,
    isLate = false,
    hasPool = false,
    ...rest
  }: SimulationOptions) {
    this.#options = { actEveryMs, crashEveryMs, isLate, hasPool, ...rest };
    this.#random = seededRandom(rest.seed);
    this.#bytes = seededBytes(rest.seed + 1);
    this.#late = isLate ? new LateStores(rest.seed + 2, { eventLoopShare: 0 }) : undefined;
    this.#world = new SimulatedWorld(this.#random);
    this.#root = mkdtempSync(join(rest.folder, 'simulation-'));
  }

  /** Runs for that time by the service's clock; then faults end, and everything must complete. */
  async run(forMs: number): Promise<History> {
    const { actEveryMs, crashEveryMs } = this.#options;
    const endMs = this.#nowMs + forMs;
    await this.#begin();
    while (this.#current.clock.now() < endMs || this.#nowMs < endMs) {
      await this.#act();
      const crashes = this.#random() < actEveryMs / crashEveryMs;
      // Half of the crashes come while or just after something is done.
      const mostMs = crashes && this.#random() < 0.5 ? INSTANT_MS : 2 * actEveryMs;
      await this.#pass(this.#random() * mostMs);
      if (crashes || this.#current.isDead) await this.#crash();
      if (this.#failure) throw this.#failure;
    }
    this.#world.isFaulty = false;
    await this.#crash();
    for (let hours = 0; hours < 48 && !(await this.#isDone()); hours++) await this.#pass(3_600_000);
    await this.#checkEnd();
    this.#history.update(serialize(await this.#current.rows()));
    const [jobs, lives, fullDisks] = [this.#known.size, this.#lives, this.#fullDisks];
    return { jobs, lives, fullDisks, hash: this.#history.digest('hex') };
  }

  get #current(): Life {
    assert(this.#life);
    return this.#life;
  }

  async #begin(): Promise<void> {
    const before = this.#life;
    const life = await Life.begin(join(this.#root, String(++this.#lives)), {
      from: before,
      nowMs: this.#nowMs,
      world: this.#world,
      random: this.#random,
      bytes: this.#bytes,
      late: this.#late,
      poolSeed: this.#options.hasPool ? this.#options.seed + this.#lives : undefined,
      logger: { error: (details, message) => this.#note(message, details) },
    });
    if (before) before.isRunning = false;
    life.service.on('job', (job) => {
      if (this.#life === life || this.#life === before) this.#attempt(() => this.#see(job));
    });
    life.service.on('delivery', (delivery) => this.#record('delivery', delivery));
    await life.start();
    await life.settled();
    this.#life = life;
    life.isRunning = true;
    await this.#checkAfterStart();
  }

  /** One random operation of a client or an operator. Results are not awaited. */
  async #act(): Promise<void> {
    const { service, clock, ledger, pool } = this.#current;
    const chance = this.#random();
    const owner = this.#oneOf(OWNERS) as string;
    const jobId = this.#oneOf(this.#jobIds);
    if (chance < 0.55) {
      const key = this.#random() < 0.2 ? `key-${Math.floor(this.#random() * 50)}` : undefined;
      const webhookUrl = this.#random() < 0.5 ? 'https://receiver.example/' : undefined;
      const request = { owner, code: CODE, className: 'A', quality: 'low' as const };
      const answer = service.enqueue({
        ...request,
        ...(webhookUrl && { webhookUrl }),
        ...(key && { idempotency: { key, fingerprint: 'same' } }),
      });
      this.#told(answer, (job) => this.#added(job, key));
    } else if (chance < 0.7 && jobId) this.#told(service.cancel(jobId), (job) => this.#see(job));
    else if (chance < 0.83 && jobId) this.#told(service.get(jobId), (job) => this.#see(job));
    else if (chance < 0.86 && jobId) this.#told(service.renderAgain(jobId), (job) => this.#added(job));
    else if (chance < 0.89) this.#told(this.#sendAgain(), (deliveryId) => this.#sentAgain.push(deliveryId));
    else if (chance < 0.92) {
      const number = Math.floor(this.#random() * 20);
      const idempotencyKey = `${owner}-grant-${number}`;
      const granted = ledger.grantPaid(owner, LEAST_GRANT + number, { idempotencyKey, note: idempotencyKey });
      this.#told(granted, () => this.#grants.set(idempotencyKey, owner));
    } else if (chance < 0.94) this.#told(service.pauseQueue());
    else if (chance < 0.98) this.#told(service.resumeQueue());
    else if (pool && chance < 0.985) pool.crashThread(Math.floor(this.#random() * 100));
    else if (chance < 0.99)
      clock.set(new Date(clock.now() + (this.#random() - 0.5) * 7_200_000).toISOString());
    else this.#told(this.#current.fillDisk());
    if (++this.#acts % ACTS_PER_AUDIT === 0)
      this.#told(ledger.audit(), ({ problems }) => assert.deepEqual(problems, []));
    await this.#current.settled();
  }

  /** Records an answer to a client, unless a crash closed its connection. */
  #told<T>(answer: Promise<T>, then: (value: T) => void = () => {}): void {
    const life = this.#current;
    answer
      .then(
        (value) => {
          if (this.#life !== life || life.isDead) return;
          this.#record('answer', value);
          then(value);
        },
        (error: Error & { code?: string }) => {
          this.#record('refusal', `${error.code} ${error.message}`.replaceAll(this.#root, ''));
          assert.match(`${error.code} ${error.message}`, REFUSALS);
        },
      )
      .catch((error: Error) => {
        this.#failure ??= error;
      });
  }

  /** An error here ends the simulation. */
  #attempt(check: () => void): void {
    try {
      check();
    } catch (error) {
      this.#failure ??= error as Error;
    }
  }

  async #sendAgain(): Promise<string> {
    const { deliveries } = this.#current.service;
    const [delivery] = await deliveries.list({ limit: 1 });
    return (await deliveries.sendAgain(delivery?.deliveryId ?? 'none')).deliveryId;
  }

  #added(job: Job, key?: string): void {
    this.#see(job);
    if (!key) return;
    const first = this.#keys.get(`${job.owner} ${key}`);
    // For a day a key answers with its job.
    if (first !== undefined && this.#ageMs(first) < DAY_MS && job.jobId !== first) {
      assert.fail(`the key ${key} of ${job.owner} made ${first} and ${job.jobId}`);
    }
    this.#keys.set(`${job.owner} ${key}`, job.jobId);
  }

  #ageMs(jobId: string): number {
    const job = this.#known.get(jobId);
    return job ? Math.abs(this.#current.clock.now() - Date.parse(job.createdAt)) : Number.POSITIVE_INFINITY;
  }

  /** A state that was reported once stays so. */
  #see(job: Job): void {
    this.#record('job', job);
    const before = this.#known.get(job.jobId);
    if (before && (before.status === 'completed' || before.status === 'failed')) {
      assert.deepEqual(job, before, 'a job that has ended does not change');
    }
    if (!before) this.#jobIds.push(job.jobId);
    this.#known.set(job.jobId, job);
  }

  async #pass(ms: number): Promise<void> {
    const { clock } = this.#current;
    const until = clock.uptimeMs() + ms;
    let isIdle = false;
    for (let leftMs = ms; leftMs > 0 && !this.#current.isDead; leftMs = until - clock.uptimeMs()) {
      if (!isIdle) {
        isIdle = await this.#current.isIdle();
        // Polls would find nothing: only the last one is made.
        if (isIdle) clock.postpone(leftMs);
        // Ends the database's time slice: to yield in the middle of what comes next would make its order depend on how
        // long the disk takes.
        await this.#current.settled();
      }
      clock.advance(Math.min(leftMs, clock.nextInMs ?? leftMs));
      await this.#current.settled();
      const [violation] = this.#current.violations;
      if (violation) throw new Error(violation);
    }
    this.#nowMs = clock.now();
  }

  async #crash(): Promise<void> {
    const dead = this.#current;
    this.#nowMs += 1_000;
    this.#fullDisks += dead.fullDisks;
    await this.#begin();
    this.#record('crash', this.#nowMs);
    await dead.bury();
  }

  /** Leaves nothing behind. */
  async end(): Promise<void> {
    await this.#life?.bury();
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

  async #isDone(): Promise<boolean> {
    await this.#current.doing(this.#current.service.resumeQueue());
    return this.#current.doing(this.#current.isDone());
  }

  async #checkEnd(): Promise<void> {
    const { service, ledger } = this.#current;
    await this.#checkAfterStart();
    const jobs = await service.list({ limit: 100_000 });
    for (const job of jobs) {
      const { jobId, status, webhookUrl, artifacts } = job;
      assert.match(status, /completed|failed/, `${jobId} has ended`);
      for (const { name } of artifacts) assert(await this.#current.doing(service.openArtifact(jobId, name)));
      const deliveries = await service.deliveries.list({ jobId, limit: 100_000 });
      const automatic = deliveries.filter(({ repeats }) => repeats === null);
      assert.equal(automatic.length, webhookUrl === null ? 0 : 1, `deliveries of ${jobId}`);
      for (const delivery of deliveries) {
        assert(delivery.attempts.length <= (delivery.repeats === null ? 4 : 1));
        assert.match(delivery.status, /delivered|failed/);
        if (delivery.status === 'delivered') assert((this.#world.received.get(jobId) ?? 0) > 0);
        const { body } = await service.deliveries.get(delivery.deliveryId);
        assert.equal(body, jobJson(job, ASSET_URL), `the outcome of ${jobId} is sent`);
      }
    }
    for (const deliveryId of this.#sentAgain) assert(await service.deliveries.get(deliveryId));
    const kept = new Set(
      jobs.flatMap(({ jobId, artifacts }) => artifacts.map(({ name }) => `${jobId}/${name}`)),
    );
    assert(kept.size <= this.#world.assets.size);
    const entries = (
      await Promise.all(OWNERS.map((owner) => ledger.statement(owner, { limit: 1_000_000 })))
    ).flat();
    for (const [key, owner] of this.#grants) {
      const made = entries.filter(({ note }) => note === key);
      assert.deepEqual(
        made.map((entry) => entry.owner),
        [owner],
        `${key} was made once`,
      );
    }
  }

  #oneOf<T>(all: T[]): T | undefined {
    return all[Math.floor(this.#random() * all.length)];
  }

  #record(what: string, details: unknown): void {
    this.#history.update(`${this.#life?.clock.uptimeMs()} ${what} ${JSON.stringify(details)}\n`);
  }

  #note(message: string, details: object): void {
    const reason = (details as { err?: Error }).err?.message.replaceAll(this.#root, '');
    this.#record(message, reason);
    this.log.push(`${new Date(this.#nowMs).toISOString()} ${message} ${reason}`);
  }
}
