import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { serialize } from 'node:v8';
import { ROLES, type Role, StoredLedger } from '../../lib/index.ts';
import { DistantLedger } from '../fixtures/distant-ledger.ts';
import { seededBytes, seededRandom } from '../fixtures/seeded-random.ts';
import { ClusterClients } from './cluster-clients.ts';
import { assertDistantLedger, assertJobsEnded, DISTANT_CREDITS } from './cluster-end.ts';
import { ClusterRecorder } from './cluster-recorder.ts';
import { ClusterRules } from './cluster-rules.ts';
import { passUntil, settled } from './settled.ts';
import { SharedConnection, SharedDatabase, sharedStores } from './shared-database.ts';
import { type Machines, Member } from './simulated-member.ts';
import { SimulatedSignals } from './simulated-signals.ts';
import { SimulatedTime } from './simulated-time.ts';
import { SimulatedWorld } from './simulated-world.ts';

const START_MS = Date.parse('2026-11-01T00:00:00Z');
const HOUR_MS = 3_600_000;
/** The processes of a cluster. */
const LAYOUTS: Role[][][] = [
  [[...ROLES], [...ROLES]],
  [['api', 'sender', 'upkeep'], ['api', 'sender', 'upkeep'], ['worker'], ['worker']],
  [['api'], ['sender', 'upkeep'], ['upkeep', 'worker'], [...ROLES]],
];
/** Most that clocks of processes differ at first; half of them are nearly right. */
const MOST_DIFFERENCE_MS = HOUR_MS;
/** A lease, and more. */
const LONG_MS = 90_000;
/** When little is done, and only deliveries wait. */
const SLOW_POLL_MS = 30_000;
const LONGEST_WAIT_HOURS = 48;

export interface ClusterHistory {
  jobs: number;
  /** How many processes were started. */
  processes: number;
  /** How often a job was rendered by two processes at the same time, because one of them had been suspended. */
  overlaps: number;
  /** The hash of all events, and of the data at the end. */
  hash: string;
}

/**
 * Several processes of a service on one store, under virtual time. They crash and restart, are suspended for longer than
 * a lease, lose the database and signals, and their clocks differ. All randomness derives from one seed, and the same
 * seed makes the same history.
 */
