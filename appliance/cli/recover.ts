import { resolve } from 'node:path';
import { Command } from 'commander';
import { type RecoveryReport, recover } from '../../lib/index.ts';
import { addConfigFlags, configOf } from './config-flags.ts';
import { addExamples } from './describe.ts';
import { counted, print, printable, printJson } from './output.ts';

const MOST_SHOWN = 50;

/** `scenepress recover` */
export function recoverCommand(): Command {
  const command = addConfigFlags(new Command('recover'), ['dataDir'])
    .description('Say what of a damaged data folder is lost, and make the rest usable again when told to')
    .option('--yes', 'do it; the files as they are stay in a folder beside')
    .option('--json', 'print JSON')
    .action(async (flags: { yes?: boolean; json?: boolean } & Record<string, unknown>) => {
      const report = await recover(resolve(configOf(flags).dataDir), { apply: flags.yes === true });
      if (flags.json) printJson(report);
      else show(report);
      const isUsable = report.losses.length === 0 || report.audit?.problems.length === 0;
      if (!isUsable) process.exitCode = 1;
    });
  return addExamples(command, 'scenepress recover --data-dir /srv/scenepress', [
    'scenepress recover --data-dir /srv/scenepress --yes',
    'a backup of the same day may have more',
  ]);
}

function show({ folder, losses, lost, doubtful, keptAside, audit }: RecoveryReport): void {
  print(losses.length === 0 ? `Nothing in ${folder} is damaged.` : `The data in ${folder} is damaged:`);
  if (losses.length === 0) return;
  for (const { file, what } of losses) print(`  ${file}: ${what}`);
  showRows('Lost', lost);
  showRows('There, but maybe in an older state', doubtful);
  if (!keptAside) {
    print(
      'Nothing was changed. If no backup has more, `scenepress recover --yes` makes the rest usable again.',
    );
    return;
  }
  print(`Recovered. The files as they were are in ${keptAside}.`);
  const problems = audit?.problems ?? [];
  if (problems.length === 0) print('The books are in order.');
  else
    print(`The books are not in order, because of what is lost:\n  ${problems.map(printable).join('\n  ')}`);
}

function showRows(title: string, rows: { table: string; id: string }[]): void {
  if (rows.length === 0) return;
  print(`${title}: ${counted(rows.length, 'row')}`);
  for (const { table, id } of rows.slice(0, MOST_SHOWN)) print(`  ${table} ${printable(id)}`);
  if (rows.length > MOST_SHOWN) print(`  … and ${rows.length - MOST_SHOWN} more (--json shows all)`);
}
