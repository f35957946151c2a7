import { Readable } from 'node:stream';
import { type AssetStore, type Clock, ScenepressError } from '../../lib/index.ts';
import type { OutsideParts } from '../../lib/service/service-parts.ts';
import { DEFAULT_SETTINGS, type SettingsStore } from '../../lib/storage/settings-store.ts';
import type { ExchangeResult, OutboundRequest } from '../../lib/webhooks/outbound.ts';

type Random = () => number;
type OutsideSender = OutsideParts['outbound'];

/** The world outside of the service, which outlives its crashes. */
export class SimulatedWorld {
  readonly #random: Random;
  /** Keys of assets that are stored. */
  readonly assets: Set<string> = new Set();
  /** How often a receiver got the outcome of a job, by job. */
  readonly received: Map<string, number> = new Map();
  /** How many requests to receivers were begun, by job or by the delivery that is sent again. */
  readonly requests: Map<string, number> = new Map();
  /** The statuses with which requests ended, by `svc-signature`: equal requests within a second have the same. */
  readonly answers: Map<string, Set<number>> = new Map();
  #settings = DEFAULT_SETTINGS;
  /** Stores and receivers fail. */
  isFaulty = true;

  constructor(random: Random) {
    this.#random = random;
  }

  assetStore(clock: Clock): AssetStore {
    const step = async () => {
      await this.#moment(clock, 200);
      if (!this.#fails(0.03)) return;
      throw Object.assign(new Error('the store fails'), {
        code: this.#random() < 0.5 ? 'ECONNREFUSED' : 'EIO',
      });
    };
    return {
      put: async (assetKey) => {
        await step();
        this.assets.add(assetKey);
        return { sizeBytes: 1 };
      },
      open: async (assetKey) => {
        await step();
        return this.assets.has(assetKey) ? { stream: Readable.from(['x']), sizeBytes: 1 } : undefined;
      },
      delete: async (assetKey) => {
        await step();
        this.assets.delete(assetKey);
      },
    };
  }

  settings(): SettingsStore {
    return {
      getSettings: async () => this.#settings,
      changeSettings: async (change) => {
        const fails = this.#fails(0.1);
        // A store that fails may have written the change or not.
        if (!fails || this.#random() < 0.5) this.#settings = change(this.#settings);
        if (fails) throw new ScenepressError('storage_failed', 'the settings can’t be written');
        return this.#settings;
      },
    };
  }

  /** A sender whose receivers answer late, wrongly, or never. */
  outbound(clock: Clock): OutsideSender {
    return {
      start(): void {},
      async stop(): Promise<void> {},
      post: async (request: OutboundRequest, signal: AbortSignal): Promise<ExchangeResult> => {
        const result = await this.#receive(request, clock, signal);
        const signature = request.headers['svc-signature'] as string;
        this.answers.set(signature, (this.answers.get(signature) ?? new Set()).add(result.status));
        return result;
      },
    };
  }

  async #receive(
    { headers, body }: OutboundRequest,
    clock: Clock,
    signal: AbortSignal,
  ): Promise<ExchangeResult> {
    const { jobId } = JSON.parse(body.toString()) as { jobId: string };
    const about = headers['svc-redelivery'] ?? jobId;
    this.requests.set(about, (this.requests.get(about) ?? 0) + 1);
    const isHeard = !this.#fails(0.3);
    const arrived = await this.#moment(clock, 12_000, signal);
    const isSent = arrived || this.#random() < 0.5;
    if (!isSent) this.requests.set(about, (this.requests.get(about) ?? 0) - 1);
    if (isSent && isHeard) this.received.set(jobId, (this.received.get(jobId) ?? 0) + 1);
    if (!arrived) return { status: 0, reason: 'stopped', detail: 'cut', answer: null, sent: isSent };
    if (isHeard) return { status: 200, reason: null, detail: null, answer: '', sent: true };
    const status = 300 + Math.floor(this.#random() * 300);
    return this.#random() < 0.5
      ? { status, reason: null, detail: null, answer: '', sent: true }
      : { status: 0, reason: 'timeout', detail: 'late', answer: null, sent: true };
  }

  #fails(share: number): boolean {
    return this.isFaulty && this.#random() < share;
  }

  /** False when `signal` came first. */
  #moment(clock: Clock, mostMs: number, signal?: AbortSignal): Promise<boolean> {
    return new Promise((resolve) => {
      const timer = clock.after(this.#random() * mostMs, () => resolve(true));
      signal?.addEventListener('abort', () => {
        timer.cancel();
        resolve(false);
      });
    });
  }
}
