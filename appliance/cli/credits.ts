import { Command } from 'commander';
import type { Balance } from '../../lib/index.ts';
import { withAdministration } from '../runtime/with-administration.ts';
import { configOf } from './config-flags.ts';
import { addExamples, administrative, type Example } from './describe.ts';
import { print, printJson, printTable, shownTime } from './output.ts';
import { wholeNumber } from './whole-number.ts';

type Flags = { account: string; json?: boolean } & Record<string, unknown>;

/** `scenepress credits …` */
export function creditsCommand(): Command {
  const credits = new Command('credits').description('Credits of accounts');
  addExamples(credits, 'scenepress credits grant --account ada@example.org --paid 500');

  credits.addCommand(
    ofAccount(
      'grant',
      'Add paid credits to an account',
      'scenepress credits grant --account ada@example.org --paid 500',
      [
        'scenepress credits grant --account ada@example.org --paid 500 --idempotency-key invoice-2026-117',
        'safe to repeat if the response was lost',
      ],
    )
      .requiredOption('--paid <credits>', 'number of credits')
      .option(
        '--idempotency-key <key>',
        'unique name of this grant; a repeated grant with the same key adds nothing',
      )
      .action(async (flags: Flags & { paid: string; idempotencyKey?: string }) => {
        const { account, idempotencyKey } = flags;
        const paid = Number(flags.paid);
        show(
          flags,
          await withAdministration(configOf(flags), (admin) =>
            admin.credits.grant({ account, paid, idempotencyKey }),
          ),
        );
      }),
  );

  credits.addCommand(
    ofAccount(
      'take-back',
      'Take back paid credits, such as those of a grant by mistake, that are neither spent nor reserved',
      'scenepress credits take-back --account ada@example.org --paid 500',
    )
      .requiredOption('--paid <credits>', 'number of credits')
      .option(
        '--idempotency-key <key>',
        'unique name of this correction; a repeated one with the same key takes nothing',
      )
      .action(async (flags: Flags & { paid: string; idempotencyKey?: string }) => {
        const { account, idempotencyKey } = flags;
        const paid = Number(flags.paid);
        show(
          flags,
          await withAdministration(configOf(flags), (admin) =>
            admin.credits.takeBack({ account, paid, idempotencyKey }),
          ),
        );
      }),
  );

  credits.addCommand(
    ofAccount(
      'balance',
      'Show the current balance of an account',
      'scenepress credits balance --account ada@example.org',
    ).action(async (flags: Flags) => {
      const { account } = flags;
      show(flags, await withAdministration(configOf(flags), (admin) => admin.credits.balance({ account })));
    }),
  );

  credits.addCommand(
    ofAccount(
      'statement',
      "Show an account's history, newest first",
      'scenepress credits statement --account ada@example.org --json',
    )
      .option('--limit <number>', 'maximum number of entries (default: 1000)', wholeNumber)
      .option('--before <entryId>', 'only entries older than this one')
      .action(async (flags: Flags & { limit?: number; before?: string }) => {
        const { account, limit, before } = flags;
        const lines = await withAdministration(configOf(flags), (admin) =>
          admin.credits.statement({ account, limit, before }),
        );
        if (flags.json) return printJson(lines);
        printTable(
          ['TIME', 'KIND', 'CREDITS', 'JOB ID'],
          lines.map(({ at, kind, amountCredits, jobId }) => [
            shownTime(at),
            kind,
            String(amountCredits),
            jobId ?? '',
          ]),
        );
      }),
  );

  credits.addCommand(
    ofAccount(
      'spending',
      'Show what an account was charged on each day (UTC)',
      'scenepress credits spending --account ada@example.org --days 7',
    )
      .option('--days <number>', 'number of days, today included (default: 30)', wholeNumber)
      .action(async (flags: Flags & { days?: number }) => {
        const { account, days } = flags;
        const spending = await withAdministration(configOf(flags), (admin) =>
          admin.credits.spending({ account, days }),
        );
        if (flags.json) return printJson(spending);
        printTable(
          ['DAY', 'RENDERS', 'CREDITS'],
          spending.map(({ day, renders, chargedCredits }) => [day, String(renders), String(chargedCredits)]),
        );
      }),
  );

  credits.addCommand(
    administrative('prices', 'Show what renders cost', 'scenepress credits prices').action(
      async (flags: { json?: boolean } & Record<string, unknown>) => {
        const prices = await withAdministration(configOf(flags), (admin) => admin.credits.showPrices());
        if (flags.json) return printJson(prices);
        if (!prices) return print('Renders cost nothing here: the credits mode is "unmetered".');
        const { creditsPerSecond, reserveSeconds, freeCreditsPerMonth } = prices;
        printTable(
          ['QUALITY', 'CREDITS PER SECOND'],
          Object.entries(creditsPerSecond).map(([quality, credits]) => [quality, String(credits)]),
        );
        print(`\nReserved for each render: the price of ${reserveSeconds} s.`);
        print(`Free credits per account and month: ${freeCreditsPerMonth}.`);
      },
    ),
  );

  credits.addCommand(
    administrative(
      'audit',
      'Recompute every balance from its entries and compare them with the jobs; exit code 1 if they differ',
      'scenepress credits audit',
    ).action(async (flags: { json?: boolean } & Record<string, unknown>) => {
      const report = await withAdministration(configOf(flags), (admin) => admin.credits.audit());
      const { accounts, entries, jobs, problems } = report;
      if (flags.json) printJson(report);
      else if (problems.length > 0) print(problems.join('\n'));
      else print(`The books are in order. Accounts: ${accounts}, entries: ${entries}, jobs: ${jobs}.`);
      if (problems.length > 0) process.exitCode = 1;
    }),
  );

  return credits;
}

function ofAccount(name: string, description: string, ...examples: Example[]): Command {
  return administrative(name, description, ...examples).requiredOption(
    '--account <account>',
    'e-mail address or user id',
  );
}

function show({ account, json }: Flags, { paid, free, total }: Balance): void {
  if (json) printJson({ paid, free, total });
  else
    print(`${account} has ${total === 1 ? '1 credit' : `${total} credits`}: ${paid} paid and ${free} free.`);
}
