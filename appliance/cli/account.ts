import { Command } from 'commander';
import type { AccountRole } from '../../lib/internal.ts';
import { withAdministration } from '../runtime/with-administration.ts';
import { UserError } from '../support/user-error.ts';
import { linkCommand, unlinkCommand } from './account-identity.ts';
import { resetTwoFactorCommand } from './account-two-factor.ts';
import { configOf } from './config-flags.ts';
import { addExamples, administrative } from './describe.ts';
import { counted, noteNextPage, print, printJson, printTable, shownTime } from './output.ts';
import { readPassword } from './read-password.ts';
import { wholeNumber } from './whole-number.ts';

type Flags = { json?: boolean } & Record<string, unknown>;

/** `scenepress account …` */
export function accountCommand(): Command {
  const account = new Command('account').description('Owners of keys, jobs and credits');
  addExamples(account, 'scenepress account create ada@example.org', 'scenepress account list');

  account.addCommand(
    administrative('create <email>', 'Create an account', 'scenepress account create ada@example.org').action(
      async (email: string, flags: Flags) => {
        const created = await withAdministration(
          configOf(flags),
          (admin) => admin.accounts.create({ email }),
          { mayCreate: true },
        );
        if (flags.json) printJson(created);
        else print(`Created account ${created.email} with user id ${created.userId}.`);
      },
    ),
  );

  account.addCommand(
    administrative('list', 'List accounts, oldest first', 'scenepress account list --json', [
      'scenepress account list --limit 1000 --after USERID',
      'the next thousand',
    ])
      .option('--text <text>', 'only accounts whose e-mail address contains this text, in any case')
      .option('--limit <number>', 'maximum number of accounts (default: 50)', wholeNumber)
      .option('--after <userId>', 'only accounts behind this one')
      .action(async (flags: Flags & { text?: string; limit?: number; after?: string }) => {
        const { text, limit, after } = flags;
        const { accounts, next } = await withAdministration(configOf(flags), (admin) =>
          admin.accounts.list({ text, limit, after }),
        );
        noteNextPage('accounts', next);
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
      }),
  );

  account.addCommand(
    administrative(
      'disable <account>',
      'Reject its keys (401) immediately; accepted jobs continue unless --cancel-jobs is given',
      'scenepress account disable ada@example.org',
      ['scenepress account disable ada@example.org --cancel-jobs', 'also cancels its jobs'],
    )
      .option('--cancel-jobs', 'cancel its queued and running jobs')
      .action(async (reference: string, flags: Flags) => {
        const request = { account: reference, cancelJobs: flags['cancelJobs'] === true };
        const disabled = await withAdministration(configOf(flags), (admin) =>
          admin.accounts.disable(request),
        );
        if (flags.json) return printJson(disabled);
        const jobs = request.cancelJobs ? `, ${counted(disabled.canceledJobs, 'job')} canceled` : '';
        print(`Account ${disabled.email} is disabled${jobs}.`);
      }),
  );

  account.addCommand(
    administrative(
      'enable <account>',
      'Accept its keys again',
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
      'set-password <account>',
      'Set the password with which it signs in to the dashboard; read from standard input',
      'scenepress account set-password ada@example.org',
      ['scenepress account set-password ada@example.org --role admin < file', 'also changes its role'],
    )
      .option('--role <role>', 'admin: may act for all accounts in the dashboard; member: for its own')
      .action(async (reference: string, flags: Flags) => {
        const request = {
          account: reference,
          password: await readPassword(),
          role: flags['role'] as AccountRole | undefined,
        };
        const changed = await withAdministration(configOf(flags), (admin) =>
          admin.accounts.setPassword(request),
        );
        if (flags.json) printJson(changed);
        else print(`${changed.email} can sign in with the new password, as ${changed.role}.`);
      }),
  );

  account.addCommand(
    administrative(
      'invite <account>',
      "Print a link for setting the account's password for the dashboard; valid for seven days, or until the password changes",
      'scenepress account invite ada@example.org',
    ).action(async (reference: string, flags: Flags) => {
      const invitation = await withAdministration(configOf(flags), (admin) =>
        admin.accounts.invite({ account: reference }),
      );
      if (flags.json) printJson(invitation);
      else
        print(
          `${invitation.url}\nValid until ${shownTime(invitation.expiresAt)}, or until the password changes.`,
        );
    }),
  );

  account.addCommand(
    administrative(
      'set-role <account> <role>',
      'Change what it may do in the dashboard: admin, for all accounts, or member, for its own',
      'scenepress account set-role ada@example.org admin',
    ).action(async (reference: string, role: string, flags: Flags) => {
      const changed = await withAdministration(configOf(flags), (admin) =>
        admin.accounts.setRole({ account: reference, role: role as AccountRole }),
      );
      if (flags.json) printJson(changed);
      else print(`Account ${changed.email} is now ${changed.role}.`);
    }),
  );

  account.addCommand(
    administrative(
      'set-limits <account>',
      'Change how many of its jobs may wait, how large its files may be, and how many scenes it may have; further requests get 503 and 429',
      'scenepress account set-limits ada@example.org --max-waiting 20 --max-files-mb 500',
      ['scenepress account set-limits ada@example.org --max-waiting default', 'that of all accounts'],
    )
      .option('--max-waiting <number>', 'jobs that may wait: a whole number of at least 1, or default')
      .option('--max-files-mb <number>', 'MiB of its files: a whole number of at least 1, or default')
      .option('--max-scenes <number>', 'scenes that it may have: a whole number of at least 1, or default')
      .action(async (reference: string, flags: Flags) => {
        const [maxQueued, maxFilesMb] = [limitOf(flags['maxWaiting']), limitOf(flags['maxFilesMb'])];
        const maxScenes = limitOf(flags['maxScenes']);
        if (maxQueued === undefined && maxFilesMb === undefined && maxScenes === undefined)
          throw new UserError('Name a limit: --max-waiting, --max-files-mb or --max-scenes.', {
            exitCode: 2,
          });
        const changed = await withAdministration(configOf(flags), (admin) =>
          admin.accounts.setLimits({
            account: reference,
            ...(maxQueued !== undefined && { maxQueued }),
            ...(maxFilesMb !== undefined && { maxFilesMb }),
            ...(maxScenes !== undefined && { maxScenes }),
          }),
        );
        if (flags.json) return printJson(changed);
        const waiting =
          changed.maxQueued === null ? 'as many as of any account' : counted(changed.maxQueued, 'job');
        const files =
          changed.maxFilesMb === null ? 'as much as those of any account' : `${changed.maxFilesMb} MiB`;
        const scenes =
          changed.maxScenes === null ? 'as many scenes as any account' : counted(changed.maxScenes, 'scene');
        print(
          `Account ${changed.email}: ${waiting} may wait; its files may take ${files}; it may have ${scenes}.`,
        );
      }),
  );

  account.addCommand(resetTwoFactorCommand());
  account.addCommand(linkCommand());
  account.addCommand(unlinkCommand());

  account.addCommand(
    administrative(
      'acts',
      'List who did what, when and from where, newest first',
      'scenepress account acts --limit 100 --json',
    )
      .option('--limit <number>', 'number of lines (default: 50)')
      .action(async (flags: Flags) => {
        const limit = flags['limit'] === undefined ? undefined : Number(flags['limit']);
        const acts = await withAdministration(configOf(flags), (admin) => admin.acts.list({ limit }));
        if (flags.json) return printJson(acts);
        printTable(
          ['TIME', 'WHO', 'FROM', 'WHAT', 'TO'],
          acts.map(({ at, actor, address, action, amountCredits, count, subject }) => [
            shownTime(at),
            actor ?? 'command line',
            address ?? '',
            [action, amountCredits ?? '', count > 1 ? `×${count}` : '']
              .filter((part) => part !== '')
              .join(' '),
            subject ?? '',
          ]),
        );
      }),
  );

  account.addCommand(
    administrative(
      'delete <account>',
      'Permanently revoke its keys, cancel and forget its jobs and remove its address; its payments stay in the books',
      'scenepress account delete ada@example.org --yes',
    )
      .option('--yes', 'delete the account; without it, only show what would be deleted')
      .action(async (reference: string, flags: Flags) => {
        if (!flags['yes']) {
          throw new UserError(
            `This would revoke the keys of ${reference}, cancel and forget its jobs, with code, metadata and artifacts, ` +
              'and remove its address. This cannot be undone. To proceed, add --yes.',
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
            'Its credits stay in the books. Earlier backups still contain the account.',
        );
      }),
  );

  return account;
}

/** Undefined: unchanged; null: that of all accounts. Text that is not a number is rejected like 0; JSON would turn it into null. */
function limitOf(given: unknown): number | null | undefined {
  if (given === undefined) return undefined;
  return given === 'default' ? null : Number(given) || 0;
}
