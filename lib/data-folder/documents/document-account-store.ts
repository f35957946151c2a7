import assert from 'node:assert/strict';
import type { Account, AccountQuery, AccountRole, AccountStore } from '../../accounts/account-store.ts';
import { isEmail } from '../../accounts/email.ts';
import { type Identity, identityTaken } from '../../accounts/identity.ts';
import { ScenepressError } from '../../base/errors.ts';
import { DATA_FILES } from '../../files/data-files.ts';
import { Document } from './document.ts';
import type { DocumentPlace } from './document-file.ts';
import { DocumentFile } from './document-file.ts';
import { count, Fields, orAbsent, text, time } from './fields.ts';
import { type ListFormat, listFormat } from './format.ts';
import { type Draft, Table, type UniqueValues } from './table.ts';

const RECOVERY_HASHES = /^(?:[0-9a-f]{64}(?: [0-9a-f]{64})*)?$/;

const FIELDS = new Fields<Account>({
  accountId: ['accountId', text('the id of an account', (id) => id !== '')],
  email: [
    'email',
    text('an e-mail address, or "" in a deleted account', (email) => email === '' || isEmail(email)),
  ],
  createdAt: ['createdAtMs', time],
  disabledAt: ['disabledAtMs', orAbsent(time, null)],
  deletedAt: ['deletedAtMs', orAbsent(time, null)],
  role: ['role', orAbsent(text<AccountRole>('"admin" or "member"', (role) => /^(admin|member)$/.test(role)))],
  maxQueued: ['maxQueued', orAbsent(count)],
  maxFilesMb: ['maxFilesMb', orAbsent(count)],
  maxScenes: ['maxScenes', orAbsent(count)],
  issuer: ['issuer', orAbsent(text('the URL of an issuer', (issuer) => URL.canParse(issuer)))],
  subject: ['subject', orAbsent(text('the subject of a person at the issuer', (subject) => subject !== ''))],
  passwordHash: [
    'passwordHash',
    orAbsent(text('the hash of a password', (hash) => hash.startsWith('scrypt$'))),
  ],
  totpSecretSealed: ['totpSecretSealed', orAbsent(text('an encrypted secret', (sealed) => sealed !== ''))],
  totpStep: ['totpStep', orAbsent(count)],
  recoveryHashes: [
    'recoveryHashes',
    orAbsent(text('hashes of recovery codes', (hashes) => RECOVERY_HASHES.test(hashes))),
  ],
});

const EMAIL = 'email';
const SUBJECT = 'subject';
const UNIQUE: UniqueValues<Account> = {
  [EMAIL]: ({ email }) => (email === '' ? undefined : email.toLowerCase()),
  [SUBJECT]: ({ issuer, subject }) =>
    issuer === undefined || subject === undefined ? undefined : identityKey({ issuer, subject }),
};

export const ACCOUNTS_FORMAT: ListFormat<Account> = listFormat('accounts', {
  fields: FIELDS,
  id: 'accountId',
  unique: UNIQUE,
});

/** Accounts in `accounts.json`, held in memory. */
export class DocumentAccountStore implements AccountStore {
  readonly document: Document<Account[], Draft<Account>>;
  readonly #table = new Table<Account>({
    noun: 'account',
    idOf: ({ accountId }) => accountId,
    unique: UNIQUE,
  });

  constructor({ disk, folder, onFullDisk }: DocumentPlace) {
    const file = new DocumentFile({ disk, folder, name: DATA_FILES.accounts, format: ACCOUNTS_FORMAT });
    this.document = new Document({ file, content: this.#table, onFullDisk });
  }

  /** All accounts, deleted ones too. */
  all(): Account[] {
    return this.#table.all();
  }

  async insertAccount(account: Account): Promise<void> {
    await this.document.change((draft) => {
      assert(draft.get(account.accountId) === undefined, 'an accountId is used once');
      assertFree(draft, account);
      put(draft, account);
    });
  }

  changeAccount(accountId: string, change: (account: Account) => Account): Promise<Account> {
    return this.document.change((draft) => {
      const account = draft.get(accountId);
      if (!account) throw new ScenepressError('not_found', `There is no account ${accountId.slice(0, 80)}.`);
      const changed = change(account);
      if (changed === account) return account;
      assert(changed.accountId === accountId && changed.createdAtMs === account.createdAtMs);
      assertFree(draft, changed);
      put(draft, changed);
      return changed;
    });
  }

  async getAccount(accountId: string): Promise<Account | undefined> {
    return this.#table.get(accountId);
  }

  async findAccountByEmail(email: string): Promise<Account | undefined> {
    return this.#table.find(EMAIL, email.toLowerCase());
  }

  async findAccountByIdentity(identity: Identity): Promise<Account | undefined> {
    return this.#table.find(SUBJECT, identityKey(identity));
  }

  async listAccounts({ text = '', ...page }: AccountQuery = {}): Promise<Account[]> {
    const wanted = text.toLowerCase();
    return this.#table.list(page, ({ email }) => email !== '' && email.toLowerCase().includes(wanted));
  }
}

/** URLs have no spaces. */
function identityKey({ issuer, subject }: Identity): string {
  return `${issuer} ${subject}`;
}

function assertFree(draft: Draft<Account>, { accountId, email, issuer, subject }: Account): void {
  const isOther = (found: Account | undefined) => found && found.accountId !== accountId;
  if (email !== '' && isOther(draft.find(EMAIL, email.toLowerCase())))
    throw new ScenepressError('conflict', `An account with the address ${email} already exists.`);
  if (issuer === undefined || subject === undefined) return;
  if (isOther(draft.find(SUBJECT, identityKey({ issuer, subject })))) throw identityTaken();
}

function put(draft: Draft<Account>, account: Account): void {
  FIELDS.assert(account);
  draft.put(account);
}
