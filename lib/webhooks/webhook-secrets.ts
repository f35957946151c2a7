import assert from 'node:assert/strict';
import { ScenepressError } from '../errors.ts';
import { loadMasterKey, type MasterKey } from '../keys/master-key.ts';
import type { DeliveryRecord } from './delivery.ts';
import type { OutboundOptions } from './outbound.ts';

/** The job whose outcome is to be signed. */
export interface WebhookJob {
  jobId: string;
  owner: string;
  keyId: string | null;
}

/** How outcomes get to webhooks. */
export interface WebhookOptions extends Omit<OutboundOptions, 'timeoutMs'> {
  /** The secret that signs a job's outcome, asked at each attempt; null when there is none (any more). */
  secretOf?: (job: WebhookJob) => Promise<string | null> | string | null;
  /** Encrypts secrets that come with jobs; default: the master key of the folder. */
  masterKey?: MasterKey;
  /** Requests under way at the same time. Default 256. */
  concurrency?: number;
  /** Of these to one host, while it answers quickly. Default 8. */
  concurrencyPerHost?: number;
}

/** Finds what webhooks are signed with: a secret that came with the job, or its key's. */
export class WebhookSecrets {
  readonly #options: WebhookOptions;
  readonly #folder: string | undefined;
  #masterKey: Promise<MasterKey> | undefined;

  constructor(options: WebhookOptions, folder: string | undefined) {
    this.#options = options;
    this.#folder = folder;
  }

  /** Encrypts a job's own secret; undefined when it has none, and there are others to sign with. */
  async seal(secret: string | undefined): Promise<string | undefined> {
    if (secret !== undefined) {
      assert(secret.length > 0, 'a webhook secret is not empty');
      return (await this.#loadMasterKey()).seal(secret);
    }
    if (this.#options.secretOf) return undefined;
    throw new ScenepressError(
      'invalid_request',
      'Webhooks are not set up here: give `webhook: { url, secret }`, or RenderService `webhooks: { secretOf }`.',
    );
  }

  /** The secret to sign with now; null when there is none. */
  async of({ jobId, owner, keyId, secretSealed }: DeliveryRecord): Promise<string | null> {
    if (secretSealed !== undefined) return (await this.#loadMasterKey()).open(secretSealed);
    return (await this.#options.secretOf?.({ jobId, owner, keyId })) ?? null;
  }

  async #loadMasterKey(): Promise<MasterKey> {
    if (this.#options.masterKey) return this.#options.masterKey;
    if (this.#folder === undefined) {
      throw new ScenepressError(
        'master_key',
        'A webhook secret is kept encrypted: give RenderService `webhooks: { masterKey }`.',
      );
    }
    this.#masterKey ??= loadMasterKey(this.#folder).catch((error: unknown) => {
      this.#masterKey = undefined;
      throw error;
    });
    return this.#masterKey;
  }
}
