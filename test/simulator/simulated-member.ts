import { join } from 'node:path';
import { silentLogger } from '../../lib/base/logger.ts';
import type { Random } from '../../lib/base/random.ts';
import {
  type Clock,
  type Ledger,
  type Logger,
  RenderService,
  type RenderServiceOptions,
  type Role,
  StoredLedger,
} from '../../lib/index.ts';
import type { Renderer } from '../../lib/render/pool/renderer.ts';
import { makeParts, type OutsideParts } from '../../lib/service/service-parts.ts';
import type { DistantLedger } from '../fixtures/distant-ledger.ts';
import type { FakeClock } from '../fixtures/fake-clock.ts';
import { SharedConnection, type SharedDatabase, sharedStores } from './shared-database.ts';
import { ASSET_URL } from './simulated-life.ts';
import { SimulatedRenderer } from './simulated-renderer.ts';
import type { SimulatedSignals } from './simulated-signals.ts';
import type { SimulatedTime } from './simulated-time.ts';
import type { SimulatedWorld } from './simulated-world.ts';

const WORKERS = 2;
const TRIP_MS = 100;
/** As long as a ledger's time-out may be. */
const SLOW_TRIP_MS = 30_000;

/** The parts of the simulation that a process uses. */
export interface Machines {
  time: SimulatedTime;
  server: SharedDatabase;
  signals: SimulatedSignals;
  world: SimulatedWorld;
  random: () => number;
  bytes: Random;
  /** A ledger elsewhere; default: it is in the store. */
  distant: DistantLedger | undefined;
  /** Called when a render begins, and when it has ended; not when its process dies. */
  renders: { begun(jobId: string, member: Member): void; ended(jobId: string, member: Member): void };
  /** The same for requests to receivers. `sent`: the receiver may have got it. */
  requests: {
    begun(jobId: string, member: Member): void;
    ended(jobId: string, sent: boolean): void;
  };
  logger: Pick<Logger, 'error'>;
  folder: string;
}

/**
 * - `starting`: it connects, and recovers jobs
 * - `running`
 * - `suspended`: it does nothing, and goes on later
 * - `stopping`: it drains
 * - `dead`: nothing happens in it any more
 */
export type MemberState = 'starting' | 'running' | 'suspended' | 'stopping' | 'dead';

/** One process of a service of several, from its start to its end. */
export class Member {
  readonly name: string;
  readonly roles: readonly Role[];
  readonly service: RenderService;
  /** Undefined with a ledger elsewhere. */
  readonly ledger: StoredLedger | undefined;
  readonly clock: FakeClock;
  readonly #machines: Machines;
  readonly #connection: SharedConnection;
  readonly #leave: () => void;
  state: MemberState = 'starting';
  #suspendedAtMs = Number.NEGATIVE_INFINITY;

