import assert from 'node:assert/strict';
import { ScenepressError } from '../base/errors.ts';
import type { ApiKeys } from '../keys/api-keys.ts';
import type { MasterKeys } from '../keys/master-keys.ts';
import type { DeliveryRecord } from '../storage/delivery.ts';
import type { Storage } from '../storage/storage.ts';
import type { OutboundOptions } from './outbound.ts';

/** Secrets re-encrypted per transaction, which then takes a few milliseconds. */
const RESEALED_AT_ONCE = 100;

/** The job of a webhook to be signed. */
export interface WebhookJob {
  /** The job whose outcome is sent. */
  jobId: string;
  /** Its owner. */
  owner: string;
  /** The API key that enqueued it; null: none. */
  keyId: string | null;
}

/** Options of webhooks. */
export interface WebhookOptions extends Omit<OutboundOptions, 'timeoutMs'> {
  /** Returns the signing secret of a job's webhook; called for each attempt; null when there is none. */
  secretOf?: (job: WebhookJob) => Promise<string | null> | string | null;
  /** Encrypt the secrets of jobs; default: the master keys of the data folder. */
  masterKeys?: MasterKeys;
  /**
   * Concurrent requests. Default 256. An owner may start one more only while it has fewer running than are free: a
   * single owner gets almost half of them.
   */
  concurrency?: number;
  /** Concurrent requests per owner and host, while the host answers quickly. Default 8. */
  concurrencyPerHost?: number;
  /** Concurrent requests per owner to all hosts that are not known to answer quickly. Default 16. */
  concurrencyUnproven?: number;
}

/** What has master keys, such as a data folder. */
export interface MasterKeySource {
  masterKeys(): Promise<MasterKeys>;
}

/** Provides the signing secrets of webhooks: the job's own, or that of its API key. */
export class WebhookSecrets {
  readonly #options: WebhookOptions;
  readonly #folder: MasterKeySource | undefined;
  #masterKeys: MasterKeys | undefined;

  constructor(options: WebhookOptions, folder: MasterKeySource | undefined) {
    this.#options = options;
    this.#folder = folder;
  }

  /**
   * Loads the master keys to encrypt a job's own secret. Error: `invalid_request` when neither that nor `secretOf` is
   * available.
   */
  async prepare(secret: string | undefined): Promise<void> {
    if (secret !== undefined) {
      await this.#loadMasterKeys();
      return;
    }
    if (this.#options.secretOf) return;
    throw new ScenepressError(
      'invalid_request',
      'Webhooks are not configured: give `webhook: { url, secret }`, or RenderService `webhooks: { secretOf }`.',
    );
  }

  /** Encrypts a job's own secret, after {@link prepare}. Call it in the transaction that stores the secret. */
  seal(secret: string): string {
    assert(this.#masterKeys, 'prepare() is called before seal()');
    return this.#masterKeys.seal(secret);
  }

  async decrypt(sealed: string): Promise<string> {
    return (await this.#loadMasterKeys()).decrypt(sealed);
  }

  /** The current signing secret; null when there is none. */
  async of({ jobId, owner, keyId, secretSealed }: DeliveryRecord): Promise<string | null> {
    if (secretSealed !== undefined) return this.decrypt(secretSealed);
    return (await this.#options.secretOf?.({ jobId, owner, keyId })) ?? null;
  }

  /**
   * Re-encrypts secrets of jobs, deliveries and `apiKeys` that are sealed with the previous master key. Returns the
   * numbers for jobs and keys.
   */
  async resealAll(
    storage: Storage,
    apiKeys: ApiKeys | undefined,
    signal?: AbortSignal,
  ): Promise<{ jobs: number; keys: number }> {
    const total = { jobs: 0, keys: 0 };
    for (;;) {
      const keys = (await apiKeys?.reseal()) ?? 0;
      const { jobs, deliveries } = await this.#reseal(storage, signal);
      total.keys += keys;
      total.jobs += jobs;
      // Repeats until nothing is left: secrets sealed just before the master key changed may be stored after the
      // steps.
      if (keys + jobs + deliveries === 0) return total;
    }
  }

  async #reseal(
    storage: Storage,
    signal: AbortSignal | undefined,
  ): Promise<{ jobs: number; deliveries: number }> {
    const masterKeys = await this.#loadMasterKeys();
    const all = async (store: Pick<Storage, 'resealSecrets'>) => {
      let count = 0;
      for (let from: string | undefined; ; ) {
        signal?.throwIfAborted();
        const reseal = (sealed: string) => masterKeys.reseal(sealed);
        const { replaced, next } = await store.resealSecrets({ reseal, from, limit: RESEALED_AT_ONCE });
        count += replaced;
        if (next === undefined) return count;
        from = next;
      }
    };
    return { jobs: await all(storage), deliveries: await all(storage.deliveries) };
  }

  async #loadMasterKeys(): Promise<MasterKeys> {
    const loaded = this.#options.masterKeys ?? (await this.#folder?.masterKeys());
    if (!loaded) {
      throw new ScenepressError(
        'master_key',
        'Webhook secrets are stored encrypted: give RenderService `webhooks: { masterKeys }`.',
      );
    }
    this.#masterKeys = loaded;
    return loaded;
  }
}
