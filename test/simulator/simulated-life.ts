import assert from 'node:assert/strict';
import { copyFileSync, existsSync, fstatSync, mkdirSync, statSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { silentLogger } from '../../lib/base/logger.ts';
import type { Random } from '../../lib/base/random.ts';
import { SqliteDatabase } from '../../lib/databases/sqlite/sqlite-database.ts';
import { type Logger, RenderService, type RenderServiceOptions, StoredLedger } from '../../lib/index.ts';
import type { Renderer } from '../../lib/render/pool/renderer.ts';
import { makeParts } from '../../lib/service/service-parts.ts';
import { SqlLedgerStore } from '../../lib/sql/sql-ledger-store.ts';
import { SqlStorage } from '../../lib/sql/sql-storage.ts';
import { SQLITE_SCHEMA } from '../../lib/sql/sqlite/schema.ts';
import type { Storage } from '../../lib/storage/storage.ts';
import { FakeClock } from '../fixtures/fake-clock.ts';
import type { LateStores } from '../fixtures/late-stores.ts';
import { inForeground } from './in-foreground.ts';
import { passUntil, settled } from './settled.ts';
import { PORT_TURNS, type SimulatedPool, simulatedPool } from './simulated-pool.ts';
import { SimulatedRenderer } from './simulated-renderer.ts';
import type { SimulatedWorld } from './simulated-world.ts';

/** A stop takes far fewer. */
const MOST_STEPS = 10_000;
const DATABASE = 'database.sqlite';
const WORKERS = 3;
/** SQLite's own limit. */
const MOST_PAGES = 4_294_967_294;
const LONGEST_SHORTAGE_MS = 120_000;
export const ASSET_URL = 'https://assets.example';

/** The parts of the simulation that a life uses. */
export interface Surroundings {
  world: SimulatedWorld;
  /** For everything that happens to the service. */
  random: () => number;
  /** For what the service draws itself. */
  bytes: Random;
  /** The stores are late. */
  late: LateStores | undefined;
  /** For the Python side of the real pool of renderers; undefined: the whole renderer is simulated. */
  poolSeed: number | undefined;
  logger: Pick<Logger, 'error'>;
}

/** One process of the service, from its start to its crash. */
export class Life {
  readonly service: RenderService;
  readonly clock: FakeClock;
  readonly ledger: StoredLedger;
  /** The real renderer, of which threads and processes are simulated. */
  readonly pool: SimulatedPool | undefined;
  readonly #renderer: SimulatedRenderer;
  readonly #folder: string;
  readonly #surroundings: Surroundings;
  readonly #database: SqliteDatabase;
  readonly #storage: Storage;
  /** Bytes of the log that are known to be on the medium. */
  #durableBytes = 0;
  /** Flushes take time, and fail: not while it starts or is buried. */
  isRunning = false;
  isDead = false;
  /** How often something did not fit in the database. */
  fullDisks = 0;

  constructor(folder: string, { nowMs, ...surroundings }: Surroundings & { nowMs: number }) {
    const { world, random, bytes, late, poolSeed } = surroundings;
    const logger = { ...silentLogger, ...surroundings.logger };
    this.#folder = folder;
    this.#surroundings = surroundings;
    this.clock = new FakeClock(new Date(nowMs).toISOString());
    this.#database = new SqliteDatabase(join(folder, DATABASE), SQLITE_SCHEMA, {
      clock: this.clock,
      flushFile: (descriptor) => this.#flush(descriptor),
      onFatal: () => {
        this.isDead = true;
      },
      onFullDisk: async () => this.#freeDiskLater(),
      background: inForeground,
      checkpointAfterBytes: Number.MAX_SAFE_INTEGER,
    });
    const inTime = new SqlStorage(this.#database, bytes);
    const store = new SqlLedgerStore(this.#database, inTime);
    this.#storage = late?.of(inTime) ?? inTime;
    this.ledger = new StoredLedger({
      store: late?.of(store) ?? store,
      clock: this.clock,
      random: bytes,
      freeCreditsPerMonth: 300,
    });
    const workFolder = join(folder, 'work');
    this.#renderer = new SimulatedRenderer({ size: WORKERS, clock: this.clock, random });
    if (poolSeed !== undefined) {
      const { clock } = this;
      this.pool = simulatedPool({ size: WORKERS, workFolder, seed: poolSeed, clock, random: bytes, logger });
      this.pool.python.isFaulty = world.isFaulty;
    }
    const settings = world.settings();
    const options: RenderServiceOptions = {
      storage: this.#storage,
      ledger: this.ledger,
      settings: late?.of(settings) ?? settings,
      assets: world.assetStore(this.clock),
      workFolder,
      assetUrl: ASSET_URL,
      webhooks: { secretOf: () => 'secret' },
      queue: { maxQueued: 60, maxQueuedPerOwner: 30 },
      workers: WORKERS,
      clock: this.clock,
      logger,
    };
    const parts = makeParts(options, {
      renderer: this.pool?.renderer ?? (this.#renderer as unknown as Renderer),
      outbound: world.outbound(this.clock),
      random: bytes,
    });
    this.service = new RenderService(options, parts);
  }

  /** Starts again until it runs: a renderer may fail to start. */
  async start(): Promise<void> {
    for (let isStarted = false; !isStarted; ) {
      const starting = this.service.start().then(
        () => true,
        (error: Error & { code?: string }) => {
          assert.equal(error.code, 'renderer_unavailable', error.message);
          return false;
        },
      );
      isStarted = await this.doing(starting);
    }
  }

  /** Lets time pass until something is done. */
  async doing<T>(something: Promise<T>): Promise<T> {
    await this.#until(something, Number.POSITIVE_INFINITY);
    return something;
  }

  async #until(something: Promise<unknown>, mostSteps: number): Promise<void> {
    const settled = () => this.settled();
    const advance = () => this.clock.advance(this.clock.nextInMs ?? 1);
    await passUntil(something, { settled, advance }, mostSteps);
  }

  /** Resolves when only timers are pending. */
  settled(): Promise<void> {
    return settled(this.pool ? PORT_TURNS : 1);
  }

  /** Rules of the renderer's protocol that were broken, and renders beyond the workers. */
  get violations(): string[] {
    const mostRenders = this.pool?.python.mostRenders ?? this.#renderer.mostRunning;
    const tooMany = mostRenders > WORKERS ? [`${mostRenders} renders at once`] : [];
    return [...(this.pool?.python.violations ?? []), ...tooMany];
  }

  /** Continues in another process, with the files as a power cut leaves them. `from`: undefined at the very beginning. */
  static async begin(
    folder: string,
    { from, ...rest }: Surroundings & { nowMs: number; from: Life | undefined },
  ): Promise<Life> {
    mkdirSync(folder);
    if (from) from.#copyAfterCrash(join(folder, DATABASE));
    return new Life(folder, rest);
  }

  /** Nothing may begin, runs or is to be sent: nothing happens until somebody does something, or on schedule. */
  async isIdle(): Promise<boolean> {
    const { queued, running, queuePausedAt } = this.service.status();
    const begins = queued > 0 && queuePausedAt === null;
    if (begins || running > 0) return false;
    return (await this.#storage.deliveries.listUnfinished({ limit: 1 })).length === 0;
  }

  /** Nothing waits either. */
  async isDone(): Promise<boolean> {
    return this.service.status().queued === 0 && (await this.isIdle());
  }

  /** From now on the database cannot grow, until a while after it had to, or until the next life. */
  async fillDisk(): Promise<void> {
    await this.#limitPages(1); // SQLite takes a limit below its size for its size.
  }

  #freeDiskLater(): void {
    this.fullDisks += 1;
    this.clock.after(this.#surroundings.random() * LONGEST_SHORTAGE_MS, () => {
      this.#limitPages(MOST_PAGES).catch(() => {}); // It may have died meanwhile.
    });
  }

  async #limitPages(pages: number): Promise<void> {
    await this.#database.transaction((tx) => tx.get(`PRAGMA max_page_count = ${pages}`));
  }

  /** Everything in the database. */
  async rows(): Promise<object[]> {
    const tables = await this.#database.all<{ name: string }>(
      "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name",
    );
    const rows = await Promise.all(tables.map(({ name }) => this.#database.all(`SELECT * FROM ${name}`)));
    return rows.flat();
  }

  /** Closes the open files of a process that dies, and detaches everything that listens to it. */
  async bury(): Promise<void> {
    this.isRunning = false;
    await this.#until(this.service.stop(), MOST_STEPS);
  }

  async #flush(descriptor: number): Promise<void> {
    const { random, world } = this.#surroundings;
    const { size } = fstatSync(descriptor);
    if (this.isRunning) await new Promise<void>((resolve) => this.clock.after(random() * 20, resolve));
    if (this.isRunning && world.isFaulty && random() < 0.0005) {
      throw Object.assign(new Error('EIO: i/o error, fdatasync'), { code: 'EIO' });
    }
    this.#durableBytes = size;
  }

  /** The log ends where it was flushed to, or anywhere behind that. */
  #copyAfterCrash(path: string): void {
    copyFileSync(join(this.#folder, DATABASE), path);
    const log = join(this.#folder, `${DATABASE}-wal`);
    if (!existsSync(log)) return;
    copyFileSync(log, `${path}-wal`);
    const { size } = statSync(log);
    const least = Math.min(this.#durableBytes, size);
    truncateSync(`${path}-wal`, least + Math.floor(this.#surroundings.random() * (size - least + 1)));
  }
}