export class ClusterSimulation {
  readonly #random: () => number;
  readonly #time = new SimulatedTime();
  readonly #server: SharedDatabase;
  readonly #signals: SimulatedSignals;
  readonly #world: SimulatedWorld;
  /** A ledger elsewhere, in half of the simulations. */
  readonly #distant: DistantLedger | undefined;
  readonly #machines: Machines;
  readonly #rules: ClusterRules;
  readonly #observer: { storage: ReturnType<typeof sharedStores>['storage']; ledger: StoredLedger };
  readonly #connection: SharedConnection;
  readonly #root: string;
  readonly #actEveryMs: number;
  readonly #recorder: ClusterRecorder;
  readonly #clients: ClusterClients;
  /** By slot; undefined: it is to be started again. */
  readonly #members: (Member | undefined)[];
  readonly #layout: Role[][];
  #processes = 0;
  constructor({ seed, folder, actEveryMs = 10_000 }: { seed: number; folder: string; actEveryMs?: number }) {
    this.#random = seededRandom(seed);
    const bytes = seededBytes(seed + 1);
    this.#actEveryMs = actEveryMs;
    this.#recorder = new ClusterRecorder(() => this.#time.uptimeMs);
    this.#clients = new ClusterClients({ random: this.#random, time: this.#time, recorder: this.#recorder });
    this.#root = mkdtempSync(join(folder, 'cluster-simulation-'));
    this.#server = new SharedDatabase(this.#root, {
      clock: this.#time.start(START_MS),
      random: this.#random,
    });
    this.#signals = new SimulatedSignals(this.#random);
    this.#world = new SimulatedWorld(this.#random);
    this.#connection = new SharedConnection(this.#server);
    const { storage, ledgerStore } = sharedStores(this.#server, this.#connection, bytes);
    const ledger = new StoredLedger({ store: ledgerStore, clock: this.#server.clock, random: bytes });
    this.#observer = { storage, ledger };
    if (seed % 2 === 1) {
      this.#distant = new DistantLedger(DISTANT_CREDITS);
      this.#distant.faults = () => this.#faultOfLedger();
    }
    this.#rules = new ClusterRules(this.#time, this.#server.clock);
    this.#layout = LAYOUTS[Math.floor(seed / 2) % LAYOUTS.length] as Role[][];
    this.#members = this.#layout.map(() => undefined);
    this.#machines = {
      time: this.#time,
      server: this.#server,
      signals: this.#signals,
      world: this.#world,
      distant: this.#distant,
      random: this.#random,
      bytes,
      renders: {
        begun: (jobId, member) => this.#recorder.attempt(() => this.#rules.renderBegun(jobId, member)),
        ended: (jobId, member) => this.#rules.renderEnded(jobId, member),
      },
      requests: {
        begun: (jobId, member) => this.#recorder.attempt(() => this.#rules.requestBegun(jobId, member)),
        ended: (jobId, sent) => this.#rules.requestEnded(jobId, sent),
      },
      logger: { error: (details, message) => this.#note(message, details) },
      folder: this.#root,
    };
  }

  get log(): string[] {
    return this.#recorder.log;
  }

  /** Runs for that time; then faults end, and everything must complete. */
  async run(forMs: number): Promise<ClusterHistory> {
    await this.#server.database.start();
    await this.#connection.start();
    for (let slot = 0; slot < this.#layout.length; slot++) this.#launch(slot);
    await this.#pass(10_000);
    while (this.#time.uptimeMs < forMs) {
      const member = this.#oneOf(this.#living('api'));
      if (member) this.#clients.act(member);
      if (this.#random() < 0.15) this.#disturb();
      await settled();
      const mostMs = this.#random() < 0.2 ? 100 : 2 * this.#actEveryMs;
      await this.#pass(this.#random() * mostMs);
    }
    await this.#recover();
    for (let hours = 0; hours < LONGEST_WAIT_HOURS && !(await this.#isDone()); hours++)
      await this.#pass(HOUR_MS);
    await this.#checkEnd();
    const hash = this.#recorder.hashWith(serialize(await this.#rows()));
    const { jobs } = this.#clients;
    return { jobs, processes: this.#processes, overlaps: this.#rules.overlaps, hash };
  }

  /** Leaves nothing behind. */
  async end(): Promise<void> {
    for (const member of this.#members) member?.die();
    await this.#server.database.stop();
    rmSync(this.#root, { recursive: true, force: true });
  }

  #launch(slot: number): void {
    const roles = this.#layout[slot] as Role[];
    const mostMs = this.#random() < 0.5 ? 1_000 : MOST_DIFFERENCE_MS;
    const nowMs = START_MS + this.#time.uptimeMs + (this.#random() - 0.5) * 2 * mostMs;
    const member = new Member(this.#machines, { name: `process-${++this.#processes}`, roles, nowMs });
    this.#members[slot] = member;
    this.#recorder.record('launch', member.name);
    member.service.on('job', (job) => this.#recorder.attempt(() => this.#clients.see(job)));
    member.service.on('delivery', (delivery) => this.#recorder.record('delivery', delivery));
    this.#recorder.watch(member.start().then((isStarted) => isStarted || this.#relaunch(slot, member)));
  }

  /** Starts a process in the place of a dead one, after a while. */
  #relaunch(slot: number, dead: Member): void {
    if (this.#members[slot] !== dead) return;
    this.#rules.died(dead);
    this.#members[slot] = undefined;
    this.#server.clock.after(1_000 + this.#random() * 20_000, () => {
      if (!this.#members[slot]) this.#launch(slot);
    });
  }

  /** Something fails, for a while. */
  #disturb(): void {
    const chance = this.#random();
    const member = this.#oneOf(this.#living());
    const forMs = this.#random() * (this.#random() < 0.5 ? 5_000 : LONG_MS);
    const later = (work: () => void) => void this.#server.clock.after(forMs, work);
    if (chance < 0.02) {
      this.#setClock(this.#server.clock);
      this.#rules.clockWasSet();
    } else if (chance < 0.1) {
      this.#recorder.record('server down', forMs);
      this.#server.isDown = true;
      later(() => {
        this.#server.isDown = false;
      });
    } else if (!member) return;
    else if (chance < 0.35) this.#crash(member);
    else if (chance < 0.6) {
      this.#recorder.record('suspend', member.name);
      member.suspend();
      later(() => {
        if (member.state === 'suspended') member.resume();
      });
    } else if (chance < 0.8) {
      this.#recorder.record('cut off', member.name);
      member.cutOff(this.#random() < 0.5);
      later(() => member.reconnect());
    } else if (chance < 0.9) this.#setClock(member.clock);
    else this.#stop(member);
  }

  #setClock(clock: { now(): number; set(time: string): void }): void {
    clock.set(new Date(clock.now() + (this.#random() - 0.5) * 2 * HOUR_MS).toISOString());
    this.#recorder.record('clock', clock.now());
  }

  #faultOfLedger(): 'before' | 'after' | undefined {
    const chance = this.#world.isFaulty ? this.#random() : 1;
    if (chance < 0.03) return 'before';
    return chance < 0.06 ? 'after' : undefined;
  }

  #crash(member: Member): void {
    this.#recorder.record('crash', member.name);
    member.die();
    this.#relaunch(this.#members.indexOf(member), member);
  }

  #stop(member: Member): void {
    this.#recorder.record('stop', member.name);
    const graceMs = this.#random() < 0.5 ? 0 : 20_000;
    const slot = this.#members.indexOf(member);
    this.#recorder.watch(member.stop(graceMs).then(() => this.#relaunch(slot, member)));
  }

  /** Processes that can be asked for something. */
  #living(role?: Role): Member[] {
    return this.#members.filter(
      (member) => member?.state === 'running' && (!role || member.roles.includes(role)),
    ) as Member[];
  }

  /** Everything works from now on. */
  async #recover(): Promise<void> {
    this.#recorder.record('recover', null);
    this.#server.isFaulty = this.#server.isDown = false;
    this.#signals.isFaulty = this.#world.isFaulty = false;
    for (const member of this.#members) {
      if (member?.state === 'suspended') member.resume();
      if (member?.isCut) member.reconnect();
    }
    await this.#pass(60_000);
    const states = this.#members.map((member) => member?.state);
    assert(
      states.every((state) => state === 'running'),
      `all processes run again: ${states}`,
    );
  }

  async #pass(ms: number): Promise<void> {
    const until = this.#time.uptimeMs + ms;
    await settled();
    for (let leftMs = ms; leftMs > 0; leftMs = until - this.#time.uptimeMs) {
      this.#time.postpone(Math.min(leftMs, await this.#quietMs(leftMs)));
      this.#time.advance(Math.max(0, Math.min(leftMs, this.#time.nextInMs ?? leftMs)));
      await settled();
      this.#check();
    }
  }

  #check(): void {
    this.#recorder.assertNoFailure();
    assert.equal(this.#server.open, 0, 'a transaction waits for nothing but its statements');
  }

  /** How long polls would find nothing, or little: of those only the last ones are made. */
  async #quietMs(ofMs: number): Promise<number> {
    if (this.#clients.isAdding) return 0;
    const { waiting, running } = await this.#observer.storage.queue.state();
    if (running > 0 || (waiting > 0 && !(await this.#isPaused()))) return 0;
    if (await this.#isAllSent()) return Number.POSITIVE_INFINITY;
    return ofMs > LONG_MS ? SLOW_POLL_MS : 0;
  }

  /** No worker claims a job, nor will one when it learns that the queue was resumed. */
  async #isPaused(): Promise<boolean> {
    const { queuePausedAtMs } = await this.#world.settings().getSettings();
    const workers = this.#members.filter((member) => member?.roles.includes('worker'));
    return (
      queuePausedAtMs !== null &&
      workers.every((member) => member && member.service.status().queuePausedAt !== null)
    );
  }

  async #isAllSent(): Promise<boolean> {
    return (await this.#observer.storage.deliveries.listUnfinished({ limit: 1 })).length === 0;
  }

  async #isDone(): Promise<boolean> {
    const [member] = this.#living('api');
    assert(member, 'a process answers');
    this.#clients.told(member, member.service.resumeQueue());
    const isQuiet = (await this.#observer.storage.unfinishedJobs()).length === 0;
    return isQuiet && (await this.#isAllSent()) && !this.#clients.isWaiting;
  }

  async #checkEnd(): Promise<void> {
    const { storage, ledger } = this.#observer;
    if (!this.#distant) assert.deepEqual((await ledger.audit()).problems, [], 'the audit is clean');
    assert.deepEqual(await storage.queue.state(), { waiting: 0, running: 0, owners: 0, oldest: null });
    assert(!this.#clients.isWaiting, 'all waits end');
    assert.equal((await storage.unfinishedJobs()).length, 0, 'all jobs have ended');
    await this.#pass(10_000);
    for (const { name, service } of this.#living())
      assert.deepEqual(
        [service.status().running, service.status().queued],
        [0, 0],
        `nothing runs in ${name}`,
      );
    const [member] = this.#living('api');
    assert(member);
    const { service } = member;
    const jobs = await this.#doing(service.list({ limit: 100_000 }));
    this.#clients.assertKept(jobs);
    for (const { jobId, artifacts } of jobs)
      for (const { name } of artifacts)
        assert(await this.#doing(service.openArtifact(jobId, name)), 'its artifacts exist');
    const { world } = this.#machines;
    await assertJobsEnded(jobs, { storage, database: this.#connection, distant: this.#distant, world });
    if (this.#distant) assertDistantLedger(this.#distant, jobs);
    await this.#clients.assertAcknowledged({ storage, ledger });
  }

  async #rows(): Promise<object[]> {
    const text = "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name";
    const tables = await this.#connection.all<{ name: string }>(text);
    return (
      await Promise.all(tables.map(({ name }) => this.#connection.all(`SELECT * FROM ${name}`)))
    ).flat();
  }

  /** Lets time pass until something is done. */
  async #doing<T>(something: Promise<T>): Promise<T> {
    const advance = () => this.#time.advance(Math.max(0, this.#time.nextInMs ?? 1));
    await passUntil(something, { settled, advance });
    return something;
  }

  #oneOf<T>(all: T[]): T | undefined {
    return all[Math.floor(this.#random() * all.length)];
  }

  #note(message: string, details: object): void {
    this.#recorder.record(message, (details as { err?: Error }).err?.message.replaceAll(this.#root, ''));
  }
}
