import type { Account } from '../accounts/account-store.ts';
import { KEY_SCOPES } from '../keys/key-scopes.ts';
import type { KeyRecord } from '../keys/key-store.ts';
import type { Settings } from '../storage/settings-store.ts';
import { RowFormat } from './row-format.ts';

export const ACCOUNT_RECORDS: RowFormat<Account> = new RowFormat<Account>(
  'accounts',
  {
    accountId: 'text',
    email: 'text',
    createdAtMs: 'whole',
    disabledAtMs: 'optionalNumber',
    deletedAtMs: 'optionalNumber',
    passwordHash: 'optionalText',
    role: 'optionalText',
    maxQueued: 'optionalNumber',
    maxFilesMb: 'optionalNumber',
    issuer: 'optionalText',
    subject: 'optionalText',
    maxScenes: 'optionalNumber',
    totpSecretSealed: 'optionalText',
    totpStep: 'optionalNumber',
    recoveryHashes: 'optionalText',
  },
  {
    derived: { address: ({ email }) => (email === '' ? null : email.toLowerCase()) },
    added: {
      ...{ maxFilesMb: undefined, issuer: undefined, subject: undefined, maxScenes: undefined },
      ...{ totpSecretSealed: undefined, totpStep: undefined, recoveryHashes: undefined },
    },
  },
);

export const KEYS: RowFormat<KeyRecord> = new RowFormat<KeyRecord>(
  'api_keys',
  {
    keyId: 'text',
    accountId: 'text',
    name: 'json',
    prefix: 'text',
    hash: 'text',
    webhookUrl: 'json',
    webhookSecretSealed: 'text',
    createdAtMs: 'whole',
    revokedAtMs: 'whole',
    scopes: 'json',
    expiresAtMs: 'whole',
  },
  { added: { scopes: KEY_SCOPES, expiresAtMs: null } },
);

/** The only row has the id 1. */
type SettingsRow = Settings & { settingsId: number };
export const SETTINGS: RowFormat<SettingsRow> = new RowFormat<SettingsRow>('settings', {
  settingsId: 'number',
  queuePausedAtMs: 'whole',
});
