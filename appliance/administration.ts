import Joi from 'joi';
import {
  type Account,
  type Accounts,
  type ApiKeys,
  type AuditReport,
  type BackupReport,
  type Balance,
  backUp,
  type DataFolder,
  type Deliveries,
  type Delivery,
  type DeliveryDetails,
  isoTime,
  type KeyRecord,
  type LedgerEntry,
  renderRequestSchema,
  ScenepressError,
  StoredLedger,
  type UnmeteredLedger,
} from '../lib/index.ts';

/** An account as administration shows it. */
export interface AccountInfo {
  userId: string;
  email: string;
  createdAt: string;
}

/** A key as administration shows it: nothing of it is secret. */
export interface KeyInfo {
  keyId: string;
  keyPrefix: string;
  name: string;
  /** The e-mail address of its account. */
  account: string;
  webhookUrl: string | null;
  createdAt: string;
  revokedAt: string | null;
}

/** A key with what is shown once only. */
export interface NewKey extends KeyInfo {
  key: string;
  webhookSecret: string;
}

const webhookUrl = renderRequestSchema.extract('webhookUrl');

const keyRequest = Joi.object<{ name: string; webhookUrl: string | null }>({
  name: Joi.string()
    .trim()
    .min(1)
    .max(100)
    .required()
    .messages({ '*': 'A key needs a name of 1 to 100 characters.' }),
  webhookUrl: webhookUrl.default(null),
});

const amount = Joi.number()
  .integer()
  .min(1)
  .required()
  .messages({ '*': 'Credits are granted as a whole number of at least 1.' });

const listLimit = Joi.number()
  .integer()
  .min(1)
  .max(10_000)
  .default(50)
  .messages({ '*': 'A list has 1 to 10000 lines.' });

/** One line of an account's history. */
export interface StatementLine {
  /** ISO 8601, UTC. */
  at: string;
  kind: LedgerEntry['kind'];
  /** What the balance changed by. */
  amountCredits: number;
  jobId: string | null;
  note: string | null;
}

const STATEMENT_LINES = 1000;

/** What an operator does with accounts, keys and credits. Requests and answers are plain data. */
export class Administration {
  readonly #accounts: Accounts;
  readonly #keys: ApiKeys;
  readonly #ledger: StoredLedger | UnmeteredLedger;
  readonly #folder: DataFolder;
  readonly #deliveries: Deliveries;

  constructor(options: {
    accounts: Accounts;
    keys: ApiKeys;
    ledger: StoredLedger | UnmeteredLedger;
    deliveries: Deliveries;
    folder: DataFolder;
  }) {
    this.#deliveries = options.deliveries;
    this.#folder = options.folder;
    this.#accounts = options.accounts;
    this.#keys = options.keys;
    this.#ledger = options.ledger;
  }

  async createAccount({ email }: { email: string }): Promise<AccountInfo> {
    return accountInfo(await this.#accounts.create(email));
  }

  async listAccounts(): Promise<AccountInfo[]> {
    return (await this.#accounts.list()).map(accountInfo);
  }

  async createKey(request: {
    account: string;
    name: string;
    webhookUrl?: string | undefined;
  }): Promise<NewKey> {
    const { name, webhookUrl } = check(keyRequest, { name: request.name, webhookUrl: request.webhookUrl });
    const account = await this.#accounts.byEmail(request.account);
    const { record, key, webhookSecret } = await this.#keys.mint({
      accountId: account.accountId,
      name,
      webhookUrl,
    });
    return { ...keyInfo(record, account.email), key, webhookSecret };
  }

