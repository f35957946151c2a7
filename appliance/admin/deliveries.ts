import type { Accounts, ApiKeys, Delivery, RenderService } from '../../lib/index.ts';
import {
  type DeliveryDetails,
  type DeliveryState,
  ScenepressError,
  type SentAgain,
  type WebhookTest,
} from '../../lib/internal.ts';
import type { AdministrationParts } from './administration.ts';
import { check, deliveryState, listLimit, optionalTime, time } from './administration-requests.ts';

/** Webhook deliveries. Requests and answers are plain data. */
export class DeliveryAdministration {
  readonly #accounts: Accounts;
  readonly #keys: ApiKeys;
  readonly #service: RenderService;

  constructor({ accounts, keys, service }: Pick<AdministrationParts, 'accounts' | 'keys' | 'service'>) {
    this.#accounts = accounts;
    this.#keys = keys;
    this.#service = service;
  }

  /**
   * Newest first; all, or those of an account, a job, a key or a state. `before`: the last delivery of the previous
   * page.
   */
  async list(request: {
    account?: string | undefined;
    jobId?: string | undefined;
    keyId?: string | undefined;
    state?: DeliveryState | undefined;
    limit?: number | undefined;
    before?: string | undefined;
  }): Promise<Delivery[]> {
    const { account, jobId, keyId, before } = request;
    const limit = check(listLimit, request.limit);
    const state = check(deliveryState, request.state) as DeliveryState | undefined;
    return this.#service.deliveries.list({
      ...(await this.#ownerOf(account)),
      ...(jobId !== undefined && { jobId }),
      ...(keyId !== undefined && { keyId }),
      ...(state !== undefined && { state }),
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

  /** Sends a waiting delivery within a second, instead of after its delay. */
  async sendNow({ deliveryId }: { deliveryId: string }): Promise<Delivery> {
    return this.#service.deliveries.sendNow(deliveryId);
  }

  /** Makes no further attempt of a waiting delivery. */
  async giveUp({ deliveryId }: { deliveryId: string }): Promise<Delivery> {
    return this.#service.deliveries.giveUp(deliveryId);
  }

  /**
   * Sends the failed deliveries again that were created from `since` until `until` (ISO 8601; default: now), at most
   * 1000. Leaves out those whose job has a newer delivery: a repeated request with the same times sends nothing twice.
   */
  async sendFailedAgain(request: {
    account?: string | undefined;
    keyId?: string | undefined;
    since: string;
    until?: string | undefined;
  }): Promise<SentAgain> {
    const { account, keyId } = request;
    const untilMs = check(optionalTime, request.until);
    return this.#service.deliveries.sendFailedAgain({
      sinceMs: check(time, request.since),
      ...(untilMs !== undefined && { untilMs }),
      ...(await this.#ownerOf(account)),
      ...(keyId !== undefined && { keyId }),
    });
  }

  /**
   * Sends a test event, signed with the secret of a key, to a URL (default: that of the key), and shows the steps of
   * its verification.
   */
  async sendTest({ keyId, url }: { keyId: string; url?: string | undefined }): Promise<WebhookTest> {
    const key = await this.#keys.find(keyId);
    const secret = await this.#keys.webhookSecretOf(keyId);
    if (!key || secret === null)
      throw new ScenepressError('not_found', `There is no key ${keyId.slice(0, 80)}.`);
    const to = url ?? key.webhookUrl;
    if (to === null)
      throw new ScenepressError('invalid_request', 'The key has no default webhook URL. Name a URL.');
    return this.#service.deliveries.sendTest({ owner: key.accountId, url: to, secret });
  }

  async #ownerOf(account: string | undefined): Promise<{ owner?: string }> {
    return account === undefined ? {} : { owner: (await this.#accounts.find(account)).accountId };
  }
}
