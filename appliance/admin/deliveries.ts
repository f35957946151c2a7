import type { Accounts, Delivery, DeliveryDetails, RenderService } from '../../lib/index.ts';
import type { AdministrationParts } from './administration.ts';
import { check, listLimit } from './administration-requests.ts';

/** Webhook deliveries. Requests and answers are plain data. */
export class DeliveryAdministration {
  readonly #accounts: Accounts;
  readonly #service: RenderService;

  constructor({ accounts, service }: Pick<AdministrationParts, 'accounts' | 'service'>) {
    this.#accounts = accounts;
    this.#service = service;
  }

  /** Newest first; all, or those of an account or a job. `before`: the last delivery of the previous page. */
  async list(request: {
    account?: string | undefined;
    jobId?: string | undefined;
    limit?: number | undefined;
    before?: string | undefined;
  }): Promise<Delivery[]> {
    const { account, jobId, before } = request;
    const limit = check(listLimit, request.limit);
    return this.#service.deliveries.list({
      ...(account !== undefined && { owner: (await this.#accounts.find(account)).accountId }),
      ...(jobId !== undefined && { jobId }),
      ...(before !== undefined && { before }),
      limit,
    });
  }

  async show({ deliveryId }: { deliveryId: string }): Promise<DeliveryDetails> {
    return this.#service.deliveries.get(deliveryId);
  }

  /** Creates a new delivery; a running server sends it within a second. */
  async sendAgain({ deliveryId }: { deliveryId: string }): Promise<Delivery> {
    return this.#service.deliveries.sendAgain(deliveryId);
  }
}