  async listKeys(request: { account?: string | undefined }): Promise<KeyInfo[]> {
    const accounts = request.account
      ? [await this.#accounts.byEmail(request.account)]
      : await this.#accounts.list();
    const emails = new Map(accounts.map(({ accountId, email }) => [accountId, email]));
    const keys = await this.#keys.list();
    return keys.flatMap((key) => {
      const email = emails.get(key.accountId);
      return email === undefined ? [] : [keyInfo(key, email)];
    });
  }

  async revokeKey({ keyId }: { keyId: string }): Promise<{ keyId: string; revokedAt: string }> {
    const { revokedAtMs } = await this.#keys.revoke(keyId);
    return { keyId, revokedAt: isoTime(revokedAtMs ?? 0) };
  }

  /** A new webhook secret for a key, shown once; the old one signs nothing any more. */
  async rotateSecret({ keyId }: { keyId: string }): Promise<{ keyId: string; webhookSecret: string }> {
    const { webhookSecret } = await this.#keys.rotateSecret(keyId);
    return { keyId, webhookSecret };
  }

  /** Where outcomes of the key's jobs to come go when a request doesn't say; null: nowhere. */
  async setWebhook(request: {
    keyId: string;
    webhookUrl: string | null;
  }): Promise<{ keyId: string; webhookUrl: string | null }> {
    const url = check(webhookUrl, request.webhookUrl) as string | null;
    const record = await this.#keys.setWebhookUrl(request.keyId, url);
    return { keyId: record.keyId, webhookUrl: record.webhookUrl };
  }

  /** Newest first; of an account, of a job, or all. */
  async listDeliveries(request: {
    account?: string | undefined;
    jobId?: string | undefined;
    limit?: number | undefined;
  }): Promise<Delivery[]> {
    const { account, jobId } = request;
    const limit = check(listLimit, request.limit);
    return this.#deliveries.list({
      ...(account !== undefined && { owner: (await this.#accounts.byEmail(account)).accountId }),
      ...(jobId !== undefined && { jobId }),
      limit,
    });
  }

  async showDelivery({ deliveryId }: { deliveryId: string }): Promise<DeliveryDetails> {
    return this.#deliveries.get(deliveryId);
  }

  /** Makes a delivery of its own; a running server sends it within a second. */
  async sendAgain({ deliveryId }: { deliveryId: string }): Promise<Delivery> {
    return this.#deliveries.sendAgain(deliveryId);
  }

  async grantCredits(request: { account: string; paid: number }): Promise<Balance> {
    if (!(this.#ledger instanceof StoredLedger)) {
      throw new ScenepressError('invalid_request', 'Renders cost nothing here (credits mode "unmetered").');
    }
    const paid = check(amount, request.paid);
    const { accountId } = await this.#accounts.byEmail(request.account);
    return this.#ledger.grantPaid(accountId, paid);
  }

  /** Copies everything into a new folder of this machine. */
  backUp({ folder, withMasterKey }: { folder: string; withMasterKey: boolean }): Promise<BackupReport> {
    return backUp(this.#folder, folder, { withMasterKey });
  }

  /** Recomputes every balance; where renders cost nothing there are no books. */
  async auditCredits(): Promise<AuditReport> {
    if (this.#ledger instanceof StoredLedger) return this.#ledger.audit();
    throw new ScenepressError('invalid_request', 'Renders cost nothing here (credits mode "unmetered").');
  }

  /** The account's history, newest first. */
  async creditStatement(request: { account: string }): Promise<StatementLine[]> {
    const { accountId } = await this.#accounts.byEmail(request.account);
    if (!(this.#ledger instanceof StoredLedger)) return [];
    const entries = await this.#ledger.statement(accountId, STATEMENT_LINES);
    return entries.map(({ kind, amountCredits, jobId, note, atMs }) => ({
      at: isoTime(atMs),
      kind,
      amountCredits,
      jobId,
      note,
    }));
  }

  async creditBalance(request: { account: string }): Promise<Balance> {
    const { accountId } = await this.#accounts.byEmail(request.account);
    return this.#ledger.balance(accountId);
  }
}

/** What can be asked over the socket as well as directly. */
export const OPERATIONS: (keyof Administration)[] = [
  'createAccount',
  'listAccounts',
  'createKey',
  'listKeys',
  'revokeKey',
  'rotateSecret',
  'setWebhook',
  'listDeliveries',
  'showDelivery',
  'sendAgain',
  'grantCredits',
  'creditBalance',
  'creditStatement',
  'auditCredits',
  'backUp',
];

function check<T>(schema: Joi.Schema<T>, value: unknown): T {
  const result = schema.validate(value);
  if (result.error) throw new ScenepressError('invalid_request', result.error.message);
  return result.value as T;
}

function accountInfo({ accountId, email, createdAtMs }: Account): AccountInfo {
  return { userId: accountId, email, createdAt: isoTime(createdAtMs) };
}

function keyInfo(record: KeyRecord, account: string): KeyInfo {
  return {
    keyId: record.keyId,
    keyPrefix: record.prefix,
    name: record.name,
    account,
    webhookUrl: record.webhookUrl,
    createdAt: isoTime(record.createdAtMs),
    revokedAt: record.revokedAtMs === null ? null : isoTime(record.revokedAtMs),
  };
}
