import type { Command } from 'commander';
import { withAdministration } from '../runtime/with-administration.ts';
import { UserError } from '../support/user-error.ts';
import { configOf } from './config-flags.ts';
import { administrative } from './describe.ts';
import { print, printJson } from './output.ts';

/** `scenepress setup-link` */
export function setupLinkCommand(): Command {
  return administrative(
    'setup-link',
    'Print the link with which the dashboard is set up; valid until an account has a password',
    'scenepress setup-link',
  ).action(async (flags: Record<string, unknown>) => {
    const link = await withAdministration(configOf(flags), (admin) => admin.accounts.showSetupLink());
    if (flags['json']) return printJson(link);
    if (link.url !== null) return print(link.url);
    throw new UserError(
      'There is no account to set up: one already has a password, or the accounts were created before the first start. ' +
        'Use `scenepress account set-password ACCOUNT --role admin`.',
    );
  });
}