  constructor(machines: Machines, { name, roles, nowMs }: { name: string; roles: Role[]; nowMs: number }) {
    const { time, server, signals, world, distant, random, bytes, logger, folder } = machines;
    this.name = name;
    this.roles = roles;
    this.#machines = machines;
    this.clock = time.start(nowMs);
    this.#connection = new SharedConnection(server, this.clock);
    const { storage, ledgerStore } = sharedStores(server, this.#connection, bytes);
    const joined = signals.join({ clock: this.clock, isReached: () => !this.#connection.isCut });
    this.#leave = joined.leave;
    const stored = { store: ledgerStore, clock: this.clock, random: bytes, freeCreditsPerMonth: 300 };
    if (!distant) this.ledger = new StoredLedger(stored);
    const renderer = new SimulatedRenderer({ size: WORKERS, clock: this.clock, random });
    const options: RenderServiceOptions = {
      storage,
      signals: joined.signals,
      ledger: this.ledger ?? overNetwork(distant as DistantLedger, this.clock, random),
      settings: world.settings(),
      assets: world.assetStore(this.clock),
      workFolder: join(folder, name),
      assetUrl: ASSET_URL,
      webhooks: { secretOf: () => 'secret' },
      queue: { maxQueued: 60, maxQueuedPerOwner: 30 },
      roles,
      workers: WORKERS,
      clock: this.clock,
      logger: { ...silentLogger, ...logger },
    };
    const parts = makeParts(options, {
      renderer: this.#watched(renderer) as unknown as Renderer,
      outbound: this.#counted(world.outbound(this.clock)),
      random: bytes,
    });
    this.service = new RenderService(options, parts);
  }

  /** When it was suspended last, by the time of all; while it is: infinite. */
  get suspendedAtMs(): number {
    return this.state === 'suspended' ? Number.POSITIVE_INFINITY : this.#suspendedAtMs;
  }

  get isCut(): boolean {
    return this.#connection.isCut;
  }

  /** False when it could not start; then it is dead. */
  async start(): Promise<boolean> {
    try {
      await this.service.start();
      this.state = 'running';
      return true;
    } catch (error) {
      if ((error as { code?: string }).code !== 'storage_failed') throw error;
      this.die();
      return false;
    }
  }

  /** Drains as far as it can within a while, then ends. */
  async stop(graceMs: number): Promise<void> {
    this.state = 'stopping';
    await this.service.stop({ graceMs });
    this.die();
  }

  suspend(): void {
    this.state = 'suspended';
    this.#machines.time.suspend(this.clock);
  }

  resume(): void {
    this.state = 'running';
    this.#suspendedAtMs = this.#machines.time.uptimeMs;
    this.#machines.time.resume(this.clock);
  }

  /** `isNoticed`: the server closes the connection. */
  cutOff(isNoticed: boolean): void {
    this.#connection.isCut = true;
    if (isNoticed) this.#machines.server.drop(this.#connection);
  }

  reconnect(): void {
    this.#connection.isCut = false;
  }

  /** It is killed: nothing happens in it any more. */
  die(): void {
    this.state = 'dead';
    this.#machines.time.end(this.clock);
    this.#machines.server.drop(this.#connection);
    this.#leave();
  }

  /** Reports requests, except those of deliveries that a client sends again. */
  #counted(outbound: OutsideParts['outbound']): OutsideParts['outbound'] {
    const { requests } = this.#machines;
    const post: typeof outbound.post = async (request, signal) => {
      if (request.headers['svc-redelivery']) return outbound.post(request, signal);
      const { jobId } = JSON.parse(request.body.toString()) as { jobId: string };
      requests.begun(jobId, this);
      const result = await outbound.post(request, signal);
      requests.ended(jobId, result.sent);
      return result;
    };
    return { ...outbound, post };
  }

  #watched(renderer: SimulatedRenderer): SimulatedRenderer {
    const { renders } = this.#machines;
    const render = renderer.render.bind(renderer);
    renderer.render = (task, events) => {
      renders.begun(task.jobId, this);
      const pooled = render(task, events);
      void pooled.result.then(() => renders.ended(task.jobId, this));
      return pooled;
    };
    return renderer;
  }
}

/** Each call, and each answer, takes time. */
function overNetwork(ledger: DistantLedger, clock: Clock, random: () => number): Ledger {
  const trip = () =>
    new Promise<void>(
      (resolve) => void clock.after(random() * (random() < 0.05 ? SLOW_TRIP_MS : TRIP_MS), resolve),
    );
  const late =
    <Request, Answer>(call: (request: Request) => Promise<Answer>) =>
    async (request: Request): Promise<Answer> => {
      await trip();
      // A call that is answered with an error has perhaps been carried out.
      const answer = call(request);
      answer.catch(() => {});
      await trip();
      return answer;
    };
  return {
    joins: () => false,
    reserve: late((request: Parameters<Ledger['reserve']>[0]) => ledger.reserve(request)),
    settle: late((request: Parameters<Ledger['settle']>[0]) => ledger.settle(request)),
    void: late((request: Parameters<Ledger['void']>[0]) => ledger.void(request)),
    balance: late(() => ledger.balance()),
    available: late(() => ledger.available()),
  };
}
