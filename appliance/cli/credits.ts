import { Command } from 'commander';
import type { Balance } from '../../lib/index.ts';
import { ADMINISTRATION_FLAGS, addConfigFlags, configOf } from './config-flags.ts';
import { print, printJson, printTable } from './output.ts';
import { withAdministration } from './with-administration.ts';

type Flags = { account: string; json?: boolean } & Record<string, unknown>;

/** `scenepress credits …` */
export function creditsCommand(): Command {
  const credits = new Command('credits').description('What accounts can spend');

  addConfigFlags(credits.command('grant'), ADMINISTRATION_FLAGS)
    .description('Add paid credits to an account')
    .requiredOption('--account <email>', 'account to add them to')
    .requiredOption('--paid <credits>', 'how many')
    .option('--json', 'print JSON')
    .action(async (flags: Flags & { paid: string }) => {
      const { account } = flags;
      const paid = Number(flags.paid);
      show(
        flags,
        await withAdministration(configOf(flags), (office) => office.grantCredits({ account, paid })),
      );
    });

  addConfigFlags(credits.command('balance'), ADMINISTRATION_FLAGS)
    .description('Show what an account can spend now')
    .requiredOption('--account <email>', 'account to look at')
    .option('--json', 'print JSON')
    .action(async (flags: Flags) => {
      const { account } = flags;
      show(flags, await withAdministration(configOf(flags), (office) => office.creditBalance({ account })));
    });

  addConfigFlags(credits.command('statement'), ADMINISTRATION_FLAGS)
    .description("Show an account's history, newest first")
    .requiredOption('--account <email>', 'account to look at')
    .option('--json', 'print JSON')
    .action(async (flags: Flags) => {
      const { account } = flags;
      const lines = await withAdministration(configOf(flags), (office) =>
        office.creditStatement({ account }),
      );
      if (flags.json) printJson(lines);
      else {
        printTable(
          ['TIME', 'KIND', 'CREDITS', 'JOB'],
          lines.map(({ at, kind, amountCredits, jobId }) => [at, kind, String(amountCredits), jobId ?? '']),
        );
      }
    });

  addConfigFlags(credits.command('audit'), ADMINISTRATION_FLAGS)
    .description('Recompute every balance from its entries and compare them with the jobs')
    .option('--json', 'print JSON')
    .action(async (flags: { json?: boolean } & Record<string, unknown>) => {
      const report = await withAdministration(configOf(flags), (office) => office.auditCredits());
      const { accounts, entries, jobs, problems } = report;
      if (flags.json) printJson(report);
      else if (problems.length > 0) print(problems.join('\n'));
      else print(`The books are in order: ${accounts} accounts, ${entries} entries, ${jobs} jobs.`);
      if (problems.length > 0) process.exitCode = 1;
    });

  return credits;
}

function show({ account, json }: Flags, { paid, free, total }: Balance): void {
  if (json) printJson({ paid, free, total });
  else print(`${account} has ${total} credits: ${paid} paid and ${free} free.`);
}
