import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { silentLogger } from '../../lib/base/logger.ts';
import type { RenderResult, StopReason } from '../../lib/model/render-task.ts';
import type { PooledRender } from '../../lib/render/pool/render-pool.ts';
import { FakeClock } from '../fixtures/fake-clock.ts';
import { seededBytes, seededRandom } from '../fixtures/seeded-random.ts';
import { settled } from './settled.ts';
import { PORT_TURNS, type SimulatedPool, simulatedPool, TIMEOUT_MS } from './simulated-pool.ts';
import { CLIENT_CLASS, LONGEST_DEATH_MS } from './simulated-python.ts';

const SIZE = 3;
const REASONS: StopReason[] = ['canceled', 'claim_lost', 'claim_expired', 'funds', 'shutdown'];
/** Its time limit, that of the end of a fork, of an encoding and of a start, and some more. */
const LONGEST_RENDER_MS = TIMEOUT_MS + 240_000;
const LONGEST_STOP_MS = 120_000;
const LONGEST_START_MS = 120_000;

export interface PoolHistory {
  renders: number;
  starts: number;
  /** How many renders ended in each way. */
  ends: Record<string, number>;
  hours: number;
  hash: string;
}

interface Running {
  render: PooledRender;
  sinceMs: number;
  startedAtMs: number | undefined;
}

/** The pool of a service on its own: renders that are begun and stopped, threads that crash, processes that fail. */
export class PoolSimulation {
  readonly #random: () => number;
  readonly #clock: FakeClock = new FakeClock('2026-11-01T00:00:00Z');
  readonly #root: string;
  readonly #pool: SimulatedPool;
  readonly #history = createHash('sha256');
  #records: string[] = [];
  #recordedAtMs = 0;
  readonly #running = new Map<number, Running>();
  readonly #ends: Record<string, number> = {};
  #renders = 0;
  #starts = 0;
  #failure: Error | undefined;
  readonly log: string[] = [];

  constructor({ seed, folder }: { seed: number; folder: string }) {
    this.#random = seededRandom(seed);
    this.#root = mkdtempSync(join(folder, 'pool-simulation-'));
    const note = (details: object, message: string) => {
      const { err, reason, ...rest } = details as { err?: Error; reason?: string };
      const text = `${message} ${err?.message ?? reason ?? JSON.stringify(rest)}`.replaceAll(this.#root, '');
      this.#record(text);
      this.log.push(`${Math.round(this.#clock.uptimeMs())} ${text}`);
    };
    this.#pool = simulatedPool({
      size: SIZE,
      workFolder: join(this.#root, 'work'),
      seed,
      clock: this.#clock,
      random: seededBytes(seed + 1),
      logger: { ...silentLogger, warn: note, error: note },
    });
  }

