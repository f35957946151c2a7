import type { Account, Accounts, ApiKeys } from '../../lib/index.ts';
import {
  isoTime,
  isScenepressError,
  type KeyRecord,
  type KeyUseStore,
  ScenepressError,
} from '../../lib/internal.ts';
import type { AdministrationParts } from './administration.ts';
import { check, keyRequest, listLimit, placeInList, webhookUrl } from './administration-requests.ts';
import { type KeyInfo, type KeyPage, keyInfo, type NewKey } from './administration-views.ts';
import { expiryOf } from './key-expiry.ts';
import { pageOf } from './pages.ts';

/** Most keys of an account that are not revoked. */
const MOST_LIVE_KEYS = 100;
/** Most keys of an account, including revoked ones. */
const MOST_KEYS = 1000;

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

  /**
   * `scopes`: default all. `expires`: the last day of its use (UTC), such as `2027-01-31`, or a duration, such as `90d`;
   * default never.
   */
  async create(request: {
    account: string;
    name: string;
    webhookUrl?: string | undefined;
    scopes?: readonly string[] | undefined;
    expires?: string | undefined;
  }): Promise<NewKey> {
    const { account: _, ...rest } = request;
    const { name, webhookUrl, scopes, expires } = check(keyRequest, rest);
    const expiresAtMs = expires === null ? null : expiryOf(expires, Date.now());
    const account = await this.#accounts.find(request.account);
    await this.#assertFew(account.accountId);
    const { record, key, webhookSecret } = await this.#keys.mint({
      accountId: account.accountId,
      name,
      webhookUrl,
      scopes,
      expiresAtMs,
    });
    // A deletion that began meanwhile may have listed the keys before this one was there.
    await this.#accounts.find(account.accountId).catch(async (error: unknown) => {
      await this.#keys.forget(record.keyId);
      throw error;
    });
    return { ...this.#infoOf(record, account.email), key, webhookSecret };
  }

  /** Limits the keys of an account: revoked keys are kept, in memory without a database. */
  async #assertFew(accountId: string): Promise<void> {
    let [live, all] = [0, 0];
    for await (const key of this.#keys.all({ accountId })) {
      all += 1;
      if (this.#keys.stateOf(key) === 'live') live += 1;
    }
    if (live >= MOST_LIVE_KEYS)
      throw new ScenepressError('conflict', `The account has ${live} keys. Revoke one that is not used.`);
    if (all >= MOST_KEYS)
      throw new ScenepressError('conflict', `The account has had ${all} keys, and can have no more.`);
  }

  /** Oldest first. `live`: without revoked and expired ones. `after`: the last key of the previous page. */
  async list(
    request: {
      account?: string | undefined;
      live?: boolean | undefined;
      limit?: number | undefined;
      after?: string | undefined;
    } = {},
  ): Promise<KeyPage> {
    const limit = check(listLimit, request.limit);
    const after = check(placeInList, request.after);
    const one = request.account === undefined ? undefined : await this.#accounts.find(request.account);
    const live = request.live === true;
    for (let place = after; ; ) {
      const found = await this.#keys.list({
        ...(one && { accountId: one.accountId }),
        ...(place !== undefined && { after: place }),
        live,
        limit: limit + 1,
      });
      const { rows, next } = pageOf(found, limit, ({ keyId }) => keyId);
      const keys = await this.#infosOf(rows, one ? [one] : []);
      if (keys.length > 0 || next === null) return { keys, next };
      place = next;
    }
  }

  #infoOf(key: KeyRecord, email: string, lastUsedAtMs?: number): KeyInfo {
    return keyInfo(key, { account: email, state: this.#keys.stateOf(key), lastUsedAtMs });
  }

  /** Keys without the forgotten ones of deleted accounts. `known`: accounts that have been read. */
  async #infosOf(rows: KeyRecord[], known: Account[]): Promise<KeyInfo[]> {
    const emails = await this.#emailsOf(rows, known);
    const uses = await this.#uses.lastKeyUses(rows.map(({ keyId }) => keyId));
    const lastUsed = new Map(uses.map(({ keyId, usedAtMs }) => [keyId, usedAtMs]));
    return rows.flatMap((key) => {
      const email = emails.get(key.accountId) ?? '';
      return email === '' ? [] : [this.#infoOf(key, email, lastUsed.get(key.keyId))];
    });
  }

  /** The addresses of the accounts of keys, by id. `known`: accounts that have been read. */
  async #emailsOf(keys: KeyRecord[], known: Account[]): Promise<Map<string, string>> {
    const emails = new Map(known.map(({ accountId, email }) => [accountId, email]));
    const others = new Set(keys.map(({ accountId }) => accountId).filter((id) => !emails.has(id)));
    for (const accountId of others) {
      const account = await this.#accounts.find(accountId, { deleted: true }).catch(unlessMissing);
      if (account) emails.set(accountId, account.email);
    }
    return emails;
  }

  /** Error: `not_found`. */
  async show({ keyId }: { keyId: string }): Promise<KeyInfo> {
    const key = await this.#keys.find(String(keyId));
    if (!key) throw new ScenepressError('not_found', `There is no key ${String(keyId).slice(0, 80)}.`);
    const { email } = await this.#accounts.find(key.accountId);
    const [use] = await this.#uses.lastKeyUses([key.keyId]);
    return this.#infoOf(key, email, use?.usedAtMs);
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

function unlessMissing(error: unknown): undefined {
  if (!isScenepressError(error, 'not_found')) throw error;
}
