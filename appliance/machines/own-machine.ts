import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import type { RenderService } from '../../lib/index.ts';
import type { MachineReport, MachineStore } from '../../lib/internal.ts';
import type { Config } from '../config/config.ts';
import type { Logger } from '../support/log.ts';
import { VERSION } from '../support/version.ts';
import type { Comparison } from './comparison.ts';
import { settingsOf, shownLimitsOf } from './settings.ts';

const REPORT_MS = 5_000;
/** How long a stop waits for the database. */
const MOST_STOP_MS = 5_000;
/** Dead machines that have not been forgotten. */
const FORGOTTEN_AFTER_MS = 7 * 86_400_000;
const ID_BYTES = 4;

/** Reports the state of this process, and receives requests to drain it. */
export class OwnMachine {
  readonly #store: MachineStore;
  readonly #openStore: () => Promise<void>;
  readonly #service: RenderService;
  readonly #identity: Pick<
    MachineReport,
    'machineId' | 'name' | 'roles' | 'qualities' | 'version' | 'settings' | 'limits'
  >;
  readonly #told: (() => Promise<Record<string, string>>) | undefined;
  readonly #comparison: Comparison;
  readonly #logger: Logger;
  readonly #isDraining: () => boolean;
  readonly #drainRequested = Promise.withResolvers<void>();
  #timer: NodeJS.Timeout | undefined;
  #reporting: Promise<void> = Promise.resolve();
  #isReporting = false;
  #hasFailed = false;

  constructor(options: {
    store: MachineStore;
    /** Reopens the store: the service closes it when it stops or fails to start. */
    openStore: () => Promise<void>;
    service: RenderService;
    config: Config;
    /** What it tells beside its settings. */
    told?: (() => Promise<Record<string, string>>) | undefined;
    /** Learns what each report is answered. */
    comparison: Comparison;
    isDraining: () => boolean;
    logger: Logger;
  }) {
    const { config } = options;
    this.#store = options.store;
    this.#openStore = options.openStore;
    this.#service = options.service;
    this.#told = options.told;
    this.#comparison = options.comparison;
    this.#isDraining = options.isDraining;
    this.#logger = options.logger;
    this.#identity = {
      machineId: randomBytes(ID_BYTES).toString('hex'),
      name: config.machineName ?? hostname(),
      roles: config.roles,
      qualities: config.quality ?? null,
      version: VERSION,
      settings: settingsOf(config),
      limits: shownLimitsOf(config),
    };
  }

  get machineId(): string {
    return this.#identity.machineId;
  }

  /** Resolves when this machine is asked to finish its renders and exit. */
  get drainRequested(): Promise<void> {
    return this.#drainRequested.promise;
  }

  async start(): Promise<void> {
    if (this.#identity.roles.includes('upkeep')) await this.#store.removeUnseen(FORGOTTEN_AFTER_MS);
    await this.report();
    // While the database is away, a report takes longer than the time between two.
    this.#timer = setInterval(() => void (this.#isReporting || this.report()), REPORT_MS);
  }

  /** Removes it from the list after a normal end. Without the database, it is shown as dead. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    const removed = this.#reporting
      .then(() => this.#openStore())
      .then(() => this.#store.remove(this.machineId))
      .catch(() => {});
    const given = Promise.withResolvers<void>();
    const timer = setTimeout(given.resolve, MOST_STOP_MS);
    await Promise.race([removed, given.promise]);
    clearTimeout(timer);
  }

  /** One after the other: an older report must not replace a newer one. */
  report(): Promise<void> {
    this.#reporting = this.#reporting.then(() => this.#report());
    return this.#reporting;
  }

  async #report(): Promise<void> {
    this.#isReporting = true;
    const { ready, problems, workers, warmWorkers, running } = this.#service.status();
    const isStarting = problems.some(({ part }) => part === 'service');
    const state = this.#isDraining() ? 'draining' : ready ? 'ready' : isStarting ? 'starting' : 'not ready';
    try {
      const orders = await this.#store.report({
        ...this.#identity,
        ...(this.#told && { limits: { ...this.#identity.limits, ...(await this.#told()) } }),
        state,
        workers,
        busyWorkers: running,
        warmWorkers,
      });
      this.#comparison.note(orders);
      if (orders.mustDrain) this.#drainRequested.resolve();
      if (this.#hasFailed) this.#logger.info({}, 'This machine reports to the others again.');
      this.#hasFailed = false;
    } catch (err) {
      if (!this.#hasFailed)
        this.#logger.warn({ err }, 'This machine could not report to the others; retrying.');
      this.#hasFailed = true;
    } finally {
      this.#isReporting = false;
    }
  }
}
