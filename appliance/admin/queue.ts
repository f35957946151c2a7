import type { RenderService } from '../../lib/index.ts';
import type { AdministrationParts } from './administration.ts';
import type { QueueInfo } from './administration-views.ts';

/** The queue of jobs that wait. Requests and answers are plain data. */
export class QueueAdministration {
  readonly #service: RenderService;

  constructor({ service }: Pick<AdministrationParts, 'service'>) {
    this.#service = service;
  }

  async show(): Promise<QueueInfo> {
    const { queuePausedAt: pausedAt, queued, running, workers, ready } = this.#service.status();
    return { pausedAt, queued, running, workers, ready };
  }

  /** Begins no more renders, through restarts too. Those that run go on; jobs are taken on. */
  async pause(): Promise<QueueInfo> {
    await this.#service.pauseQueue();
    return this.show();
  }

  async resume(): Promise<QueueInfo> {
    await this.#service.resumeQueue();
    return this.show();
  }
}
