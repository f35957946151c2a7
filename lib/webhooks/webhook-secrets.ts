import assert from 'node:assert/strict';
import type { DataFolder } from '../data-folder.ts';
import { ScenepressError } from '../errors.ts';
import { loadMasterKey, type MasterKey } from '../keys/master-key.ts';
import type { Storage, Transaction } from '../storage/storage.ts';
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
  #masterKey: MasterKey | undefined;
  /** What secrets were sealed with before a rotation, for deliveries that were read just before it. */
  #formerMasterKey: MasterKey | undefined;

  constructor(options: WebhookOptions, folder: DataFolder | undefined) {
    this.#options = options;
    this.#folder = folder;
    this.#masterKey = options.masterKey;
  }

  /** Sees to it that a job's own secret can be sealed, or, when it has none, that there are others to sign with. */
  async prepare(secret: string | undefined): Promise<void> {
    if (secret !== undefined) {
      assert(secret.length > 0, 'a webhook secret is not empty');
      await this.#loadMasterKey();
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
    assert(this.#masterKey, 'what is sealed was prepared');
    return this.#masterKey.seal(secret);
  }

  async open(sealed: string): Promise<string> {
    const masterKey = await this.#loadMasterKey();
    const former = this.#formerMasterKey;
    return former?.opens(sealed) ? former.open(sealed) : masterKey.open(sealed);
  }

  /** The secret to sign with now; null when there is none. */
  async of({ jobId, owner, keyId, secretSealed }: DeliveryRecord): Promise<string | null> {
    if (secretSealed !== undefined) return this.open(secretSealed);
    return (await this.#options.secretOf?.({ jobId, owner, keyId })) ?? null;
  }

  /**
   * Seals the secrets of all jobs with another master key, in one transaction that `transact` makes. How many jobs there
   * are that have one.
   */
  async reseal(
    storage: Storage,
    masterKey: MasterKey,
    transact: (work: (tx: Transaction) => Promise<void>) => Promise<void>,
  ): Promise<number> {
    // Without one, nothing was sealed.
    const former = (await storage.anySealedSecret()) === undefined ? undefined : await this.#loadMasterKey();
    const before = this.#masterKey;
    let jobs = 0;
    try {
      await transact(async (tx) => {
        const current = former ?? this.#masterKey;
        const reseal = (sealed: string) => masterKey.seal((current as MasterKey).open(sealed));
        jobs = await storage.resealSecrets(tx, reseal);
        await storage.deliveries.resealSecrets(tx, reseal);
        // Here, because the next transaction may begin before this one is on disk.
        [this.#masterKey, this.#formerMasterKey] = [masterKey, current];
      });
    } catch (error) {
      [this.#masterKey, this.#formerMasterKey] = [before, undefined];
      throw error;
    }
    return jobs;
  }

  async #loadMasterKey(): Promise<MasterKey> {
    if (this.#masterKey) return this.#masterKey;
    const folder = this.#folder;
    if (!folder) {
      throw new ScenepressError(
        'master_key',
        'A webhook secret is kept encrypted: give RenderService `webhooks: { masterKey }`.',
      );
    }
    const loaded = await loadMasterKey(folder.path, { sealed: () => folder.anySealedSecret() });
    // Another may have loaded, or replaced it, meanwhile.
    this.#masterKey ??= loaded;
    return this.#masterKey;
  }
}
