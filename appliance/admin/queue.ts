import type { RenderService } from '../../lib/index.ts';
import type { AdministrationParts } from './administration.ts';
import type { QueueInfo } from './administration-views.ts';

/** The job queue. Requests and answers are plain data. */
export class QueueAdministration {
  readonly #service: RenderService;

  constructor({ service }: Pick<AdministrationParts, 'service'>) {
    this.#service = service;
  }

  async show(): Promise<QueueInfo> {
    const { queuePausedAt: pausedAt, queued, running, workers, ready } = this.#service.status();
    return { pausedAt, queued, running, workers, ready };
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
