import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { ScenepressError } from '../base/errors.ts';
import type { Logger } from '../base/logger.ts';
import type { Random } from '../base/random.ts';
import { Leadership } from '../cluster/leadership.ts';
import type { SpareSpace } from '../files/spare-space.ts';
import { randomId } from '../model/ids.ts';
import type { ArtifactLinks, ArtifactUrl } from '../model/job-json.ts';
import type { Delivery } from '../storage/delivery.ts';
import type { Signals } from '../storage/signals.ts';
import type { Storage } from '../storage/storage.ts';
import type { Clock } from '../time/clock.ts';
import { deliveryOf } from './deliveries.ts';
import { DeliveryBook } from './delivery-book.ts';
import { DeliverySender } from './delivery-sender.ts';
import {
  assertOutboundOptions,
  type ExchangeResult,
  Outbound,
  type OutboundRequest,
  type Sends,
} from './outbound.ts';
import { OutboundThread } from './outbound-thread.ts';
import { type MasterKeySource, type WebhookOptions, WebhookSecrets } from './webhook-secrets.ts';

const DEFAULT_CONCURRENCY = 256;
const DEFAULT_CONCURRENCY_PER_HOST = 8;
const DEFAULT_CONCURRENCY_UNPROVEN = 16;

interface Options {
  options: WebhookOptions;
  storage: Storage;
  signals: Signals;
  /** Has the master key, unless the options do. */
  /** Of the service, if it has one: deliveries wait for space, and its master keys are the default. */
  dataFolder: (MasterKeySource & { spareSpace: Pick<SpareSpace, 'isShort' | 'on' | 'off'> }) | undefined;
  /** The base URL of artifact links, or a function that returns it. */
  assetUrl: string | (() => string) | undefined;
  /** Makes the links instead. Without both, webhooks are disabled. */
  artifactUrl?: ArtifactUrl | undefined;
  /** Sends requests; default: an {@link OutboundThread} of its own. */
  outbound?: OutsideSender | undefined;
  /** Returns false while no deliveries may be sent. Default: always true. */
  mayWork?: () => boolean;
  clock: Clock;
  random: Random;
  logger: Logger;
}

type OutsideSender = Sends & { start(): void; stop(): Promise<void> };

/**
 * The webhook components of a service. Makes the delivery book and the signing secrets; runs the sender while the
 * service runs and this process leads. Emits `delivery` for every recorded attempt.
 */
export class Webhooks extends EventEmitter<{ delivery: [delivery: Delivery] }> {
  /** Makes the links to artifacts in deliveries. */
  readonly links: () => ArtifactLinks;
  readonly book: DeliveryBook;
  readonly secrets: WebhookSecrets;
  readonly #options: Options;
  #outbound: OutsideSender | undefined;
  /** Used while no deliveries are sent; runs in this thread. */
  #outboundHere: Outbound | undefined;
  #sender: DeliverySender | undefined;
  #leadership: Leadership | undefined;
  #stopListening = () => {};

  constructor(options: Options) {
    super();
    const { storage, clock, random, assetUrl = '', artifactUrl } = options;
    this.#options = options;
    this.secrets = new WebhookSecrets(options.options, options.dataFolder);
    this.links = () => artifactUrl ?? (typeof assetUrl === 'string' ? assetUrl : assetUrl());
    this.book = new DeliveryBook({ storage, clock, random, links: this.links });
  }

  /** Error: `invalid_request` for invalid request options. */
  assertOptions(): void {
    assertOutboundOptions(this.#options.options);
  }

  /** Starts to send due deliveries. Call it after {@link assertOptions}. */
  start(): void {
    assert(!this.#outbound, 'stopped');
    const { options, storage, signals, clock, logger, dataFolder, mayWork = () => true } = this.#options;
    this.#outbound = this.#options.outbound ?? new OutboundThread({ options, clock, logger });
    this.#outbound.start();
    // The limits per host are those of one process.
    const holder = randomId('sender', this.#options.random);
    const leadership = new Leadership({
      storage,
      task: 'sender',
      holder,
      mayLead: mayWork,
      clock,
      logger,
      onLead: this.#wake,
    });
    this.#leadership = leadership;
    this.#sender = new DeliverySender({
      store: storage.deliveries,
      book: this.book,
      outbound: this.#outbound,
      secretOf: (delivery) => this.secrets.of(delivery),
      mayBegin: () => leadership.isLeader && mayWork() && !dataFolder?.spareSpace.isShort,
      clock,
      logger,
      concurrency: options.concurrency ?? DEFAULT_CONCURRENCY,
      concurrencyPerHost: options.concurrencyPerHost ?? DEFAULT_CONCURRENCY_PER_HOST,
      concurrencyUnproven: options.concurrencyUnproven ?? DEFAULT_CONCURRENCY_UNPROVEN,
    });
    this.#sender.on('attempt', (delivery) => this.emit('delivery', deliveryOf(delivery)));
    this.#sender.start();
    leadership.start();
    const stopListening = signals.subscribe(({ kind }) => {
      if (kind === 'due') this.#wake();
    });
    dataFolder?.spareSpace.on('available', this.#wake);
    this.#stopListening = () => {
      stopListening();
      dataFolder?.spareSpace.off('available', this.#wake);
    };
  }

  /** Sends a request with the protections of deliveries, also while no deliveries are sent. */
  post(request: OutboundRequest, signal: AbortSignal): Promise<ExchangeResult> {
    const { options, clock } = this.#options;
    if (this.#outbound) return this.#outbound.post(request, signal);
    // Kept: loading its certificates takes longer than a request.
    this.#outboundHere ??= new Outbound(options, clock);
    return this.#outboundHere.post(request, signal);
  }

  /** Notifies all processes that a delivery is due. */
  notifyDue(): void {
    this.#options.signals.publish({ kind: 'due' });
  }

  readonly #wake = (): void => this.#sender?.wake();

  /** Starts no more attempts. Running ones may continue for `graceMs`, then they are aborted and recorded. */
  async stop({ graceMs }: { graceMs: number }): Promise<void> {
    this.#stopListening();
    await this.#sender?.stop({ graceMs });
    this.#sender = undefined;
    await this.#leadership?.stop();
    this.#leadership = undefined;
    await this.#outbound?.stop();
    this.#outbound = undefined;
  }

  /**
   * Checks that a webhook can be signed and sent; `secret`: the job's own. Error: `invalid_request` when webhooks are
   * not set up.
   */
  async prepare(secret: string | undefined): Promise<void> {
    if (this.#options.assetUrl === undefined && this.#options.artifactUrl === undefined) {
      throw new ScenepressError(
        'invalid_request',
        'Webhooks are not configured: RenderService was given no `assetUrl` or `artifactUrl`.',
      );
    }
    await this.secrets.prepare(secret);
  }
}
