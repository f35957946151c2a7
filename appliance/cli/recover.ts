import { resolve } from 'node:path';
import { Command } from 'commander';
import { type RecoveryReport, recover } from '../../lib/operations.ts';
import { interruptible } from '../runtime/interruptible.ts';
import { addConfigFlags, configOf } from './config-flags.ts';
import { addExamples } from './describe.ts';
import { counted, print, printable, printJson } from './output.ts';
import { refuseDatabase } from './refuse-database.ts';

const MOST_SHOWN = 50;

/** `scenepress recover` */
export function recoverCommand(): Command {
  const command = addConfigFlags(new Command('recover'), 'recover')
    .description('Report what a damaged data folder has lost; with --yes, recover the rest')
    .option('--yes', 'recover what can be read; the original files are kept in a folder beside it')
    .option('--json', 'print JSON')
    .action(async (flags: { yes?: boolean; json?: boolean } & Record<string, unknown>) => {
      const config = configOf(flags);
      refuseDatabase(config, 'recover');
      await interruptible(async (signal) => {
        const report = await recover(resolve(config.dataDir), { apply: flags.yes === true, signal });
        if (flags.json) printJson(report);
        else show(report);
        if (isDamaged(report) && !isInOrder(report)) process.exitCode = 1;
      });
    });
  return addExamples(command, 'scenepress recover --data-dir /srv/scenepress', [
    'scenepress recover --data-dir /srv/scenepress --yes',
    'a recent backup may contain more',
  ]);
}

function isDamaged({ faults, lost }: RecoveryReport): boolean {
  return faults.length > 0 || lost.length > 0;
}

/** Whether everything that the books need was recovered. */
function isInOrder({ audit, ledgerEntries: { found, saved } }: RecoveryReport): boolean {
  return audit?.problems.length === 0 && found !== null && saved >= found;
}

function show(report: RecoveryReport): void {
  const { folder, faults, lost, originalsFolder } = report;
  if (!isDamaged(report)) {
    print(`Nothing in ${folder} is damaged.`);
    return;
  }
  print(`The data in ${folder} is damaged:`);
  for (const fault of faults.slice(0, MOST_SHOWN)) print(`  ${printable(fault)}`);
  print(`Lost: ${counted(lost.length, 'row')}`);
  for (const { table, key, reason } of lost.slice(0, MOST_SHOWN)) {
    print(`  ${table} ${printable(key)}: ${printable(reason)}`);
  }
  if (lost.length > MOST_SHOWN) print(`  … and ${lost.length - MOST_SHOWN} more (--json shows all)`);
  print(ledgerText(report));
  if (!originalsFolder) {
    print('Nothing was changed. If no backup contains more, `scenepress recover --yes` recovers the rest.');
    return;
  }
  print(`Recovered. The original files are in ${originalsFolder}.`);
  print(booksText(report));
}

function ledgerText({ ledgerEntries: { found, saved } }: RecoveryReport): string {
  if (found !== null) return `Ledger entries: ${saved} of ${found} can be recovered`;
  return `Ledger entries: ${saved} can be recovered; how many there were can't be counted`;
}

function booksText(report: RecoveryReport): string {
  const problems = report.audit?.problems ?? [];
  if (problems.length > 0)
    return `The books are not in order because of the lost data:\n  ${problems.map(printable).join('\n  ')}`;
  if (isInOrder(report)) return 'The books are in order.';
  return 'The recovered entries agree with each other, but the books may lack others: compare them with a backup.';
}
