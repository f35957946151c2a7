import { readFile } from 'node:fs/promises';
import { COMMAND_LINE } from '../admin/acts.ts';
import { findAccount } from '../admin/first-account.ts';
import { SetupLink } from '../admin/setup-link.ts';
import type { Installation } from '../app/installation.ts';
import type { Config } from '../config/config.ts';
import type { Logger } from '../support/log.ts';
import { UserError } from '../support/user-error.ts';

/**
 * Gives the configured administrator an account: the one with that address, else that of the first start, else a new one;
 * never that of somebody else. Does nothing when an account has a password, so it can be repeated at each start and
 * undoes no change of the password.
 */
export async function claimForAdministrator(
  config: Pick<Config, 'adminEmail' | 'adminPassword' | 'adminPasswordFile'>,
  { accounts, masterKeys, acts }: Pick<Installation, 'accounts' | 'masterKeys' | 'acts'>,
  logger: Logger,
): Promise<void> {
  const { adminEmail: email } = config;
  if (email === undefined) return;
  const link = new SetupLink({ accounts, masterKeys, publicUrl: () => '' });
  const known = await findAccount(accounts, email);
  if (await link.isSetUp()) {
    if (known?.passwordHash === undefined) {
      logger.warn({}, 'The dashboard was set up with another address: SCENEPRESS_ADMIN_EMAIL has no effect.');
    }
    return;
  }
  const password = await configuredPassword(config);
  const { accountId } = known ?? (await link.claimable()) ?? (await accounts.create(email));
  await accounts.setPassword(accountId, { password, email, role: 'admin', replaces: null });
  await acts.record(COMMAND_LINE, 'accounts.claim', accountId);
}

async function configuredPassword({
  adminPassword,
  adminPasswordFile: file,
}: Pick<Config, 'adminPassword' | 'adminPasswordFile'>): Promise<string> {
  if (adminPassword !== undefined) return adminPassword;
  if (file === undefined) {
    throw new UserError(
      'SCENEPRESS_ADMIN_EMAIL needs a password: set SCENEPRESS_ADMIN_PASSWORD or SCENEPRESS_ADMIN_PASSWORD_FILE.',
      { exitCode: 2 },
    );
  }
  try {
    return (await readFile(file, 'utf8')).replace(/\r?\n$/, '');
  } catch (cause) {
    throw new UserError(`The administrator's password can't be read: ${(cause as Error).message}.`, {
      cause,
    });
  }
}
