import { ScenepressError } from '../base/errors.ts';
import type { MasterKey } from './master-key.ts';

/** One step of re-encrypting all sealed secrets. */
export interface ResealStep {
  /** Re-encrypts a secret; returns its argument when that is not needed. */
  reseal: (sealed: string) => string;
  /** Where the previous step ended; undefined: start at the beginning. */
  from?: string | undefined;
  /** Maximum number of replacements. */
  limit: number;
}

/** The result of a {@link ResealStep}. */
export interface ResealedStep {
  /** Number of secrets that were sealed again. */
  replaced: number;
  /** Where to continue; undefined: done, except for secrets written meanwhile. */
  next: string | undefined;
}

/** The owners of sealed secrets. */
export interface SealedSecrets {
  /** The prefixes of API keys, which are safe to show. */
  keyPrefixes: string[];
  /** Number of jobs with their own secret. */
  jobs: number;
  /** Number of accounts with a second factor. */
  accounts: number;
}

/** Counts the sealed secrets of a data folder and, with a master key, checks that it decrypts all of them. */
export class SecretsCheck {
  readonly found: SealedSecrets = { keyPrefixes: [], jobs: 0, accounts: 0 };
  readonly #masterKey: MasterKey | undefined;
  #undecryptable = 0;

  constructor(masterKey: MasterKey | undefined) {
    this.#masterKey = masterKey;
  }

  get count(): number {
    return this.found.keyPrefixes.length + this.found.jobs + this.found.accounts;
  }

  addKey({ prefix, webhookSecretSealed }: { prefix: string; webhookSecretSealed: string }): void {
    this.found.keyPrefixes.push(prefix);
    this.#try(webhookSecretSealed);
  }

  addJob({ webhookSecretSealed }: { webhookSecretSealed?: string }): void {
    if (webhookSecretSealed === undefined) return;
    this.found.jobs += 1;
    this.#try(webhookSecretSealed);
  }

  addAccount({ totpSecretSealed }: { totpSecretSealed?: string }): void {
    if (totpSecretSealed === undefined) return;
    this.found.accounts += 1;
    this.#try(totpSecretSealed);
  }

  /** Error: `master_key` when the master key does not decrypt all secrets. */
  assertDecrypts(): void {
    if (this.#undecryptable > 0)
      throw wrongKey(`it decrypts ${this.count - this.#undecryptable} of ${this.count} secrets`);
  }

  #try(sealed: string): void {
    if (this.#masterKey && !this.#masterKey.decrypts(sealed)) this.#undecryptable += 1;
  }
}

/** The error for a master key that does not belong to a backup. */
export function wrongKey(reason: string): ScenepressError {
  return new ScenepressError(
    'master_key',
    `The master key is not the one that the secrets in this backup are encrypted with: ${reason}. Nothing was ` +
      'restored. A backup needs the key of its time; `scenepress master-key rotate` keeps former ones in the data folder, ' +
      'as master.key.until-….',
  );
}
