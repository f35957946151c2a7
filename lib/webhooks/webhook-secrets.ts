import assert from 'node:assert/strict';
import type { DataFolder } from '../data-folder/data-folder.ts';
import { ScenepressError } from '../errors.ts';
import type { ApiKeys } from '../keys/api-keys.ts';
import type { MasterKeys } from '../keys/master-keys.ts';
import type { Storage } from '../storage/storage.ts';
import type { DeliveryRecord } from './delivery.ts';
import type { OutboundOptions } from './outbound.ts';

/** So many secrets are sealed again in one transaction: it takes a few milliseconds. */
const RESEALED_AT_ONCE = 100;

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
  /** Encrypt secrets that come with jobs; default: the master keys of the folder. */
  masterKeys?: MasterKeys;
  /**
   * Requests under way at the same time. Default 256. One owner begins more only while it has fewer under way than are
   * free: alone it gets almost half of them, and there is room left for other owners.
   */
  concurrency?: number;
  /** Of these one owner's to one host, while it answers quickly. Default 8. */
  concurrencyPerHost?: number;
  /** Of these one owner's to all hosts that are not known to answer quickly. Default 16. */
  concurrencyUnproven?: number;
}

/** Finds what webhooks are signed with: a secret that came with the job, or its key's. */
export class WebhookSecrets {
  readonly #options: WebhookOptions;
  readonly #folder: DataFolder | undefined;
  #masterKeys: MasterKeys | undefined;

  constructor(options: WebhookOptions, folder: DataFolder | undefined) {
    this.#options = options;
    this.#folder = folder;
  }

  /** Sees to it that a job's own secret can be sealed, or, when it has none, that there are others to sign with. */
  async prepare(secret: string | undefined): Promise<void> {
    if (secret !== undefined) {
      assert(secret.length > 0, 'a webhook secret is not empty');
      await this.#loadMasterKeys();
      return;
    }
    if (this.#options.secretOf) return;
    throw new ScenepressError(
      'invalid_request',
      'Webhooks are not set up here: give `webhook: { url, secret }`, or RenderService `webhooks: { secretOf }`.',
    );
  }

  /** Encrypts a job's own secret, which was prepared. To be called in the transaction that writes it down. */
  seal(secret: string): string {
    assert(this.#masterKeys, 'what is sealed was prepared');
    return this.#masterKeys.seal(secret);
  }

  async open(sealed: string): Promise<string> {
    return (await this.#loadMasterKeys()).open(sealed);
  }

  /** The secret to sign with now; null when there is none. */
  async of({ jobId, owner, keyId, secretSealed }: DeliveryRecord): Promise<string | null> {
    if (secretSealed !== undefined) return this.open(secretSealed);
    return (await this.#options.secretOf?.({ jobId, owner, keyId })) ?? null;
  }

  /**
   * Seals with the current master key what is sealed with the one before: secrets of jobs, deliveries and `apiKeys`.
   * Answers with the number of those of jobs and keys.
   */
  async resealAll(storage: Storage, apiKeys: ApiKeys | undefined): Promise<{ jobs: number; keys: number }> {
    const total = { jobs: 0, keys: 0 };
    for (;;) {
      const keys = (await apiKeys?.reseal()) ?? 0;
      const { jobs, deliveries } = await this.#reseal(storage);
      total.keys += keys;
      total.jobs += jobs;
      // Some may have been sealed just before the master key changed, and written down behind the steps.
      if (keys + jobs + deliveries === 0) return total;
    }
  }

  async #reseal(storage: Storage): Promise<{ jobs: number; deliveries: number }> {
    const masterKeys = await this.#loadMasterKeys();
    const all = async (store: Pick<Storage, 'resealSecrets'>) => {
      let count = 0;
      for (let from: string | undefined; ; ) {
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
        'A webhook secret is kept encrypted: give RenderService `webhooks: { masterKeys }`.',
      );
    }
    this.#masterKeys = loaded;
    return loaded;
  }
}
