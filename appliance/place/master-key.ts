import type { Config } from '../config/config.ts';
import { contentOf } from './database-connection.ts';

/** Whether a process with these roles signs or verifies with secrets. Those that render should not have the key. */
export function usesSecrets({ roles }: Pick<Config, 'roles'>): boolean {
  return roles.includes('api') || roles.includes('sender');
}

/** The configured master key (hexadecimal); undefined if it is in the data folder. */
export async function configuredMasterKey({
  masterKey,
  masterKeyFile,
}: Pick<Config, 'masterKey' | 'masterKeyFile'>): Promise<string | undefined> {
  if (masterKey !== undefined) return masterKey;
  return masterKeyFile === undefined ? undefined : contentOf(masterKeyFile, 'The master key');
}
