import { Command } from 'commander';
import { UserError } from '../user-error.ts';
import { configOf } from './config-flags.ts';
import { addExamples, administrative } from './describe.ts';
import { counted, print, printJson, printTable, shownTime } from './output.ts';
import { withAdministration } from './with-administration.ts';

type Flags = { json?: boolean } & Record<string, unknown>;

/** `scenepress account …` */
export function accountCommand(): Command {
  const account = new Command('account').description('Owners of keys, jobs and credits');
  addExamples(account, 'scenepress account create ada@example.org', 'scenepress account list');

  account.addCommand(
    administrative('create <email>', 'Make an account', 'scenepress account create ada@example.org').action(
      async (email: string, flags: Flags) => {
        const created = await withAdministration(
          configOf(flags),
          (admin) => admin.accounts.create({ email }),
          { mayMakeFolder: true },
        );
        if (flags.json) printJson(created);
        else print(`Account ${created.email} is made. Its user id is ${created.userId}.`);
      },
    ),
  );

  account.addCommand(
    administrative('list', 'List all accounts, oldest first', 'scenepress account list --json').action(
      async (flags: Flags) => {
        const accounts = await withAdministration(configOf(flags), (admin) => admin.accounts.list());
        if (flags.json) return printJson(accounts);
        printTable(
          ['USER ID', 'E-MAIL', 'CREATED', 'DISABLED'],
          accounts.map(({ userId, email, createdAt, disabledAt }) => [
            userId,
            email,
            shownTime(createdAt),
            shownTime(disabledAt),
          ]),
        );
      },
    ),
  );

  account.addCommand(
    administrative(
      'disable <account>',
      'Let its keys open nothing (401), at once; jobs that were taken on go on, unless told otherwise',
      'scenepress account disable ada@example.org',
      ['scenepress account disable ada@example.org --cancel-jobs', 'ends its jobs too'],
    )
      .option('--cancel-jobs', 'cancel its jobs that wait or run')
      .action(async (reference: string, flags: Flags) => {
        const request = { account: reference, cancelJobs: flags['cancelJobs'] === true };
        const disabled = await withAdministration(configOf(flags), (admin) =>
          admin.accounts.disable(request),
        );
        if (flags.json) return printJson(disabled);
        const jobs = request.cancelJobs ? `, ${counted(disabled.canceledJobs, 'job')} cancelled` : '';
        print(`Account ${disabled.email} is disabled${jobs}.`);
      }),
  );

  account.addCommand(
    administrative(
      'enable <account>',
      'Let its keys open again',
      'scenepress account enable ada@example.org',
    ).action(async (reference: string, flags: Flags) => {
      const enabled = await withAdministration(configOf(flags), (admin) =>
        admin.accounts.enable({ account: reference }),
      );
      if (flags.json) printJson(enabled);
      else print(`Account ${enabled.email} is enabled.`);
    }),
  );

  account.addCommand(
    administrative(
      'delete <account>',
      'Revoke its keys, cancel and forget its jobs, remove its address, for good; what it paid stays in the books',
      'scenepress account delete ada@example.org --yes',
    )
      .option('--yes', 'do it; without, it says what would be done')
      .action(async (reference: string, flags: Flags) => {
        if (!flags['yes']) {
          throw new UserError(
            `This would revoke the keys of ${reference}, cancel and forget its jobs, with code, metadata and artifacts, ` +
              'and remove its address. Nothing of it can be undone. To do it, add --yes.',
            { exitCode: 2 },
          );
        }
        const deleted = await withAdministration(configOf(flags), (admin) =>
          admin.accounts.delete({ account: reference }),
        );
        if (flags.json) return printJson(deleted);
        const { userId, revokedKeys, forgottenJobs } = deleted;
        print(
          `Account ${userId} is deleted: ${counted(revokedKeys, 'key')} revoked, ${counted(forgottenJobs, 'job')} forgotten. ` +
            'Its credits stay in the books. Backups made before still hold it.',
        );
      }),
  );

  return account;
}
