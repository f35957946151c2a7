import { type Accounts, type ApiKeys, isoTime, type KeyUseStore, ScenepressError } from '../../lib/index.ts';
import type { AdministrationParts } from './administration.ts';
import { check, keyRequest, webhookUrl } from './administration-requests.ts';
import { type KeyInfo, keyInfo, type NewKey } from './administration-views.ts';

/** API keys and their webhooks. Requests and answers are plain data. */
export class KeyAdministration {
  readonly #accounts: Accounts;
  readonly #keys: ApiKeys;

  readonly #uses: KeyUseStore;

  constructor({ accounts, keys, place }: Pick<AdministrationParts, 'accounts' | 'keys' | 'place'>) {
    this.#uses = place.keyUseStore;
    this.#accounts = accounts;
    this.#keys = keys;
  }

  async create(request: { account: string; name: string; webhookUrl?: string | undefined }): Promise<NewKey> {
    const { name, webhookUrl } = check(keyRequest, { name: request.name, webhookUrl: request.webhookUrl });
    const account = await this.#accounts.find(request.account);
    const { record, key, webhookSecret } = await this.#keys.mint({
      accountId: account.accountId,
      name,
      webhookUrl,
    });
    return { ...keyInfo(record, account.email), key, webhookSecret };
  }

  async list(request: { account?: string | undefined }): Promise<KeyInfo[]> {
    const one = request.account === undefined ? undefined : await this.#accounts.find(request.account);
    const accounts = one ? [one] : await Array.fromAsync(this.#accounts.all());
    const emails = new Map(accounts.map(({ accountId, email }) => [accountId, email]));
    const keys = await Array.fromAsync(this.#keys.all(one ? { accountId: one.accountId } : {}));
    const uses = await this.#uses.lastKeyUses(keys.map(({ keyId }) => keyId));
    const lastUsed = new Map(uses.map(({ keyId, usedAtMs }) => [keyId, usedAtMs]));
    return keys.flatMap((key) => {
      const email = emails.get(key.accountId);
      return email === undefined ? [] : [keyInfo(key, email, lastUsed.get(key.keyId))];
    });
  }

  /** Error: `not_found`. */
  async show({ keyId }: { keyId: string }): Promise<KeyInfo> {
    for await (const key of this.#keys.all()) {
      if (key.keyId !== keyId) continue;
      const { email } = await this.#accounts.find(key.accountId);
      const [use] = await this.#uses.lastKeyUses([keyId]);
      return keyInfo(key, email, use?.usedAtMs);
    }
    throw new ScenepressError('not_found', `There is no key ${keyId.slice(0, 80)}.`);
  }

  async revoke({ keyId }: { keyId: string }): Promise<{ keyId: string; revokedAt: string }> {
    const { revokedAtMs } = await this.#keys.revoke(keyId);
    return { keyId, revokedAt: isoTime(revokedAtMs ?? 0) };
  }

  /** Replaces the webhook secret of a key; the new one is shown only once. */
  async rotateSecret({ keyId }: { keyId: string }): Promise<{ keyId: string; webhookSecret: string }> {
    const { webhookSecret } = await this.#keys.rotateSecret(keyId);
    return { keyId, webhookSecret };
  }

  /** Sets the webhook URL of future jobs whose request names none; null: none. */
  async setWebhook(request: {
    keyId: string;
    webhookUrl: string | null;
  }): Promise<{ keyId: string; webhookUrl: string | null }> {
    const url = check(webhookUrl, request.webhookUrl) as string | null;
    const record = await this.#keys.setWebhookUrl(request.keyId, url);
    return { keyId: record.keyId, webhookUrl: record.webhookUrl };
  }
}
