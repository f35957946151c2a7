import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import type { MachineReport, MachineStore, RenderService } from '../../lib/index.ts';
import type { Config } from '../config/config.ts';
import type { Logger } from '../support/log.ts';
import { VERSION } from '../version.ts';

const REPORT_MS = 5_000;
/** Dead machines that have not been forgotten. */
const FORGOTTEN_AFTER_MS = 7 * 86_400_000;
const ID_BYTES = 4;

/** Reports the state of this process, and receives requests to drain it. */
export class OwnMachine {
  readonly #store: MachineStore;
  readonly #service: RenderService;
  readonly #identity: Pick<MachineReport, 'machineId' | 'name' | 'roles' | 'qualities' | 'version'>;
  readonly #logger: Logger;
  readonly #isDraining: () => boolean;
  readonly #drainRequested = Promise.withResolvers<void>();
  #timer: NodeJS.Timeout | undefined;
  #reporting: Promise<void> = Promise.resolve();
  #hasFailed = false;

  constructor(options: {
    store: MachineStore;
    service: RenderService;
    config: Pick<Config, 'machineName' | 'roles' | 'quality'>;
    isDraining: () => boolean;
    logger: Logger;
  }) {
    const { config } = options;
    this.#store = options.store;
    this.#service = options.service;
    this.#isDraining = options.isDraining;
    this.#logger = options.logger;
    this.#identity = {
      machineId: randomBytes(ID_BYTES).toString('hex'),
      name: config.machineName ?? hostname(),
      roles: config.roles,
      qualities: config.quality ?? null,
      version: VERSION,
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
    this.#timer = setInterval(() => void this.report(), REPORT_MS);
  }

  /** Removes it from the list after a normal end. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#reporting;
    await this.#store.remove(this.machineId).catch(() => {}); // Shown as dead; a restart of the database may be why.
  }

  /** One after the other: an older report must not replace a newer one. */
  report(): Promise<void> {
    this.#reporting = this.#reporting.then(() => this.#report());
    return this.#reporting;
  }

  async #report(): Promise<void> {
    const { ready, problems, workers, warmWorkers, running } = this.#service.status();
    const isStarting = problems.some(({ part }) => part === 'service');
    const state = this.#isDraining() ? 'draining' : ready ? 'ready' : isStarting ? 'starting' : 'not ready';
    try {
      const { mustDrain } = await this.#store.report({
        ...this.#identity,
        state,
        workers,
        busyWorkers: running,
        warmWorkers,
      });
      if (mustDrain) this.#drainRequested.resolve();
      this.#hasFailed = false;
    } catch (err) {
      if (!this.#hasFailed)
        this.#logger.warn({ err }, 'This machine could not report to the others; retrying.');
      this.#hasFailed = true;
    }
  }
}
