import { join } from 'node:path';
import type { Test } from 'tap';
import { type Account, DataFolder, type DataFolderOptions } from '../../../../lib/index.ts';
import { KEY_SCOPES } from '../../../../lib/keys/key-scopes.ts';
import type { KeyRecord } from '../../../../lib/keys/key-store.ts';
import { testFolder } from '../../../fixtures/test-folder.ts';

export const ADA: Account = { accountId: 'acct_1', email: 'ada@example.org', createdAtMs: 1_700_000_000_000 };
export const KEY: KeyRecord = {
  keyId: 'key_1',
  accountId: 'acct_1',
  name: 'n',
  prefix: 'svc_live_1234567',
  hash: 'ab'.repeat(32),
  webhookUrl: null,
  webhookSecretSealed: 'sealed',
  createdAtMs: 1_700_000_000_000,
  revokedAtMs: null,
  scopes: KEY_SCOPES,
  expiresAtMs: null,
};

/** Starts a data folder, which is stopped when the test ends. */
export async function openedFolder(
  t: Test,
  path: string,
  options: DataFolderOptions = {},
): Promise<DataFolder> {
  const folder = new DataFolder(path, options);
  t.teardown(() => folder.stop());
  await folder.start();
  return folder;
}

/** A closed folder with an account and its key. */
export async function usedFolder(t: Test): Promise<string> {
  const path = join(testFolder(t), 'data');
  const folder = await openedFolder(t, path);
  await folder.accountStore.insertAccount(ADA);
  await folder.keyStore.insertKey(KEY);
  await folder.stop();
  return path;
}
