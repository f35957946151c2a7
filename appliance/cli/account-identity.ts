import type { Command } from 'commander';
import { variableOf } from '../config/options.ts';
import { withAdministration } from '../runtime/with-administration.ts';
import { UserError } from '../support/user-error.ts';
import { configOf } from './config-flags.ts';
import { administrative } from './describe.ts';
import { print, printJson } from './output.ts';

type Flags = { json?: boolean; subject?: string; issuer?: string } & Record<string, unknown>;

/** `scenepress account link ACCOUNT --subject SUBJECT` */
export function linkCommand(): Command {
  return administrative(
    'link <account>',
    'Let the access tokens of a person act for it, instead of those of another; see the manual of MCP',
    'scenepress account link ada@example.org --subject 8d1f2c1e-3f0b-4f8e-9a55-2f1d6f0c7a11',
  )
    .requiredOption('--subject <subject>', 'what the issuer calls the person: the sub of its tokens')
    .option('--issuer <url>', `issuer of the tokens (default: ${variableOf('oidcIssuer')})`)
    .action(async (account: string, { subject = '', issuer: named, ...flags }: Flags) => {
      const config = configOf(flags);
      const issuer = named ?? config.oidcIssuer;
      if (issuer === undefined)
        throw new UserError(`Name the issuer: --issuer URL, or ${variableOf('oidcIssuer')}.`, {
          exitCode: 2,
        });
      const linked = await withAdministration(config, (admin) =>
        admin.accounts.setIdentity({ account, identity: { issuer, subject } }),
      );
      if (flags.json) printJson(linked);
      else print(`Access tokens of ${issuer} for ${subject} act for account ${linked.email}.`);
    });
}

/** `scenepress account unlink ACCOUNT` */
export function unlinkCommand(): Command {
  return administrative(
    'unlink <account>',
    'Let no access tokens act for it from now on',
    'scenepress account unlink ada@example.org',
  ).action(async (account: string, flags: Flags) => {
    const unlinked = await withAdministration(configOf(flags), (admin) =>
      admin.accounts.setIdentity({ account, identity: null }),
    );
    if (flags.json) printJson(unlinked);
    else print(`No access tokens act for account ${unlinked.email}.`);
  });
}