  async run(forMs: number): Promise<PoolHistory> {
    const { python } = this.#pool;
    for (const endMs = forMs; this.#clock.uptimeMs() < endMs; ) {
      await this.#start();
      const stopMs = Math.min(endMs, this.#clock.uptimeMs() + this.#random() * 4 * 3_600_000);
      while (this.#clock.uptimeMs() < stopMs) {
        this.#act();
        await this.#pass(this.#random() * 15_000);
      }
      python.isFaulty = false;
      await this.#checkWorkers();
      python.isFaulty = true;
      for (let count = 0; count < SIZE; count++) if (this.#random() < 0.5) this.#begin();
      await this.#pass(this.#random() * 5_000);
      await this.#stop();
    }
    this.#hashRecords();
    const [renders, starts, ends] = [this.#renders, this.#starts, this.#ends];
    return { renders, starts, ends, hours: forMs / 3_600_000, hash: this.#history.digest('hex') };
  }

  /** Also after a failure, when what still runs would keep the process running; that is the one to report. */
  async end(): Promise<void> {
    this.#failure = undefined;
    await this.#within(LONGEST_STOP_MS, this.#pool.renderer.stop(), 'stop').catch(() => {});
    rmSync(this.#root, { recursive: true, force: true });
  }

  async #start(): Promise<void> {
    const { renderer } = this.#pool;
    for (;;) {
      this.#starts += 1;
      const signal = new AbortController().signal;
      const starting = renderer.start({ allowTraversal: async () => {}, signal }).then(
        () => true,
        (error: Error & { code?: string }) => {
          assert.equal(error.code, 'renderer_unavailable', error.message);
          return false;
        },
      );
      if (await this.#within(LONGEST_START_MS, starting, 'start')) return;
      await this.#stop();
    }
  }

  #act(): void {
    const chance = this.#random();
    const { renderer, crashThread } = this.#pool;
    if (chance < 0.6) {
      if (this.#running.size < SIZE) this.#begin();
    } else if (chance < 0.7) {
      const [running] = this.#running.values();
      running?.render.stop(this.#oneOf(REASONS));
    } else if (chance < 0.73) crashThread(Math.floor(this.#random() * SIZE));
    else if (chance < 0.76) {
      // Waits behind the renders.
      renderer.listScenes('x').then(
        ({ kind }) => this.#record(`listed ${kind}`),
        (error: Error) => this.#record(`not listed ${error.message}`),
      );
    } else if (chance < 0.78) this.#stall(this.#random() * 90_000);
  }

  /** The service does nothing for a while, as when its machine has no time for it. */
  #stall(ms: number): void {
    this.#record('stall');
    this.#clock.postpone(ms);
    this.#clock.advance(ms);
  }

  #begin(): void {
    const number = ++this.#renders;
    const isPortrait = this.#random() < 0.2;
    const size = isPortrait ? { widthPx: 36, heightPx: 64 } : { widthPx: 64, heightPx: 36 };
    const sinceMs = this.#clock.uptimeMs();
    const render = this.#pool.renderer.render(
      {
        jobId: `job-${number}`,
        code: 'x',
        className: CLIENT_CLASS,
        ...size,
        fps: 1,
        previewIntervalMs: this.#random() < 0.5 ? 1_000 : 0,
        background: false,
      },
      {
        onStarted: () => {
          if (!this.#running.has(number)) this.#fail(`render ${number} started after its end`);
          running.startedAtMs = this.#clock.uptimeMs();
        },
        onProgress: () => {},
        onPreview: () => {},
      },
    );
    const running: Running = { render, sinceMs, startedAtMs: undefined };
    this.#running.set(number, running);
    void render.result.then((result) => this.#ended(number, result));
  }

  #ended(number: number, result: RenderResult): void {
    const startedAtMs = this.#running.get(number)?.startedAtMs;
    if (!this.#running.delete(number)) this.#fail(`render ${number} ended twice`);
    const mostMs = startedAtMs === undefined ? 0 : Math.ceil(this.#clock.uptimeMs() - startedAtMs);
    if ('durationMs' in result && result.durationMs > mostMs)
      this.#fail(`render ${number} took ${result.durationMs} ms, of ${mostMs} since its start`);
    this.#ends[result.kind] = (this.#ends[result.kind] ?? 0) + 1;
    this.#record(`render ${number} ${result.kind}`);
    if (result.kind !== 'rendered') return;
    for (const { path } of result.files) if (!existsSync(path)) this.#fail(`${path} is missing`);
    rmSync(result.folder, { recursive: true });
  }

  /** Nothing fails any more: each worker renders again, all at once. */
  async #checkWorkers(): Promise<void> {
    const { renderer, python } = this.#pool;
    await this.#within(LONGEST_RENDER_MS, this.#idle(), 'end of all renders');
    const until = this.#clock.uptimeMs() + LONGEST_RENDER_MS;
    while (renderer.status.warmWorkers < SIZE || !renderer.mayRender) {
      if (this.#clock.uptimeMs() > until)
        this.#fail(`nothing may render: ${JSON.stringify(renderer.status)}`);
      await this.#pass(1_000);
    }
    await this.#pass(TIMEOUT_MS); // Processes that were going to fail have done so.
    python.mostRenders = 0;
    for (let rounds = 0; rounds < 20 && python.mostRenders < SIZE; rounds++) {
      for (let count = 0; count < SIZE; count++) this.#begin();
      await this.#within(LONGEST_RENDER_MS, this.#idle(), 'end of all renders');
    }
    assert.equal(python.mostRenders, SIZE, 'all workers render');
  }

  async #idle(): Promise<void> {
    while (this.#running.size > 0)
      await Promise.all([...this.#running.values()].map(({ render }) => render.result));
  }

  async #stop(): Promise<void> {
    const { renderer, python } = this.#pool;
    await this.#within(LONGEST_STOP_MS, renderer.stop(), 'stop');
    await settled(PORT_TURNS);
    assert.equal(this.#running.size, 0, 'all renders have ended');
    // Processes of threads that did not stop in time are killed with them.
    if (python.count > 0) await this.#pass(LONGEST_DEATH_MS);
    assert.equal(python.count, 0, 'no process or connection is left');
    assert.equal(this.#clock.nextInMs, undefined, 'no timer is left');
    assert.equal(existsSync(join(this.#root, 'work')), false, 'no file is left');
    this.#record('stopped');
  }

  async #pass(ms: number): Promise<void> {
    const until = this.#clock.uptimeMs() + ms;
    await settled(PORT_TURNS);
    for (let leftMs = ms; leftMs > 0; leftMs = until - this.#clock.uptimeMs()) {
      this.#clock.advance(Math.min(leftMs, this.#clock.nextInMs ?? leftMs));
      await settled(PORT_TURNS);
      this.#check();
    }
  }

  #check(): void {
    const [violation] = this.#pool.python.violations;
    if (violation) this.#fail(violation);
    if (this.#pool.python.mostRenders > SIZE) this.#fail('more renders than workers');
    for (const [number, { sinceMs }] of this.#running)
      if (this.#clock.uptimeMs() - sinceMs > LONGEST_RENDER_MS) this.#fail(`render ${number} does not end`);
    if (this.#failure) throw this.#failure;
  }

  /** Lets time pass until something is done. */
  async #within<T>(ms: number, something: Promise<T>, what: string): Promise<T> {
    let isDone = false;
    const done = () => {
      isDone = true;
    };
    something.then(done, done);
    const until = this.#clock.uptimeMs() + ms;
    for (await settled(PORT_TURNS); !isDone; await settled(PORT_TURNS)) {
      if (this.#clock.uptimeMs() > until) throw new Error(`${what}: not within ${ms} ms`);
      this.#clock.advance(this.#clock.nextInMs ?? 1);
      if (this.#failure) throw this.#failure;
    }
    return something;
  }

  #fail(message: string): void {
    this.#failure ??= new Error(message);
  }

  /** In alphabetical order when at the same time: the order of answers of the file system is not known. */
  #record(what: string): void {
    const nowMs = this.#clock.uptimeMs();
    if (nowMs !== this.#recordedAtMs) this.#hashRecords();
    this.#recordedAtMs = nowMs;
    this.#records.push(what);
  }

  #hashRecords(): void {
    for (const what of this.#records.splice(0).sort())
      this.#history.update(`${this.#recordedAtMs} ${what}\n`);
  }

  #oneOf<T>(all: T[]): T {
    return all[Math.floor(this.#random() * all.length)] as T;
  }
}
