import type { Command } from 'commander';
import { withAdministration } from '../runtime/with-administration.ts';
import { configOf } from './config-flags.ts';
import { administrative } from './describe.ts';
import { print, printJson } from './output.ts';

type Flags = { json?: boolean } & Record<string, unknown>;

/** `scenepress account reset-two-factor ACCOUNT` */
export function resetTwoFactorCommand(): Command {
  return administrative(
    'reset-two-factor <account>',
    'Turn off its two-factor sign-in, for a person who has lost the app and the recovery codes, and sign it out',
    'scenepress account reset-two-factor ada@example.org',
  ).action(async (account: string, flags: Flags) => {
    const changed = await withAdministration(configOf(flags), (admin) => admin.twoFactor.reset({ account }));
    if (flags.json) printJson(changed);
    else print(`${changed.email} signs in with the password alone.`);
  });
}
