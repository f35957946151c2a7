import { Command } from 'commander';
import { ADMINISTRATION_FLAGS, addConfigFlags, configOf } from './config-flags.ts';
import { print, printJson, printTable } from './output.ts';
import { withAdministration } from './with-administration.ts';

/** `scenepress account …` */
export function accountCommand(): Command {
  const account = new Command('account').description('Owners of keys, jobs and credits');

  addConfigFlags(account.command('create <email>'), ADMINISTRATION_FLAGS)
    .description('Make an account')
    .option('--json', 'print JSON')
    .action(async (email: string, flags: Record<string, unknown>) => {
      const created = await withAdministration(configOf(flags), (office) => office.createAccount({ email }));
      if (flags['json']) printJson(created);
      else print(`Account ${created.email} is made. Its user id is ${created.userId}.`);
    });

  addConfigFlags(account.command('list'), ADMINISTRATION_FLAGS)
    .description('List all accounts')
    .option('--json', 'print JSON')
    .action(async (flags: Record<string, unknown>) => {
      const accounts = await withAdministration(configOf(flags), (office) => office.listAccounts());
      if (flags['json']) return printJson(accounts);
      printTable(
        ['USER ID', 'E-MAIL', 'CREATED'],
        accounts.map(({ userId, email, createdAt }) => [userId, email, createdAt]),
      );
    });

  return account;
}
