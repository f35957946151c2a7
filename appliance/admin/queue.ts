import type { RenderService } from '../../lib/index.ts';
import type { MachineStore } from '../../lib/internal.ts';
import type { AdministrationParts } from './administration.ts';
import { machineInfos, missingWorkers } from './machines.ts';
import type { QueueInfo } from './service-views.ts';

/** The job queue. Requests and answers are plain data. */
export class QueueAdministration {
  readonly #service: RenderService;
  readonly #machines: MachineStore | undefined;
  readonly #renderTimeoutSeconds: number;

  constructor({
    service,
    place,
    renderTimeoutSeconds,
  }: Pick<AdministrationParts, 'service' | 'place' | 'renderTimeoutSeconds'>) {
    this.#service = service;
    this.#renderTimeoutSeconds = renderTimeoutSeconds;
    this.#machines = place.machineStore;
  }

  async show(): Promise<QueueInfo> {
    const {
      queuePausedAt: pausedAt,
      queued,
      running,
      workers,
      ready,
      runningEverywhere,
    } = this.#service.status();
    const renderTimeoutSeconds = this.#renderTimeoutSeconds;
    const own = { pausedAt, queued, running, workers, ready, renderTimeoutSeconds, warnings: [] };
    if (!this.#machines) return own;
    const alive = machineInfos(await this.#machines.list()).filter(({ state }) => state !== 'dead');
    const rendering = alive.filter(({ roles }) => roles.includes('worker'));
    return {
      ...own,
      running: runningEverywhere,
      workers: rendering.reduce((sum, machine) => sum + machine.workers, 0),
      ready: rendering.some(({ state }) => state === 'ready'),
      warnings: alive.length === 0 ? [] : missingWorkers(alive),
    };
  }

  /** Starts no more renders, even after a restart. Running renders continue; jobs are still accepted. */
  async pause(): Promise<QueueInfo> {
    await this.#service.pauseQueue();
    return this.show();
  }

  async resume(): Promise<QueueInfo> {
    await this.#service.resumeQueue();
    return this.show();
  }
}
