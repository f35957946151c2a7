import type { Account } from '../accounts/account-store.ts';
import type { KeyRecord } from '../keys/key-store.ts';
import type { Settings } from '../settings/settings-store.ts';
import { RowFormat } from './row-format.ts';

export const ACCOUNT_RECORDS: RowFormat<Account> = new RowFormat<Account>(
  'accounts',
  {
    accountId: 'plain',
    email: 'plain',
    createdAtMs: 'whole',
    disabledAtMs: 'optional',
    deletedAtMs: 'optional',
    passwordHash: 'optional',
    role: 'optional',
    maxQueued: 'optional',
  },
  { derived: { address: ({ email }) => (email === '' ? null : email.toLowerCase()) } },
);

export const KEYS: RowFormat<KeyRecord> = new RowFormat<KeyRecord>('api_keys', {
  keyId: 'plain',
  accountId: 'plain',
  name: 'json',
  prefix: 'plain',
  hash: 'plain',
  webhookUrl: 'json',
  webhookSecretSealed: 'plain',
  createdAtMs: 'whole',
  revokedAtMs: 'whole',
});

/** The only row has the id 1. */
type SettingsRow = Settings & { settingsId: number };
export const SETTINGS: RowFormat<SettingsRow> = new RowFormat<SettingsRow>('settings', {
  settingsId: 'plain',
  queuePausedAtMs: 'whole',
});
